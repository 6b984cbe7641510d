import { mayUse } from '../../../../core/access/caller.ts'
import type { Supplied } from '../../../../core/container.ts'
import { asksUsage } from '../../../../core/dialects/chat-completions.ts'
import type { EventWriter } from '../../../../core/dialects/event.ts'
import { keepTexts } from '../../../../core/dialects/json-text.ts'
import type { ReadText } from '../../../../core/dialects/read-json.ts'
import type { StraightEntry } from '../../../../core/http/route.ts'
import type { StraightCalls } from '../../../../core/inference/calls.ts'
import type { chatNeeds } from '../chat-needs.ts'
import type { Candidate, Entry } from '../../../../core/inference/models/catalog-entry.ts'
import { unseenPart } from '../../../shared/models/find-model.ts'
import type { StreamedSoFar } from '../../../../core/inference/routing/continue-stream.ts'
import { type Tries, triesOf } from '../../../../core/inference/routing/tries.ts'
import { passageThrough } from '../../../../core/ports/chat-filter.ts'
import type { ChatBody, ChatWire } from '../../../../core/ports/upstream.ts'
import { checked } from '../../../../core/validate.ts'
import { type Shown, printing } from '../answering.ts'
import type { Talk } from '../talk.ts'
import type { CallEvents } from './call-events.ts'
import type { Door } from './door.ts'
import { DialectEvents } from './dialect-events.ts'
import { isPlainChat, splicedBody } from './request-bytes.ts'
import { StreamEvents } from './stream-events.ts'
import { type WordedChat, commonChat, firstOf, takesAll, wordedTalk } from './worded-chat.ts'

export type Given = Supplied<typeof chatNeeds>

/** What a chat stands on before its body has come. */
export interface Ground {
  readonly at: StraightEntry
  readonly given: Given
  readonly calls: StraightCalls
  /** How chunks of the common format are worded; null for other dialects. */
  readonly shown: Shown | null
  /** Throws BadRequest for a request that no backend gets. */
  talk(read: ReadText): Talk
}

/** Null before the first call has loaded what a call needs, and where the configuration lets no chat go straight. */
export const groundOf = <Input, Own>(at: StraightEntry, given: Given & Own, door: Door<Input, Own>): Ground | null => {
  const calls = given.inference.now()
  if (calls === null || !calls.shared.isStraight) return null
  const { record, caller, headers, params } = at
  const talk = (read: ReadText): Talk => {
    const input = checked(door.schema, read.value)
    keepTexts(input, read.members())
    return door.talk({ id: record.id, record, input, caller, headers, params }, given)
  }
  return { at, given, calls, shown: door.shown ?? null, talk }
}

/** A chat with its backend, before anything is reserved or sent. */
export interface BegunChat {
  readonly model: Entry
  readonly candidate: Candidate<'chat'>
  readonly worded: WordedChat
  readonly wire: ChatWire
  readonly tries: Tries
  /** Whether the caller speaks the common format. */
  readonly isCommon: boolean
  /** By which tokens are guessed. */
  readonly body: ChatBody
  /** The request to the backend. */
  readonly sent: string | Buffer
  /** Of a stream in another dialect than the backend's. */
  readonly writer: EventWriter | null
  /** Null for a whole answer. */
  streamOf(choices: number, soFar: StreamedSoFar | null): CallEvents | null
}

/** Null where the long way has to answer, or to word a fault. Throws BadRequest for a request that no backend gets. */
export const begunChat = (ground: Ground, read: ReadText): BegunChat | null =>
  asBytes(ground, read) ?? asTalk(ground, read)

const triesBefore = (tries: Tries): number => (typeof tries === 'number' ? tries : 0)

/** A chat of the common format for a backend that takes its bytes. */
const asBytes = (ground: Ground, { bytes, text, value }: ReadText): BegunChat | null => {
  const { at, calls, shown } = ground
  if (shown === null || !isPlainChat(value)) return null
  const [body, stream] = [value as unknown as ChatBody, value['stream'] === true]
  const entry = served(ground, String(value['model']))
  if (entry === null || unseenPart(entry, body) !== null) return null
  if (!entry.candidates.every((candidate) => takesAll(candidate, body))) return null
  const worded = commonChat(at, entry, body)
  const candidate = firstOf(calls, entry, worded)
  const { model } = candidate
  const tries = triesOf(at.headers)
  const wire = candidate.upstream.wire?.({ model, body, stream, tries: triesBefore(tries) })
  const common = wire?.common
  if (wire == null || common === undefined) return null
  const sent = splicedBody({ body: bytes, text, value, model, streams: stream })
  if (sent === null) return null
  return {
    model: entry,
    candidate,
    worded,
    wire,
    tries,
    isCommon: true,
    body,
    sent,
    writer: null,
    streamOf: (choices, soFar) =>
      stream ? new StreamEvents(common, printing(entry.name, asksUsage(body), shown), choices, soFar) : null,
  }
}

/** A chat of any dialect, worded for its backend. */
const asTalk = (ground: Ground, read: ReadText): BegunChat | null => {
  const { at, calls } = ground
  const talk = ground.talk(read)
  if (talk.callerKey != null) return null
  const entry = served(ground, talk.model)
  if (entry === null) return null
  const worded = wordedTalk(at, entry, talk)
  const candidate = firstOf(calls, entry, worded)
  const { model, upstream } = candidate
  if (upstream.wire === undefined) return null
  const tries = triesOf(at.headers)
  const fitted = calls.fitted(worded, candidate)
  const wire = upstream.wire({ ...fitted, model, stream: talk.streams, tries: triesBefore(tries) })
  const sent = wire?.body() ?? null
  if (wire === null || sent === null) return null
  const writer = talk.streams ? talk.writing(entry.name) : null
  return {
    model: entry,
    candidate,
    worded,
    wire,
    tries,
    isCommon: ground.shown !== null,
    body: worded.body,
    sent,
    writer,
    streamOf: (choices, soFar) => (writer === null ? null : new DialectEvents(wire, writer, choices, soFar)),
  }
}

/** Null where the long way has to look for the model, to refuse it, or to have guards look at the chat. */
const served = ({ at: { caller }, given }: Ground, model: string): Entry | null => {
  const entry = given.catalog.recall(model)
  if (entry === null || !mayUse(caller, entry.name) || !entry.settings.standard || !entry.does.has('chat')) return null
  const guarded = { model: entry.name, organization: caller.organization }
  return passageThrough(given.filters, guarded) === null ? entry : null
}
