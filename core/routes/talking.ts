import type { Caller } from '../access/caller.ts'
import type { Supplied } from '../container.ts'
import { unheard as unheardByGemini } from '../dialects/generate-content/unheard.ts'
import { unheard as unheardByMessages } from '../dialects/messages/unheard.ts'
import { usageOf } from '../dialects/chat-completions.ts'
import type { EventWriter } from '../dialects/event.ts'
import type { Understood } from '../dialects/understood.ts'
import type { ServerEvent } from '../http/reply.ts'
import { Inference, type Served } from '../inference/inference.ts'
import { Catalog } from '../inference/models/catalog.ts'
import type { Entry } from '../inference/models/catalog-entry.ts'
import { Meter, type Reservation } from '../inference/metering/meter.ts'
import { affinityOf } from '../inference/routing/order-backends.ts'
import { estimateOf } from '../inference/metering/tokens.ts'
import type { ChatAnswer, Chunk, Dialect, Usage } from '../ports/upstream.ts'
import { served } from './find-model.ts'

export const talks = { catalog: Catalog, inference: Inference, meter: Meter }
type Given = Supplied<typeof talks>

/** A chat request in any dialect, as its route asks for it. */
export interface Talk {
  readonly caller: Caller
  readonly model: string
  readonly provider: string | null
  /** The session that the caller names; null when the conversation's beginning stands for it. */
  readonly session: string | null
  /** The request for a backend that speaks this dialect, undefined for the common one. */
  understand(to: Dialect | undefined): Understood
}

export interface Whole {
  readonly answer: Extract<ChatAnswer, { kind: 'completion' }>
  /** The name that the caller knows the model by. */
  readonly model: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Spoken {
  /** The stream's events; the first `next` rejects when no backend answers. */
  readonly events: AsyncIterableIterator<ServerEvent>
  readonly headers: Headers
  /** Headers that are known when the first event goes. */
  late(): Headers
}

type Headers = Readonly<Record<string, string>>

interface Begun {
  readonly entry: Entry
  readonly reservation: Reservation<Usage>
  readonly task: Parameters<Inference['chat']>[0]
  readonly headers: Readonly<Record<string, string>>
  usageIn(it: Served): Usage
}

/** Every chat of the interface begins here: the model is looked up, its cost reserved, the call worded for each backend. */
const begin = async (talk: Talk, given: Given, stream: boolean, signal: AbortSignal): Promise<Begun> => {
  const { caller, provider, session } = talk
  const { organization } = caller
  const entry = await served(given.catalog, caller, talk.model, 'chat', signal)
  const worded = new Map<Dialect | undefined, Understood>()
  const fit = (to: Dialect | undefined): Understood => {
    let it = worded.get(to)
    if (it === undefined) worded.set(to, (it = talk.understand(to)))
    return it
  }
  const { body } = fit(entry.candidates[0]?.upstream.dialect)
  const dropped = droppedOf(entry, fit)
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
    headers: { ...reservation.headers, ...(dropped.length > 0 && { 'x-sealgate-dropped': dropped.join(', ') }) },
    usageIn: ({ usage, size }) =>
      usageOf(usage) ?? { input: estimate.input, output: Math.ceil(size / 4), estimated: true },
  }
}

const unheard: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  messages: unheardByMessages,
  'generate-content': unheardByGemini,
}

/** Members that at least one backend of the model would not be told. */
const droppedOf = ({ candidates }: Entry, fit: (to: Dialect | undefined) => Understood): readonly string[] => {
  const dropped = new Set<string>()
  for (const to of new Set(candidates.map(({ upstream }) => upstream.dialect))) {
    const { body, native, dropped: its } = fit(to)
    for (const path of its) dropped.add(path)
    if (to === undefined || native !== undefined) continue
    for (const [name, value] of Object.entries(body)) {
      if (unheard[to].has(name) && value != null && value !== false && !ours.has(name)) dropped.add(name)
    }
  }
  return [...dropped]
}

/** Who was asked, in order, where the first one did not answer. */
const attemptsOf = ({ asked }: Served): Headers =>
  asked.length < 2
    ? {}
    : { 'x-sealgate-attempts': asked.map((name) => name.replace(/[^\x21-\x7e]|,/g, '_')).join(', ') }

/** Members that the gateway itself sees to. */
const ours = new Set(['stream_options', 'n'])

/** The whole answer, its use settled. */
export const wholly = async (talk: Talk, given: Given, signal: AbortSignal): Promise<Whole> => {
  const { entry, reservation, task, headers, usageIn } = await begin(talk, given, false, signal)
  try {
    const it = await given.inference.chat({ ...task, stream: false }, signal)
    void reservation.settle(usageIn(it), it.backend)
    return { answer: it.answer, model: entry.name, headers: { ...headers, ...attemptsOf(it) } }
  } catch (error) {
    void reservation.settle(null, null)
    throw error
  }
}

/** The answer as events; `writing` is given the caller's name of the model. */
export const streamed = async (
  talk: Talk,
  given: Given,
  writing: (model: string) => EventWriter,
  signal: AbortSignal,
): Promise<Spoken> => {
  const { entry, reservation, task, headers, usageIn } = await begin(talk, given, true, signal)
  try {
    const it = await given.inference.chat({ ...task, stream: true }, signal)
    const settle = () => void reservation.settle(it.backend === null ? null : usageIn(it), it.backend)
    const late = () => attemptsOf(it)
    return { events: printing(it, writing(entry.name), reservation.began, settle), headers, late }
  } catch (error) {
    void reservation.settle(null, null)
    throw error
  }
}

type Streaming = Served & { readonly answer: { readonly kind: 'chunks' } }

/** Chunks as events, with the writer's last events after a clean end alone. The reservation is settled however the stream ends. */
const printing = (
  { answer, notes }: Streaming,
  writer: EventWriter,
  began: () => void,
  settle: () => void,
): AsyncIterableIterator<ServerEvent> => {
  const chunks = answer.chunks[Symbol.asyncIterator]()
  const queue: ServerEvent[] = []
  let at = 0
  let first = true
  let ended = false

  const took = ({
    done,
    value,
  }: IteratorResult<Chunk>): IteratorResult<ServerEvent> | Promise<IteratorResult<ServerEvent>> => {
    queue.length = at = 0
    if (first && !done) began()
    first = false
    if (notes.length > 0) queue.push({ comment: notes.splice(0).join(', ') })
    try {
      if (done) {
        ended = true
        writer.end(queue)
        settle()
      } else writer.take(value, queue)
    } catch (error) {
      // An answer that the dialect can't express is closed like a broken one.
      void chunks.return?.()
      return broke(error)
    }
    return at < queue.length ? { value: queue[at++]!, done: false } : next()
  }

  const broke = (error: unknown): never => {
    ended = true
    queue.length = at = 0
    settle()
    throw error
  }

  const next = (): Promise<IteratorResult<ServerEvent>> => {
    if (at < queue.length) return Promise.resolve({ value: queue[at++]!, done: false })
    if (ended) return Promise.resolve({ value: undefined, done: true })
    return chunks.next().then(took, broke)
  }

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next,
    async return() {
      ended = true
      await chunks.return?.()
      settle()
      return { value: undefined, done: true }
    },
  }
}
