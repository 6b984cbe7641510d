import { BadRequest, GatewayError } from '../../../core/errors.ts'
import type { Supplied } from '../../../core/container.ts'
import type { countNeeds } from './chat-needs.ts'
import { inputOf } from '../../../core/inference/metering/tokens.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import type { Dialect, TokenCount } from '../../../core/ports/upstream.ts'
import { besideOf, type DialectChat } from './dialect-chat.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { countedModel } from './ruled-chat.ts'
import { droppedIn, filteredWordings, firstWording, marksOf, wordingsOf, type Wordings } from './wordings.ts'
import { affinityOf } from './session.ts'

type CountNeeds = Supplied<typeof countNeeds>

/** A count of a prompt with the headers of its answer; a header marks an estimate. */
export interface CountedChat extends TokenCount {
  readonly headers: Readonly<Record<string, string>>
}

interface Counting {
  /** The request's id. */
  readonly id: string
  /** The dialect of the door, by whose wording a prompt is estimated. */
  readonly door: Dialect
}

/**
 * Counts the prompt of a chat by the model's backend, else by an estimate. The count takes nothing from allowances of
 * tokens.
 */
export const countedChat = async (
  talk: DialectChat,
  { id, door }: Counting,
  given: CountNeeds,
  signal: AbortSignal,
): Promise<CountedChat> => {
  const entry = await servedModel(given.catalog, talk.caller, countedModel(talk, given), 'chat', signal)
  const worded = wordingsOf((to) => talk.understand(to, entry.settings))
  const guess = inputOf(worded(door).body)
  const counts = entry.candidates.some(({ upstream }) => upstream.countTokens !== undefined)
  const counted = counts ? await countedByBackend(talk, [entry, worded], given, signal).catch(estimating(id, given, signal)) : null // prettier-ignore
  return counted ?? { tokens: guess, headers: { 'x-sealgate-estimated': 'true' } }
}

const countedByBackend = async (
  talk: DialectChat,
  [entry, worded]: readonly [Entry, Wordings],
  { inference, filters }: CountNeeds,
  signal: AbortSignal,
): Promise<CountedChat | null> => {
  const { caller, session } = talk
  const { organization } = caller
  const { passage, fit } = await filteredWordings(entry, worded, filters, talk, signal)
  const { body } = firstWording(entry, fit)
  const affinity = affinityOf(entry, organization, body, session)
  const counted = await inference.count({ entry, body, fit, affinity, beside: besideOf(talk) }, signal)
  return counted && { ...counted, headers: { ...droppedIn(entry, fit), ...marksOf(passage) } }
}

/** A failing backend leaves the estimate. What is wrong with the request itself stays an error, but for its length. */
const estimating =
  (id: string, { log }: CountNeeds, signal: AbortSignal) =>
  (error: unknown): null => {
    const isCallers = error instanceof BadRequest && error.code !== 'context_length_exceeded'
    if (signal.aborted || isCallers || !(error instanceof GatewayError)) throw error
    log.warn('count.estimated', { request: id, status: error.status })
    return null
  }
