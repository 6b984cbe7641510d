import type { GatewayError } from '../../../../core/errors.ts'
import type {
  Chunk,
  ChunkChoice,
  Completion,
  Native,
  ToolCallPart,
  WireUsage,
} from '../../../../core/ports/upstream.ts'
import { garbled } from '../../backend.ts'
import type { DialectEvent, EventSink } from '../../../../core/dialects/event.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import type { Seal } from '../keepsake.ts'
import { goesOn } from '../open-call.ts'
import { imageText } from '../messages/answer.ts'
import { memoryItemOf } from './memory.ts'
import { knownTools } from './namespaces.ts'
import { callItem, messageItem, reasoningItem, type EventReceiver, type ResponseEvents } from './output.ts'
import { relay, relayedResponse, type Relay } from './relay.ts'
import { endOf, failureOf, headOf, usageOf } from './resource.ts'
import type { ResponsesRequest } from './shape.ts'

/** What the writer of one response has to know of the request. */
export interface ResponseToWrite {
  readonly request: ResponsesRequest
  /** As the caller knows it. */
  readonly model: string
  readonly seal: Seal
  /** Seconds. */
  readonly created: number
  /** Seconds. */
  now(): number
  /** A fresh id. */
  id(kind: string): string
}

/** The state of one answer. */
interface Writing {
  readonly request: ResponsesRequest
  readonly head: ReturnType<typeof headOf>
  readonly known: ReturnType<typeof knownTools>
  readonly tell: ResponseEvents
  readonly now: ResponseToWrite['now']
  readonly output: JsonObject[]
  /** Items so far. */
  places: number
  /** Events so far. */
  sequence: number
  begun: boolean
  thoughts: ReturnType<typeof reasoningItem> | null
  said: ReturnType<typeof messageItem> | null
  /** The call that grows, with the number that its pieces bear. */
  calling: (ReturnType<typeof callItem> & { readonly number: number }) | null
  finish: string | null
  usage: WireUsage | null
}

/** Chunks as the events of the dialect, numbered, one item after the other. */
export const responseEvents = ({ request, model, seal, created, now, id }: ResponseToWrite) => {
  const tell: ResponseEvents = {
    seal,
    id,
    event: (into, type, fields) =>
      void into?.push({ event: type, data: JSON.stringify({ type, sequence_number: it.sequence++, ...fields }) }),
    add(into, item) {
      const output_index = it.places++
      tell.event(into, 'response.output_item.added', { output_index, item })
      return output_index
    },
    finish(into, output_index, item) {
      it.output[output_index] = item
      tell.event(into, 'response.output_item.done', { output_index, item })
    },
  }
  const it: Writing = {
    ...{ request, head: headOf(request, model, id('resp'), created), known: knownTools(request), tell, now },
    ...{ output: [], places: 0, sequence: 0, begun: false },
    ...{ thoughts: null, said: null, calling: null, finish: null, usage: null },
  }
  const relaying: Relay = { model, seal, remembers: request.store !== false, sequence: 0, places: 0, ended: false }
  return {
    take(chunk: Chunk, into: EventSink): void {
      if (chunk.native?.dialect === 'responses') return relay(relaying, chunk.native.events, into)
      if (relaying.ended) return
      // Another backend goes on with what the first one left.
      if (relaying.sequence > it.sequence)
        Object.assign(it, { begun: true, sequence: relaying.sequence, places: relaying.places })
      took(it, into, chunk)
    },
    end: (into: EventSink): void => (relaying.ended ? undefined : void ended(it, into)),
    /** The event that ends a broken stream. */
    broken(error: GatewayError): DialectEvent {
      const type = 'response.failed'
      const response = { ...it.head, status: 'failed', error: failureOf(error), output: it.output.filter(Boolean) }
      const sequence_number = Math.max(it.sequence, relaying.sequence)
      return { event: type, data: JSON.stringify({ type, sequence_number, response }) }
    },
    /** The whole answer at once. */
    whole(completion: Completion, native?: Native): JsonObject {
      if (native?.dialect === 'responses') return relayedResponse(native, relaying)
      took(it, null, onlyChunk(completion))
      return ended(it, null)
    },
  }
}

/** A whole answer as the only chunk of a stream. */
const onlyChunk = ({ choices, ...completion }: Completion): Chunk => {
  const [choice] = choices
  if (choice === undefined) throw garbled('No choice in the answer')
  const { message, index, finish_reason, logprobs } = choice
  const tool_calls = message.tool_calls?.map((call, index) => ({ ...call, index }))
  const delta = { ...message, tool_calls } as ChunkChoice['delta']
  return { ...completion, choices: [{ index, delta, finish_reason, logprobs }] } as Chunk
}

const begin = (it: Writing, into: EventReceiver): void => {
  if (it.begun) return
  it.begun = true
  it.tell.event(into, 'response.created', { response: it.head })
  it.tell.event(into, 'response.in_progress', { response: it.head })
}

/** Ends the item that grows, unless it is of this kind. */
const settle = (it: Writing, into: EventReceiver, on: 'thoughts' | 'said' | null): void => {
  const { thoughts, said, calling } = it
  if (on !== 'thoughts') it.thoughts = null
  if (on !== 'said') it.said = null
  it.calling = null
  if (on !== 'thoughts') thoughts?.close(into)
  if (on !== 'said') said?.close(into)
  calling?.close(into)
}

const thinking = (it: Writing, into: EventReceiver) => {
  settle(it, into, 'thoughts')
  return (it.thoughts ??= reasoningItem(it.tell, into))
}

const saying = (it: Writing, into: EventReceiver) => {
  settle(it, into, 'said')
  return (it.said ??= messageItem(it.tell, into))
}

const took = (it: Writing, into: EventReceiver, chunk: Chunk): void => {
  begin(it, into)
  if (chunk.usage != null) it.usage = chunk.usage
  for (const choice of chunk.choices) {
    takeChoice(it, into, choice)
    it.finish = choice.finish_reason ?? it.finish
  }
}

const takeChoice = (it: Writing, into: EventReceiver, { delta, logprobs }: ChunkChoice): void => {
  const { content, reasoning_content, refusal, thinking_blocks, response_items, extra_content, annotations } = delta
  const calls = (delta.tool_calls ?? none) as readonly (ToolCallPart & JsonObject)[]
  const first = goesOn(calls, it.calling?.number)
  if (first > 0) grow(it, into, calls[0]!, 0)
  if (reasoning_content) thinking(it, into).think(into, reasoning_content)
  if (Array.isArray(thinking_blocks) && thinking_blocks.length > 0) thinking(it, into).sign(thinking_blocks)
  if (Array.isArray(response_items) && response_items.length > 0) thinking(it, into).outline(response_items)
  const text = (content ?? '') + imageText(delta['images'])
  if (text !== '') saying(it, into).say(into, text, oddsOf(logprobs))
  for (const note of (annotations ?? none) as readonly JsonObject[]) saying(it, into).annotate(into, annotationOf(note))
  if (typeof refusal === 'string' && refusal !== '') saying(it, into).refuse(into, refusal)
  if (extra_content != null) thinking(it, into).keep(extra_content)
  for (let at = first; at < calls.length; at++) grow(it, into, calls[at]!, at)
}

const grow = (it: Writing, into: EventReceiver, part: ToolCallPart & JsonObject, at: number): void => {
  const number = part.index ?? at
  const { name, arguments: json = '' } = part.function ?? {}
  if (it.calling?.number !== number) {
    if (name === undefined) throw garbled('A piece of a call that has not begun, or has ended')
    const call_id = part.id ?? it.tell.id('call')
    if (part['extra_content'] != null) thinking(it, into).keepFor(call_id, part['extra_content'])
    settle(it, into, null)
    const tool = it.known.get(name) ?? { name, namespace: null, custom: false }
    it.calling = { ...callItem(it.tell, into, call_id, tool), number }
  }
  it.calling.grow(into, json)
}

const ended = (it: Writing, into: EventReceiver): JsonObject => {
  const { request, head, tell, output, now } = it
  begin(it, into)
  settle(it, into, null)
  if (request.store !== false && output.some(({ type }) => type !== 'function_call')) {
    const memory = memoryItemOf(output, tell.seal)
    tell.finish(into, tell.add(into, memory), memory)
  }
  const end = endOf(it.finish)
  const response = { ...head, ...end, completed_at: now(), output, usage: usageOf(it.usage) }
  tell.event(into, `response.${end.status}`, { response })
  return response
}

const none: readonly never[] = []

const oddsOf = (logprobs: unknown): readonly unknown[] => {
  if (logprobs == null) return none
  const { content } = logprobs as { readonly content?: readonly JsonObject[] | null }
  return (content ?? none).map(({ token, logprob, bytes, top_logprobs }) => ({
    token,
    logprob,
    bytes: bytes ?? [],
    top_logprobs: top_logprobs ?? [],
  }))
}

/** The common format nests what this dialect has flat. */
const annotationOf = (it: JsonObject): JsonObject => {
  const { type, ...rest } = it
  const nested = rest[String(type)]
  return typeof nested === 'object' && nested !== null ? { type, ...nested } : it
}
