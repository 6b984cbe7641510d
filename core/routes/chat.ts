import {
  asksUsage,
  ChatRequest,
  endMark,
  printChunk,
  printCompletion,
  split,
  usageOf,
  withoutUsage,
} from '../dialects/chat-completions.ts'
import type { GatewayError } from '../errors.ts'
import { events, text, type ServerEvent } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { Inference, type Served } from '../inference/attempt.ts'
import { Catalog } from '../inference/catalog.ts'
import type { Entry } from '../inference/entry.ts'
import { Meter, type Reservation } from '../inference/meter.ts'
import { affinityOf } from '../inference/pick.ts'
import { estimateOf } from '../inference/tokens.ts'
import type { Chunk, Usage } from '../ports/upstream.ts'
import { served } from './serving.ts'

const complete = route({
  method: 'POST',
  path: '/std/chat/completions',
  summary: 'Answers a conversation, whole or as a stream of events.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: ChatRequest, bytes: ({ bodies }) => bodies.chat },
  needs: { catalog: Catalog, inference: Inference, meter: Meter },
  async handle({ id, input, caller, signal }, { catalog, inference, meter }) {
    const { model, provider, stream, body } = split(input)
    const entry = await served(catalog, caller, model, 'chat', signal)
    const estimate = estimateOf(body)
    const reservation = await meter.reserve(caller, entry, estimate)
    const usageIn = ({ usage, size }: Served): Usage =>
      usageOf(usage) ?? { input: estimate.input, output: Math.ceil(size / 4), estimated: true }
    try {
      const affinity = affinityOf(entry, caller.organization, body)
      if (stream) {
        const it = await inference.chat({ entry, body, provider, affinity, stream }, signal)
        return events(
          printing(it, entry, reservation, usageIn, asksUsage(body)),
          (error) => ({ data: broken(error, id) }),
          () => ({ comment: 'waiting' }),
          reservation.headers,
        )
      }
      const it = await inference.chat({ entry, body, provider, affinity, stream }, signal)
      void reservation.settle(usageIn(it), it.backend)
      const { completion, text: sent } = it.answer
      return text(printCompletion(completion, entry.name, sent), undefined, 200, reservation.headers)
    } catch (error) {
      void reservation.settle(null, null)
      throw error
    }
  },
})

/** Chunks as events, the end mark after a clean end alone; settles the reservation however it ends. */
const printing = (
  it: Served & { readonly answer: { readonly kind: 'chunks' } },
  { name }: Entry,
  reservation: Reservation<Usage>,
  usageIn: (it: Served) => Usage,
  asked: boolean,
): AsyncIterableIterator<ServerEvent> => {
  const chunks = it.answer.chunks[Symbol.asyncIterator]()
  let pending: ServerEvent | null = null
  let ended = false

  const settle = () => {
    ended = true
    void reservation.settle(it.backend === null ? null : usageIn(it), it.backend)
  }

  const took = ({
    done,
    value,
  }: IteratorResult<Chunk>): IteratorResult<ServerEvent> | Promise<IteratorResult<ServerEvent>> => {
    if (done) {
      settle()
      return { value: end, done: false }
    }
    const chunk = asked ? value : withoutUsage(value)
    if (chunk === null) return chunks.next().then(took, broke)
    const event = { data: printChunk(chunk, name) }
    if (it.notes.length === 0) return { value: event, done: false }
    pending = event
    return { value: { comment: it.notes.splice(0).join(', ') }, done: false }
  }

  const broke = (error: unknown): never => {
    settle()
    throw error
  }

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      if (pending !== null) {
        const value = pending
        pending = null
        return Promise.resolve({ value, done: false })
      }
      if (ended) return Promise.resolve({ value: undefined, done: true })
      return chunks.next().then(took, broke)
    },
    async return() {
      await chunks.return?.()
      settle()
      return { value: undefined, done: true }
    },
  }
}

const end: ServerEvent = { data: endMark }

/** What a stream says that can't be finished; no end mark follows. */
const broken = (error: GatewayError, id: string): string =>
  JSON.stringify({
    error: { message: error.message, type: 'upstream_error', code: error.status, param: null, support_id: id },
  })

export const chat = [complete] as const
