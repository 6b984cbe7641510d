import type { Caller } from '../access/caller.ts'
import type { Supplied } from '../container.ts'
import { usageOf } from '../dialects/chat-completions.ts'
import type { EventWriter, ServerEvent } from '../dialects/event.ts'
import type { TranslatedRequest } from '../dialects/translated-request.ts'
import { type Passage, passageOf } from './guards/passage.ts'
import type { chatNeeds } from './chat-needs.ts'
import type { Inference, Served } from './inference.ts'
import { dialectOf, type Entry } from './models/catalog-entry.ts'
import type { Reservation } from './metering/meter.ts'
import { affinityOf } from './routing/order-backends.ts'
import { estimateOf } from './metering/tokens.ts'
import type { ChatAnswer, Chunk, Dialect, Usage } from '../ports/upstream.ts'
import type { PromptIterator } from '../prompt-iterator.ts'
import { servedModel } from './models/find-model.ts'
import { droppedIn, guardedWordings, marksOf, wordingsOf } from './wordings.ts'

export { chatNeeds } from './chat-needs.ts'

type ChatNeeds = Supplied<typeof chatNeeds>

/** A chat request in any dialect, as its route asks for it. */
export interface DialectChat {
  readonly caller: Caller
  readonly model: string
  readonly provider: string | null
  /** The session that the caller names; null when the conversation's beginning stands for it. */
  readonly session: string | null
  /** The request for a backend that speaks this dialect, undefined for the common one. */
  understand(to: Dialect | undefined): TranslatedRequest
}

export interface WholeAnswer {
  readonly answer: Extract<ChatAnswer, { kind: 'completion' }>
  /** The name that the caller knows the model by. */
  readonly model: string
  readonly headers: Readonly<Record<string, string>>
}

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
  /** Null when no guard is there. */
  readonly passage: Passage | null
  usageIn(it: Served): Usage
}

/** Every chat of the interface begins here: the model is looked up, its cost reserved, the call worded for each backend. */
const begin = async (talk: DialectChat, given: ChatNeeds, stream: boolean, signal: AbortSignal): Promise<Begun> => {
  const { caller, provider, session } = talk
  const { organization } = caller
  const entry = await servedModel(given.catalog, caller, talk.model, 'chat', signal)
  const passage = passageOf(given.guards, { model: entry.name, organization })
  const worded = wordingsOf((to) => talk.understand(to))
  const fit = passage === null ? worded : await guardedWordings(entry, worded, passage, signal)
  const [first] = entry.candidates
  const { body } = fit(first && dialectOf(first))
  const dropped = droppedIn(entry, fit)
  const estimate = estimateOf(body)
  const reservation = await given.meter.reserve(caller, entry, estimate)
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
      fit,
    },
    headers: { ...reservation.headers, ...dropped },
    passage,
    usageIn: ({ usage, size }) =>
      usageOf(usage) ?? { input: estimate.input, output: Math.ceil(size / 4), estimated: true },
  }
}

/** Who was asked, in order, where the first one did not answer. */
const attemptsOf = ({ asked }: Served): Headers =>
  asked.length < 2
    ? {}
    : { 'x-sealgate-attempts': asked.map((name) => name.replace(/[^\x21-\x7e]|,/g, '_')).join(', ') }

/** The whole answer, its use settled. An answer that a guard refuses was used too. */
export const wholeAnswer = async (talk: DialectChat, given: ChatNeeds, signal: AbortSignal): Promise<WholeAnswer> => {
  const { entry, reservation, task, headers, passage, usageIn } = await begin(talk, given, false, signal)
  const it = await given.inference.chat({ ...task, stream: false }, signal).catch((error: unknown) => {
    void reservation.settle(null, null)
    throw error
  })
  void reservation.settle(usageIn(it), it.backend)
  const answer = passage === null ? it.answer : await passage.answer(it.answer)
  return { answer, model: entry.name, headers: { ...headers, ...attemptsOf(it), ...marksOf(passage) } }
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
    const it = await given.inference.chat({ ...task, stream: true }, signal)
    const settle = () => void reservation.settle(it.backend === null ? null : usageIn(it), it.backend)
    const late = () => ({ ...attemptsOf(it), ...marksOf(passage) })
    const chunks = passage === null ? it.answer.chunks : passage.chunks(it.answer.chunks)
    return {
      events: printing({ chunks, notes: it.notes }, writing(entry.name), reservation.began, settle),
      headers,
      late,
    }
  } catch (error) {
    void reservation.settle(null, null)
    throw error
  }
}

interface Streaming extends Pick<Served, 'notes'> {
  readonly chunks: AsyncIterable<Chunk>
}

/** Chunks as events, with the writer's last events after a clean end alone. The reservation is settled however the stream ends. */
const printing = (
  { chunks: given, notes }: Streaming,
  writer: EventWriter,
  began: () => void,
  settle: () => void,
): SpokenEvents['events'] => {
  const chunks: PromptIterator<Chunk> = given[Symbol.asyncIterator]()
  const queue: ServerEvent[] = []
  let at = 0
  let first = true
  let ended = false
  /** What `ready` met, for the next `next`. */
  let fault: { readonly reason: unknown } | null = null

  /** Prints a chunk, or the end in place of one. */
  const print = (chunk: Chunk | null): void => {
    queue.length = at = 0
    if (notes.length > 0) queue.push({ comment: notes.splice(0).join(', ') })
    try {
      if (chunk === null) {
        ended = true
        writer.end(queue)
        settle()
      } else writer.take(chunk, queue)
    } catch (error) {
      // An answer that the dialect can't express is closed like a broken one.
      void chunks.return?.()
      broke(error)
    }
  }

  const took = ({
    done,
    value,
  }: IteratorResult<Chunk>): IteratorResult<ServerEvent> | Promise<IteratorResult<ServerEvent>> => {
    if (first && !done) began()
    first = false
    print(done ? null : value)
    return at < queue.length ? { value: queue[at++]!, done: false } : next()
  }

  const broke = (error: unknown): never => {
    ended = true
    queue.length = at = 0
    settle()
    throw error
  }

  const next = (): Promise<IteratorResult<ServerEvent>> => {
    if (fault !== null) {
      const { reason } = fault
      fault = null
      return Promise.reject(reason)
    }
    if (at < queue.length) return Promise.resolve({ value: queue[at++]!, done: false })
    if (ended) return Promise.resolve({ value: undefined, done: true })
    return chunks.next().then(took, broke)
  }

  const ready = (): ServerEvent | null => {
    while (at === queue.length) {
      const chunk = first || ended ? null : (chunks.ready?.() ?? null)
      if (chunk === null) return null
      try {
        print(chunk)
      } catch (reason) {
        fault = { reason }
        return null
      }
    }
    return queue[at++]!
  }

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next,
    ready,
    async return() {
      ended = true
      await chunks.return?.()
      settle()
      return { value: undefined, done: true }
    },
  }
}
