import type { Chunk, ChunkChoice, NativeEvents, ToolCallPart, WireUsage } from '../../../../core/ports/upstream.ts'
import { garbled, parseObject } from '../../backend.ts'
import type { EventSink } from '../../../../core/dialects/event.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { printKeepsake, type Keepsake, type Seal } from '../keepsake.ts'
import { type CallsInTurn, goesOn, noCalls, released, waits } from '../open-call.ts'
import { renamed } from '../../../../core/dialects/model-name.ts'
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
  /** Blocks of the dialect come one after the other. */
  readonly calls: CallsInTurn
  thoughts: string
  /** The outline of an answer by Responses, as far as no block has it yet. */
  outline: unknown[]
  ended: EndReasons
  usage: WireUsage | null
  /** The answer has a call of a tool. */
  called: boolean
  /** The last event went on as it came. */
  stopped: boolean
  /** The last chunk was a further text of the block that grows. */
  grows: boolean
}

/** Chunks as the events of the dialect: blocks one after the other, each with its index. */
export const messageEvents = (model: string, seal: Seal) => {
  const writing: Writing = {
    model,
    seal,
    begun: false,
    started: false,
    blocks: 0,
    open: null,
    calls: noCalls(),
    thoughts: '',
    outline: [],
    ended: { finish_reason: null },
    usage: null,
    called: false,
    stopped: false,
    grows: false,
  }
  return {
    take(chunk: Chunk, into: EventSink): void {
      writing.grows = writing.open?.kind === 'text'
      if (chunk.native?.dialect === 'messages') return relay(writing, into, chunk.native.events)
      // Azure tells of its filter before the answer, in a chunk without an id.
      if (!writing.begun && chunk.choices.length > 0) begin(writing, into, chunk.id)
      if (chunk.usage != null) writing.usage = chunk.usage
      for (const choice of chunk.choices) takeChoice(writing, into, choice)
    },

    again: (): boolean => writing.grows && writing.open?.kind === 'text',

    end(into: EventSink): void {
      if (writing.stopped) return
      if (!writing.begun) begin(writing, into, '')
      for (const { part, number, text } of released(writing.calls)) {
        beginCall(writing, into, part, number)
        growCall(writing, into, text)
      }
      close(writing, into)
      keepOutline(writing, into)
      event(into, 'message_delta', { delta: endOf(writing.ended, writing.called), usage: usageOf(writing.usage) })
      event(into, 'message_stop', {})
    },
  }
}

const none: readonly never[] = []

/** One chunk may bring several kinds of content. Their order here is the order of the dialect's own answers. */
const takeChoice = (writing: Writing, into: EventSink, choice: ChunkChoice): void => {
  const { delta } = choice
  const calls = (delta.tool_calls ?? none) as readonly (ToolCallPart & JsonObject)[]
  const first = goesOn(calls, writing.open?.call)
  if (first > 0) call(writing, into, calls[0]!, 0)
  think(writing, into, delta.reasoning_content ?? '')
  for (const block of (delta['thinking_blocks'] ?? none) as readonly JsonObject[]) sign(writing, into, block)
  if (Array.isArray(delta['response_items'])) writing.outline.push(...(delta['response_items'] as readonly unknown[]))
  for (const block of (delta['content_blocks'] ?? none) as readonly JsonObject[]) whole(writing, into, block)
  say(writing, into, delta.content ?? '')
  say(writing, into, typeof delta['refusal'] === 'string' ? delta['refusal'] : '')
  say(writing, into, imageText(delta['images']))
  for (const citation of (delta['citations'] ?? none) as readonly JsonObject[]) {
    grow(into, opened(writing, into, 'text', { type: 'text', text: '' }), { type: 'citations_delta', citation })
  }
  if (delta['extra_content'] != null) keep(writing, into, { extra: delta['extra_content'] })
  for (let at = first; at < calls.length; at++) call(writing, into, calls[at]!, at)
  if (choice.finish_reason !== null) {
    const { delta: _, ...end } = choice
    writing.ended = end
  }
}

const event = (into: EventSink, type: string, fields: JsonObject): void =>
  void into.push({ event: type, data: JSON.stringify({ type, ...fields }) })

const grow = (into: EventSink, index: number, delta: JsonObject): void =>
  event(into, 'content_block_delta', { index, delta })

/** Ends the block that grows. Thoughts get their keepsake as a signature, so the caller sends them back unchanged. */
const close = (writing: Writing, into: EventSink): void => {
  if (writing.open === null) return
  const { kind, index } = writing.open
  writing.open = null
  if (kind === 'thinking') {
    const items = writing.outline.splice(0)
    const signature = printKeepsake({ reasoning: writing.thoughts, ...(items.length > 0 && { items }) }, writing.seal)
    grow(into, index, { type: 'signature_delta', signature })
  }
  event(into, 'content_block_stop', { index })
}

/** Thoughts without words are a block of their own before what follows them. */
const keepOutline = (writing: Writing, into: EventSink): void => {
  if (writing.outline.length > 0) keep(writing, into, { items: writing.outline.splice(0) })
}

/** Begins a block and gives its index, from 0. */
const start = (writing: Writing, into: EventSink, content_block: JsonObject): number => {
  event(into, 'content_block_start', { index: writing.blocks, content_block })
  return writing.blocks++
}

/** A block that needs no further pieces. */
const whole = (writing: Writing, into: EventSink, block: JsonObject): void => {
  close(writing, into)
  event(into, 'content_block_stop', { index: start(writing, into, block) })
}

/** The index of the block of this kind that grows; another kind is ended first. */
const opened = (writing: Writing, into: EventSink, kind: Kind, block: JsonObject): number => {
  if (writing.open?.kind === kind) return writing.open.index
  close(writing, into)
  if (kind === 'text') keepOutline(writing, into)
  writing.open = { kind, index: start(writing, into, block) }
  return writing.open.index
}

const say = (writing: Writing, into: EventSink, text: string): void => {
  if (text !== '') grow(into, opened(writing, into, 'text', { type: 'text', text: '' }), { type: 'text_delta', text })
}

const think = (writing: Writing, into: EventSink, thinking: string): void => {
  if (thinking === '') return
  if (writing.open?.kind !== 'thinking') writing.thoughts = ''
  writing.thoughts += thinking
  const index = opened(writing, into, 'thinking', { type: 'thinking', thinking: '', signature: '' })
  grow(into, index, { type: 'thinking_delta', thinking })
}

/** A block with its vendor's signature ends the thoughts that the stream has shown so far. */
const sign = (writing: Writing, into: EventSink, block: JsonObject): void => {
  if (block['type'] !== 'thinking') return whole(writing, into, block)
  const index = opened(writing, into, 'thinking', { type: 'thinking', thinking: '', signature: '' })
  grow(into, index, { type: 'signature_delta', signature: block['signature'] })
  event(into, 'content_block_stop', { index })
  writing.open = null
}

const keep = (writing: Writing, into: EventSink, keepsake: Keepsake): void =>
  whole(writing, into, { type: 'redacted_thinking', data: printKeepsake(keepsake, writing.seal) })

/** A piece of a call. Throws UpstreamFailed for arguments of a call whose name never came. */
const call = (writing: Writing, into: EventSink, part: ToolCallPart & JsonObject, at: number): void => {
  const { open, calls } = writing
  const number = part.index ?? at
  const text = part.function?.arguments ?? ''
  if (open?.call !== number) {
    if (part.function?.name === undefined && text === '') return
    if (waits(calls, { part, number, text }, open?.call !== undefined)) return
    beginCall(writing, into, part, number)
  }
  growCall(writing, into, text)
}

const beginCall = (writing: Writing, into: EventSink, part: ToolCallPart & JsonObject, number: number): void => {
  const { id = `call_${number}`, function: called } = part
  if (called?.name === undefined) throw garbled('A piece of a call that has not begun, or has ended')
  if (part['extra_content'] != null) keep(writing, into, { calls: { [id]: part['extra_content'] } })
  close(writing, into)
  keepOutline(writing, into)
  const index = start(writing, into, { type: 'tool_use', id, name: called.name, input: {} })
  writing.open = { kind: 'tool_use', index, call: number }
  writing.calls.grown = ''
  writing.called = true
}

const growCall = ({ open, calls }: Writing, into: EventSink, json: string): void => {
  if (json === '' || open === null) return
  calls.grown += json
  grow(into, open.index, { type: 'input_json_delta', partial_json: json })
}

const begin = (writing: Writing, into: EventSink, id: string): void => {
  const { model } = writing
  writing.begun = true
  writing.started = true
  const empty = { content: [], stop_reason: null, stop_sequence: null, usage: usageOf(null) }
  event(into, 'message_start', { message: { id: idOf(id), type: 'message', role: 'assistant', model, ...empty } })
}

/** Events of the dialect go on as they came; what they leave open can still be gone on with by chunks. */
const relay = (writing: Writing, into: EventSink, events: NativeEvents['events']): void => {
  writing.begun = true
  for (const own of events) {
    const type = own.event ?? parseObject(own.data)?.['type']
    // Some servers begin twice, and clients of the dialect end at a second beginning.
    if (type === 'message_start' && writing.started) continue
    writing.started ||= type === 'message_start'
    if (type === 'content_block_start') {
      const { index, content_block } = parseObject(own.data) as unknown as Started
      writing.open = isKind(content_block.type) ? { kind: content_block.type, index } : null
      writing.blocks = index + 1
    } else if (type === 'content_block_stop') writing.open = null
    else if (type === 'message_stop') writing.stopped = true
    into.push(type === 'message_start' ? { ...own, data: underOurName(own.data, writing.model) } : own)
  }
}
