import { split } from '../../../../core/dialects/chat-completions.ts'
import type { DialectEvent, EventWriter } from '../../../../core/dialects/event.ts'
import type { GatewayError } from '../../../../core/errors.ts'
import type { StraightEntry } from '../../../../core/http/route.ts'
import type { StraightCalls } from '../../../../core/inference/calls.ts'
import { type Candidate, type Entry, dialectOf } from '../../../../core/inference/models/catalog-entry.ts'
import { largeEnough } from '../../../../core/inference/routing/context-window.ts'
import { affinityOf, sessionOf } from '../session.ts'
import { type WordedRequest, wordedRequest } from '../worded-request.ts'
import type { Wordings } from '../wordings.ts'
import type { ChatBody } from '../../../../core/ports/upstream.ts'
import { asksUsage } from '../../../shared/repeated-chunks.ts'
import { type Shown, broken, wholeChat, writing } from '../answering.ts'
import type { Talk } from '../talk.ts'

/** A chat as its backends get it, and the printers of its answer. */
export interface WordedChat extends WordedRequest, Pick<Talk, 'whole'> {
  writing(model: string, shown: Shown | null): EventWriter
  broken(error: GatewayError): DialectEvent
}

/** A class: each call makes one, and most calls ask it nothing. */
class CommonChat implements WordedChat {
  readonly organization: string
  readonly provider = null
  readonly dropped = {}
  readonly #at: StraightEntry
  readonly #entry: Entry
  readonly #value: ChatBody
  #body: ChatBody | null = null

  constructor(at: StraightEntry, entry: Entry, value: ChatBody) {
    this.organization = at.caller.organization
    this.#at = at
    this.#entry = entry
    this.#value = value
  }

  get body(): ChatBody {
    return (this.#body ??= split(this.#value as unknown as Parameters<typeof split>[0]).body)
  }

  get affinity(): string | null {
    return affinityOf(this.#entry, this.organization, this.#value, sessionOf(this.#at.headers, null))
  }

  get fit(): WordedChat['fit'] {
    const understood = { body: this.body, dropped: [] }
    return () => understood
  }

  whole(answer: Parameters<Talk['whole']>[0], model: string): ReturnType<Talk['whole']> {
    return wholeChat(answer, model)
  }

  writing(model: string, shown: Shown | null): EventWriter {
    return writing(model, asksUsage(this.#value), shown ?? plainly)
  }

  broken(error: GatewayError): DialectEvent {
    return broken(error, this.#at.record.id)
  }
}

const plainly: Shown = (chunk, _, json) => json ?? JSON.stringify(chunk)

/** A chat of the common format that every backend of the model takes as it is. */
export const commonChat = (at: StraightEntry, entry: Entry, value: ChatBody): WordedChat =>
  new CommonChat(at, entry, value)

/** A chat of any dialect; a copy to which members are added costs ten times as much. Throws BadRequest for a request that no backend gets. */
export const wordedTalk = (
  { caller: { organization } }: StraightEntry,
  entry: Entry,
  talk: Talk,
  fit: Wordings,
): WordedChat => {
  const { body, user, provider, affinity, dropped } = wordedRequest(organization, entry, talk, fit)
  return {
    body,
    user,
    organization,
    provider,
    affinity,
    fit,
    dropped,
    whole: (answer, model) => talk.whole(answer, model),
    writing: (model) => talk.writing(model),
    broken: (error) => talk.broken(error),
  }
}

/** The backend whose turn it is. Throws BadRequest where the pinned backend does not serve the model. */
export const firstOf = ({ shared }: StraightCalls, entry: Entry, worded: WordedChat): Candidate<'chat'> => {
  const { candidates } = entry
  if (candidates.length === 1 && worded.provider === null) return candidates[0] as Candidate<'chat'>
  const { provider, affinity, body } = worded
  const [first] = largeEnough(shared.order({ entry, provider, affinity }, 'chat'), body)
  if (first === undefined) throw new Error('No backend is in the order')
  return first
}

/** Whether the backend takes the common format, and every field of this chat. */
export const takesAll = (candidate: Candidate, chat: ChatBody): boolean => {
  if (dialectOf(candidate) !== undefined) return false
  for (const name of candidate.upstream.unheard?.(candidate.model, chat) ?? [])
    if (chat[name] !== undefined) return false
  return true
}
