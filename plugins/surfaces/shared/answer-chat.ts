import type { Supplied } from '../../../core/container.ts'
import { usageOf } from '../../../core/dialects/chat-completions.ts'
import type { EventWriter, ServerEvent } from '../../../core/dialects/event.ts'
import { type Passage, passageThrough } from '../../../core/ports/chat-filter.ts'
import { askedHeaders } from './backend-headers.ts'
import type { chatNeeds } from './chat-needs.ts'
import type { Inference, Served } from '../../../core/inference/inference.ts'
import { dialectOf, type Entry } from '../../../core/inference/models/catalog-entry.ts'
import type { Reservation } from '../../../core/inference/metering/meter.ts'
import { affinityOf } from '../../../core/inference/routing/order-backends.ts'
import { estimateOf } from '../../../core/inference/metering/tokens.ts'
import type { ChatAnswer, Usage } from '../../../core/ports/upstream.ts'
import type { PromptIterator } from '../../../core/ports/prompt-iterator.ts'
import { printedEvents } from './printed-events.ts'
import { callerKey } from '../../shared/caller-key.ts'
import { refuseUnseen, servedModel } from '../../shared/models/find-model.ts'
import { besideOf, type DialectChat } from './dialect-chat.ts'
import { begunByRule } from './ruled-chat.ts'
import { droppedIn, guardedWordings, marksOf, wordingsOf } from './wordings.ts'

export { chatNeeds } from './chat-needs.ts'

type ChatNeeds = Supplied<typeof chatNeeds>

/** An answer that came in one piece, with the headers that report its limits and attempts. */
export interface WholeAnswer {
  readonly answer: Extract<ChatAnswer, { kind: 'completion' }>
  /** The name that the caller knows the model by. */
  readonly model: string
  readonly headers: Readonly<Record<string, string>>
}

/** An answer that goes on, already in the words of the caller's dialect. */
export interface SpokenEvents {
  /** The stream's events; the first `next` rejects when no backend answers. */
  readonly events: AsyncIterableIterator<ServerEvent> & PromptIterator<ServerEvent>
  readonly headers: Headers
  /** Headers that are known when the first event goes. */
  late(): Headers
}

type Headers = Readonly<Record<string, string>>

interface Begun {
  readonly entry: Entry
  readonly reservation: Reservation<Usage>
  readonly task: Parameters<Inference['chat']>[0]
  readonly headers: Headers
  /** Null when no filter looks at the chat. */
  readonly passage: Passage | null
  usageIn(served: Served): Usage
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
  const { caller, provider, session } = talk
  const { organization } = caller
  const entry = await servedModel(given.catalog, caller, talk.model, 'chat', signal)
  const passage = passageThrough(given.filters, { model: entry.name, organization })
  const worded = wordingsOf((to) => talk.understand(to, entry.settings))
  const fit = passage === null ? worded : await guardedWordings(entry, worded, passage, signal)
  const [first] = entry.candidates
  const { body, user } = fit(first && dialectOf(first))
  refuseUnseen(entry, body)
  const dropped = droppedIn(entry, fit)
  const estimate = estimateOf(body, user)
  const beside = besideOf(talk)
  const billed = beside === undefined ? entry : { ...entry, paidWith: callerKey }
  const reservation = await given.meter.reserve(caller, billed, estimate, talk.record)
  return {
    entry,
    reservation,
    task: {
      entry,
      body,
      provider,
      organization,
      affinity: affinityOf(entry, organization, body, session),
      stream,
      tries: talk.tries ?? null,
      fit,
      beside,
      ...(talk.record !== undefined && { request: talk.record.id }),
    },
    headers: { ...reservation.headers, ...dropped },
    passage,
    usageIn: ({ usage, size }) =>
      usageOf(usage) ?? { input: estimate.input, output: Math.ceil(size / 4), estimated: true },
  }
}

/** The whole answer, its use settled. An answer that a guard refuses was used too. */
export const wholeAnswer = async (talk: DialectChat, given: ChatNeeds, signal: AbortSignal): Promise<WholeAnswer> => {
  const { entry, reservation, task, headers, passage, usageIn } = await begin(talk, given, false, signal)
  const served = await given.inference.chat({ ...task, stream: false }, signal).catch((error: unknown) => {
    void reservation.settle(null, null)
    throw error
  })
  void reservation.settle(usageIn(served), served.backend)
  const answer = passage === null ? served.answer : await passage.answer(served.answer)
  return { answer, model: entry.name, headers: { ...headers, ...askedHeaders(entry, served), ...marksOf(passage) } }
}

/** The answer as events; `writing` is given the caller's name of the model. */
export const streamedAnswer = async (
  talk: DialectChat,
  given: ChatNeeds,
  writing: (model: string) => EventWriter,
  signal: AbortSignal,
): Promise<SpokenEvents> => {
  const { entry, reservation, task, headers, passage, usageIn } = await begin(talk, given, true, signal)
  try {
    const served = await given.inference.chat({ ...task, stream: true }, signal)
    const settle = () => void reservation.settle(served.backend === null ? null : usageIn(served), served.backend)
    const late = () => ({ ...askedHeaders(entry, served), ...marksOf(passage) })
    const chunks = passage === null ? served.answer.chunks : passage.chunks(served.answer.chunks)
    return {
      events: printedEvents({
        ...{ chunks, settle, notes: served.notes, writer: writing(entry.name) },
        began: () => reservation.began(),
      }),
      headers,
      late,
    }
  } catch (error) {
    void reservation.settle(null, null)
    throw error
  }
}
