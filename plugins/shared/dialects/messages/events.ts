import type { Chunk, ChunkChoice, NativeEvents, ToolCallPart, WireUsage } from '../../../../core/ports/upstream.ts'
import { garbled, parseObject } from '../../backend.ts'
import type { EventSink } from '../../../../core/dialects/event.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { printKeepsake, type Keepsake, type Seal } from '../keepsake.ts'
import { goesOn } from '../open-call.ts'
import { renamed } from '../../../../core/dialects/rename-model.ts'
import { imageText, endOf, idOf, usageOf, type EndReasons } from './answer.ts'

/** Kinds of blocks that grow. Other blocks come whole. */
type Kind = 'text' | 'thinking' | 'tool_use'

const isKind = (type: string): type is Kind => type === 'text' || type === 'thinking' || type === 'tool_use'

/** The part of the dialect's own event that the state of a stream depends on. */
interface Started {
  readonly index: number
  readonly content_block: { readonly type: string }
}

/** The first event, with the name by which the caller knows the model. */
const underOurName = (data: string, model: string): string => {
  const event = parseObject(data) ?? {}
  const message = (event['message'] ?? {}) as JsonObject
  return renamed(data, 'model', message['model'], model) ?? JSON.stringify({ ...event, message: { ...message, model } })
}

/** The state of one stream. */
interface Writing {
  readonly model: string
  readonly seal: Seal
  begun: boolean
  /** The event that begins the answer has gone. */
  started: boolean
  /** Blocks so far. */
  blocks: number
  /** The block that grows; a call's has the number that its pieces bear. */
  open: { readonly kind: Kind; readonly index: number; readonly call?: number } | null
  thoughts: string
  /** The outline of an answer by Responses, as far as no block has it yet. */
  outline: unknown[]
  ended: EndReasons
  usage: WireUsage | null
  /** The last event went on as it came. */
  stopped: boolean
}

/** Chunks as the events of the dialect: blocks one after the other, each with its index. */
export const messageEvents = (model: string, seal: Seal) => {
  const it: Writing = {
    model,
    seal,
    begun: false,
    started: false,
    blocks: 0,
    open: null,
    thoughts: '',
    outline: [],
    ended: { finish_reason: null },
    usage: null,
    stopped: false,
  }
  return {
    take(chunk: Chunk, into: EventSink): void {
      if (chunk.native?.dialect === 'messages') return relay(it, into, chunk.native.events)
      if (!it.begun) begin(it, into, chunk.id)
      if (chunk.usage != null) it.usage = chunk.usage
      for (const choice of chunk.choices) takeChoice(it, into, choice)
    },

    end(into: EventSink): void {
      if (it.stopped) return
      if (!it.begun) begin(it, into, '')
      close(it, into)
      keepOutline(it, into)
      event(into, 'message_delta', { delta: endOf(it.ended), usage: usageOf(it.usage) })
      event(into, 'message_stop', {})
    },
  }
}

const none: readonly never[] = []

/**
 * One chunk may bring several kinds of content. Their order here is the order of the dialect's own answers.
 */
const takeChoice = (it: Writing, into: EventSink, choice: ChunkChoice): void => {
  const { delta } = choice
  const calls = (delta.tool_calls ?? none) as readonly (ToolCallPart & JsonObject)[]
  const first = goesOn(calls, it.open?.call)
  if (first > 0) call(it, into, calls[0]!, 0)
  think(it, into, delta.reasoning_content ?? '')
  for (const block of (delta['thinking_blocks'] ?? none) as readonly JsonObject[]) sign(it, into, block)
  if (Array.isArray(delta['response_items'])) it.outline.push(...(delta['response_items'] as readonly unknown[]))
  for (const block of (delta['content_blocks'] ?? none) as readonly JsonObject[]) whole(it, into, block)
  say(it, into, delta.content ?? '')
  say(it, into, typeof delta['refusal'] === 'string' ? delta['refusal'] : '')
  say(it, into, imageText(delta['images']))
  for (const citation of (delta['citations'] ?? none) as readonly JsonObject[]) {
    grow(into, opened(it, into, 'text', { type: 'text', text: '' }), { type: 'citations_delta', citation })
  }
  if (delta['extra_content'] != null) keep(it, into, { extra: delta['extra_content'] })
  for (let at = first; at < calls.length; at++) call(it, into, calls[at]!, at)
  if (choice.finish_reason !== null) {
    const { delta: _, ...end } = choice
    it.ended = end
  }
}

const event = (into: EventSink, type: string, fields: JsonObject): void =>
  void into.push({ event: type, data: JSON.stringify({ type, ...fields }) })

const grow = (into: EventSink, index: number, delta: JsonObject): void =>
  event(into, 'content_block_delta', { index, delta })

/**
 * Ends the block that grows. Thoughts get their keepsake as a signature, so the caller sends them back
 * unchanged.
 */
const close = (it: Writing, into: EventSink): void => {
  if (it.open === null) return
  const { kind, index } = it.open
  it.open = null
  if (kind === 'thinking') {
    const items = it.outline.splice(0)
    const signature = printKeepsake({ reasoning: it.thoughts, ...(items.length > 0 && { items }) }, it.seal)
    grow(into, index, { type: 'signature_delta', signature })
  }
  event(into, 'content_block_stop', { index })
}

/** Thoughts without words are a block of their own before what follows them. */
const keepOutline = (it: Writing, into: EventSink): void => {
  if (it.outline.length > 0) keep(it, into, { items: it.outline.splice(0) })
}

/** Begins a block and gives its index, from 0. */
const start = (it: Writing, into: EventSink, content_block: JsonObject): number => {
  event(into, 'content_block_start', { index: it.blocks, content_block })
  return it.blocks++
}

/** A block that needs no further pieces. */
const whole = (it: Writing, into: EventSink, block: JsonObject): void => {
  close(it, into)
  event(into, 'content_block_stop', { index: start(it, into, block) })
}

/** The index of the block of this kind that grows; another kind is ended first. */
const opened = (it: Writing, into: EventSink, kind: Kind, block: JsonObject): number => {
  if (it.open?.kind === kind) return it.open.index
  close(it, into)
  if (kind === 'text') keepOutline(it, into)
  it.open = { kind, index: start(it, into, block) }
  return it.open.index
}

const say = (it: Writing, into: EventSink, text: string): void => {
  if (text !== '') grow(into, opened(it, into, 'text', { type: 'text', text: '' }), { type: 'text_delta', text })
}

const think = (it: Writing, into: EventSink, thinking: string): void => {
  if (thinking === '') return
  if (it.open?.kind !== 'thinking') it.thoughts = ''
  it.thoughts += thinking
  const index = opened(it, into, 'thinking', { type: 'thinking', thinking: '', signature: '' })
  grow(into, index, { type: 'thinking_delta', thinking })
}

/** A block with its vendor's signature ends the thoughts that the stream has shown so far. */
const sign = (it: Writing, into: EventSink, block: JsonObject): void => {
  if (block['type'] !== 'thinking') return whole(it, into, block)
  const index = opened(it, into, 'thinking', { type: 'thinking', thinking: '', signature: '' })
  grow(into, index, { type: 'signature_delta', signature: block['signature'] })
  event(into, 'content_block_stop', { index })
  it.open = null
}

const keep = (it: Writing, into: EventSink, keepsake: Keepsake): void =>
  whole(it, into, { type: 'redacted_thinking', data: printKeepsake(keepsake, it.seal) })

/** A piece of a call. Throws UpstreamFailed for arguments of a call whose name never came. */
const call = (it: Writing, into: EventSink, part: ToolCallPart & JsonObject, at: number): void => {
  const { id, function: its } = part
  const number = part.index ?? at
  if (it.open?.call !== number) {
    if (its?.name === undefined) throw garbled('A piece of a call that has not begun, or has ended')
    const name = id ?? `call_${number}`
    if (part['extra_content'] != null) keep(it, into, { calls: { [name]: part['extra_content'] } })
    close(it, into)
    keepOutline(it, into)
    const index = start(it, into, { type: 'tool_use', id: name, name: its.name, input: {} })
    it.open = { kind: 'tool_use', index, call: number }
  }
  const json = its?.arguments ?? ''
  if (json !== '') grow(into, it.open.index, { type: 'input_json_delta', partial_json: json })
}

const begin = (it: Writing, into: EventSink, id: string): void => {
  const { model } = it
  it.begun = true
  it.started = true
  const empty = { content: [], stop_reason: null, stop_sequence: null, usage: usageOf(null) }
  event(into, 'message_start', { message: { id: idOf(id), type: 'message', role: 'assistant', model, ...empty } })
}

/** Events of the dialect go on as they came; what they leave open can still be gone on with by chunks. */
const relay = (it: Writing, into: EventSink, events: NativeEvents['events']): void => {
  it.begun = true
  for (const own of events) {
    const type = own.event ?? parseObject(own.data)?.['type']
    // Some servers begin twice, and clients of the dialect end at a second beginning.
    if (type === 'message_start' && it.started) continue
    it.started ||= type === 'message_start'
    if (type === 'content_block_start') {
      const { index, content_block } = parseObject(own.data) as unknown as Started
      it.open = isKind(content_block.type) ? { kind: content_block.type, index } : null
      it.blocks = index + 1
    } else if (type === 'content_block_stop') it.open = null
    else if (type === 'message_stop') it.stopped = true
    into.push(type === 'message_start' ? { ...own, data: underOurName(own.data, it.model) } : own)
  }
}
