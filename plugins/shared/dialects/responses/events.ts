import type { GatewayError } from '../../../../core/errors.ts'
import type {
  Chunk,
  ChunkChoice,
  Completion,
  Native,
  ToolCallPart,
  WireUsage,
} from '../../../../core/ports/upstream.ts'
import { garbled, itemsIn } from '../../backend.ts'
import { printAgain } from '../../print-json.ts'
import type { DialectEvent, EventSink } from '../../../../core/dialects/event.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import type { Seal } from '../keepsake.ts'
import { type CallsInTurn, goesOn, noCalls, released, waits } from '../open-call.ts'
import { wholeDelta } from '../whole-delta.ts'
import { imageText } from '../messages/answer.ts'
import { memoryItemOf } from './memory.ts'
import { knownTools } from './namespaces.ts'
import {
  callItem,
  messageItem,
  reasoningItem,
  type EventReceiver,
  type ItemEnd,
  type ResponseEvents,
} from './output.ts'
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
  /** Odds are printed once, and everything else by itself. */
  hasOdds: boolean
  isEnding: boolean
  thoughts: ReturnType<typeof reasoningItem> | null
  spoken: ReturnType<typeof messageItem> | null
  /** The call that grows, with the number that its pieces bear. */
  calling: (ReturnType<typeof callItem> & { readonly number: number; readonly isFree: boolean }) | null
  /** Clients know items that come one after the other. */
  readonly calls: CallsInTurn
  finish: string | null
  usage: WireUsage | null
}

/** An answer that has not begun. */
const freshWriting = ({
  request,
  head,
  known,
  tell,
  now,
}: Pick<Writing, 'request' | 'head' | 'known' | 'tell' | 'now'>): Writing => ({
  request,
  head,
  known,
  tell,
  now,
  output: [],
  places: 0,
  sequence: 0,
  begun: false,
  hasOdds: false,
  isEnding: false,
  thoughts: null,
  spoken: null,
  calling: null,
  calls: noCalls(),
  finish: null,
  usage: null,
})

const eventOf = (writing: Writing, type: string, fields: JsonObject): DialectEvent => {
  const sequence_number = writing.sequence++
  if (!writing.hasOdds)
    return {
      event: type,
      data: `{"type":"${type}","sequence_number":${sequence_number},${JSON.stringify(fields).slice(1)}`,
    }
  const members = Object.assign({ type, sequence_number }, fields)
  if (!writing.isEnding) return { event: type, data: printAgain(members) }
  // Nothing changes any more: the event is printed when its turn to go comes.
  return {
    event: type,
    get data() {
      return printAgain(members)
    },
  }
}

/** Chunks as the events of the dialect, numbered, one item after the other. */
export const responseEvents = ({ request, model, seal, created, now, id }: ResponseToWrite) => {
  const tell: ResponseEvents = {
    seal,
    id,
    event(into, type, fields) {
      if (into === null) return
      into.push(eventOf(writing, type, fields))
    },
    add(into, item) {
      const output_index = writing.places++
      tell.event(into, 'response.output_item.added', { output_index, item })
      return output_index
    },
    finish(into, output_index, item) {
      writing.output[output_index] = item
      tell.event(into, 'response.output_item.done', { output_index, item })
    },
  }
  const head = headOf(request, model, id('resp'), created)
  const writing = freshWriting({ request, head, known: knownTools(request), tell, now })
  const relaying: Relay = { model, seal, remembers: request.store !== false, sequence: 0, places: 0, ended: false }
  return {
    take(chunk: Chunk, into: EventSink): void {
      if (chunk.native?.dialect === 'responses') return relay(relaying, chunk.native.events, into)
      if (relaying.ended) return
      // Another backend goes on with what the first one left.
      if (relaying.sequence > writing.sequence)
        Object.assign(writing, { begun: true, sequence: relaying.sequence, places: relaying.places })
      took(writing, into, chunk)
    },
    again(words: string): boolean | number {
      if (relaying.sequence > writing.sequence) {
        relaying.sequence++
        return true
      }
      const growing = writing.thoughts ?? writing.spoken
      return growing !== null && !writing.hasOdds && growing.again(words) && writing.sequence++
    },
    end: (into: EventSink): void => (relaying.ended ? undefined : void ended(writing, into)),
    /** The event that ends a broken stream. */
    broken(error: GatewayError): DialectEvent {
      const type = 'response.failed'
      const response = {
        ...writing.head,
        status: 'failed',
        error: failureOf(error),
        output: writing.output.filter(Boolean),
      }
      const sequence_number = Math.max(writing.sequence, relaying.sequence)
      return { event: type, data: JSON.stringify({ type, sequence_number, response }) }
    },
    /** The whole answer at once. */
    whole(completion: Completion, native?: Native): JsonObject {
      if (native?.dialect === 'responses') return relayedResponse(native, relaying)
      took(writing, null, onlyChunk(completion))
      return ended(writing, null)
    },
  }
}

/** The members of a chunk that the writer reads. */
type ChunkContent = Pick<Chunk, 'choices' | 'usage'>

/** A whole answer as the only chunk of a stream. */
const onlyChunk = ({ choices: [choice], usage = null }: Completion): ChunkContent => {
  if (choice === undefined) throw garbled('No choice in the answer')
  const { message, index, finish_reason, logprobs } = choice
  return { choices: [{ index, delta: wholeDelta(message), finish_reason, logprobs }], usage }
}

const begin = (writing: Writing, into: EventReceiver): void => {
  if (writing.begun) return
  writing.begun = true
  writing.tell.event(into, 'response.created', { response: writing.head })
  writing.tell.event(into, 'response.in_progress', { response: writing.head })
}

/** Ends the item that grows, unless it is of this kind. */
const settle = (
  writing: Writing,
  into: EventReceiver,
  on: 'thoughts' | 'said' | null,
  status: ItemEnd = 'completed',
): void => {
  const { thoughts, spoken, calling } = writing
  if (on !== 'thoughts') writing.thoughts = null
  if (on !== 'said') writing.spoken = null
  writing.calling = null
  if (on !== 'thoughts') thoughts?.close(into)
  if (on !== 'said') spoken?.close(into, status)
  calling?.close(into, status)
}

const thinking = (writing: Writing, into: EventReceiver) => {
  settle(writing, into, 'thoughts')
  return (writing.thoughts ??= reasoningItem(writing.tell, into))
}

const saying = (writing: Writing, into: EventReceiver) => {
  settle(writing, into, 'said')
  return (writing.spoken ??= messageItem(writing.tell, into))
}

const took = (writing: Writing, into: EventReceiver, { choices, usage }: ChunkContent): void => {
  begin(writing, into)
  if (usage != null) writing.usage = usage
  for (const choice of choices) {
    takeChoice(writing, into, choice)
    writing.finish = choice.finish_reason ?? writing.finish
  }
}

const takeChoice = (writing: Writing, into: EventReceiver, { delta, logprobs }: ChunkChoice): void => {
  const { content, reasoning_content, refusal, thinking_blocks, response_items, extra_content, annotations } = delta
  const calls = (delta.tool_calls ?? none) as readonly (ToolCallPart & JsonObject)[]
  const first = goesOn(calls, writing.calling?.number)
  if (first > 0) grow(writing, into, calls[0]!, 0)
  if (reasoning_content) thinking(writing, into).think(into, reasoning_content)
  if (Array.isArray(thinking_blocks) && thinking_blocks.length > 0) thinking(writing, into).sign(thinking_blocks)
  if (Array.isArray(response_items) && response_items.length > 0) thinking(writing, into).outline(response_items)
  const text = (content ?? '') + imageText(delta['images'])
  const odds = oddsOf(logprobs)
  writing.hasOdds ||= odds.length > 0
  if (text !== '') saying(writing, into).say(into, text, odds)
  for (const note of itemsIn(annotations)) saying(writing, into).annotate(into, annotationOf(note))
  if (typeof refusal === 'string' && refusal !== '') saying(writing, into).refuse(into, refusal)
  if (extra_content != null) thinking(writing, into).keep(extra_content)
  for (let at = first; at < calls.length; at++) grow(writing, into, calls[at]!, at)
}

/** What a piece adds to a call: arguments of a function, or a free text where a backend knows custom tools. */
const addedBy = ({ function: own, custom }: ToolCallPart & JsonObject) => {
  if (custom == null) return { name: own?.name, text: own?.arguments, isFree: false }
  const { name, input } = custom as { readonly name?: string; readonly input?: string | null }
  return { name, text: input, isFree: true }
}

const grow = (writing: Writing, into: EventReceiver, part: ToolCallPart & JsonObject, at: number): void => {
  const { calling, calls } = writing
  const number = part.index ?? at
  const { name, text: json } = addedBy(part)
  const text = json ?? ''
  if (calling?.number !== number) {
    if (name === undefined && text === '') return
    if (waits(calls, { part, number, text }, calling?.isFree === false)) return
    beginCall(writing, into, part, number)
  }
  growCall(writing, into, text)
}

const beginCall = (writing: Writing, into: EventReceiver, part: ToolCallPart & JsonObject, number: number): void => {
  const { name, isFree } = addedBy(part)
  if (name === undefined) throw garbled('A piece of a call that has not begun, or has ended')
  const call_id = part.id ?? writing.tell.id('call')
  if (part['extra_content'] != null) thinking(writing, into).keepFor(call_id, part['extra_content'])
  settle(writing, into, null)
  const tool = writing.known.get(name) ?? { name, namespace: null, custom: isFree }
  writing.calling = { ...callItem(writing.tell, into, call_id, tool, isFree), number, isFree }
  writing.calls.grown = ''
}

const growCall = ({ calling, calls }: Writing, into: EventReceiver, text: string): void => {
  calls.grown += text
  calling?.grow(into, text)
}

const ended = (writing: Writing, into: EventReceiver): JsonObject => {
  const { request, head, tell, output, now } = writing
  begin(writing, into)
  for (const { part, number, text } of released(writing.calls)) {
    beginCall(writing, into, part, number)
    growCall(writing, into, text)
  }
  writing.isEnding = true
  const end = endOf(writing.finish)
  settle(writing, into, null, end.status)
  if (request.store !== false && output.some(({ type }) => type !== 'function_call')) {
    const memory = memoryItemOf(output, tell.seal)
    tell.finish(into, tell.add(into, memory), memory)
  }
  const response = { ...head, ...end, completed_at: now(), output, usage: usageOf(writing.usage) }
  tell.event(into, `response.${end.status}`, { response })
  return response
}

const none: readonly never[] = []

const oddsOf = (logprobs: unknown): readonly unknown[] => {
  const { content } = (logprobs ?? {}) as JsonObject
  return itemsIn(content).map(({ token, logprob, bytes, top_logprobs }) => ({
    token,
    logprob,
    bytes: bytes ?? [],
    top_logprobs: top_logprobs ?? [],
  }))
}

/** The common format nests what this dialect has flat. */
const annotationOf = (citation: JsonObject): JsonObject => {
  const { type, ...rest } = citation
  const nested = rest[String(type)]
  return typeof nested === 'object' && nested !== null ? { type, ...nested } : citation
}
