import type { Supplied } from '../../../core/container.ts'
import type { EventWriter } from '../../../core/dialects/event.ts'
import type { chatNeeds } from './chat-needs.ts'
import type { Inference } from '../../../core/inference/inference.ts'
import { estimateOf } from '../../../core/inference/metering/tokens.ts'
import type { Whole } from '../../../core/ports/upstream.ts'
import { type SearchedChat, type SearchedEvents, searchedAnswer, searchedEvents } from './searched-chat.ts'
import { callerKey } from '../../shared/caller-key.ts'
import { usedByChat } from '../../shared/used-by-chat.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { besideOf, type DialectChat } from './dialect-chat.ts'
import { begunByRule } from './ruled-chat.ts'
import { searchedTask, wordedRequest } from './worded-request.ts'
import { filteredWordings, wordingsOf } from './wordings.ts'

export { chatNeeds } from './chat-needs.ts'

type ChatNeeds = Supplied<typeof chatNeeds>

/** An answer that came in one piece, with the headers that report its limits and attempts. */
export interface WholeAnswer {
  readonly answer: Whole
  /** The name that the caller knows the model by. */
  readonly model: string
  readonly headers: Readonly<Record<string, string>>
}

/** An answer that goes on. The first `next` of its events rejects when no backend answers. */
export interface SpokenEvents extends SearchedEvents {
  readonly headers: Headers
}

type Headers = Readonly<Record<string, string>>

interface Begun extends SearchedChat {
  readonly task: Parameters<Inference['chat']>[0]
  readonly headers: Headers
}

/** Every chat of the interface begins here. */
const begin = (talk: DialectChat, given: ChatNeeds, stream: boolean, signal: AbortSignal): Promise<Begun> =>
  begunByRule(talk, given, signal, (named) => beginNamed(named, given, stream, signal))

/** The model is looked up, its cost reserved, the call worded for each backend. */
const beginNamed = async (
  talk: DialectChat,
  given: ChatNeeds,
  stream: boolean,
  signal: AbortSignal,
): Promise<Begun> => {
  const { caller, record } = talk
  const { organization } = caller
  const entry = await servedModel(given.catalog, caller, talk.model, 'chat', signal)
  const wordings = wordingsOf((to) => talk.understand(to, entry.settings))
  const { passage, fit } = await filteredWordings(entry, wordings, given.filters, talk, signal)
  const worded = wordedRequest(organization, entry, talk, fit)
  const estimate = estimateOf(worded.body, worded.user)
  const beside = besideOf(talk)
  const billed = beside === undefined ? entry : { ...entry, paidWith: callerKey }
  const reservation = await given.meter.reserve(caller, billed, estimate, record)
  return {
    model: entry,
    task: {
      ...searchedTask(entry, worded),
      ...{ stream, tries: talk.tries ?? null, beside },
      ...(record !== undefined && { request: record.id }),
    },
    headers: { ...reservation.headers, ...worded.dropped },
    passage,
    began: () => reservation.began(),
    settle: ({ usage, size, backend, by, broken }) =>
      void reservation.settle(backend === null ? null : usedByChat(estimate.input, usage, size, broken), backend, by),
  }
}

/** The whole answer, its use settled. */
export const wholeAnswer = async (talk: DialectChat, given: ChatNeeds, signal: AbortSignal): Promise<WholeAnswer> => {
  const begun = await begin(talk, given, false, signal)
  const asked = given.inference.chat({ ...begun.task, stream: false }, signal)
  const { answer, headers } = await searchedAnswer(begun, await asked.catch(unanswered(begun)))
  return { answer, model: begun.model.name, headers: { ...begun.headers, ...headers } }
}

/** The answer as events; `writing` is given the caller's name of the model. */
export const streamedAnswer = async (
  talk: DialectChat,
  given: ChatNeeds,
  writing: (model: string) => EventWriter,
  signal: AbortSignal,
): Promise<SpokenEvents> => {
  const begun = await begin(talk, given, true, signal)
  const { model, headers } = begun
  const asked = given.inference.chat({ ...begun.task, stream: true }, signal)
  const served = await asked.catch(unanswered(begun))
  return { ...searchedEvents(begun, served, writing(model.name)), headers }
}

/** Settles a chat that nobody answered, and throws why. */
const unanswered =
  ({ settle }: SearchedChat) =>
  (error: unknown): never => {
    settle({ usage: null, size: 0, backend: null })
    throw error
  }
