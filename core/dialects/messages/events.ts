import type { Chunk, NativeEvents, ToolCallPart, WireUsage } from '../../ports/upstream.ts'
import { garbled, parseObject } from '../backend.ts'
import type { EventSink } from '../event.ts'
import type { JsonObject } from '../json-object.ts'
import { printKeepsake, type Keepsake, type Seal } from '../keepsake.ts'
import { renamed } from '../rename-model.ts'
import { imageText, endOf, idOf, usageOf, type EndReasons } from './answer.ts'

type Kind = 'text' | 'thinking' | 'tool_use'

const isKind = (type: string): type is Kind => type === 'text' || type === 'thinking' || type === 'tool_use'

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

/** Chunks as the events of the dialect: blocks one after the other, each with its index. */
export const messageEvents = (model: string, seal: Seal) => {
  let begun = false
  let blocks = 0
  /** The block that grows; a call's has the number that its pieces bear. */
  let open: { readonly kind: Kind; readonly index: number; readonly call?: number } | null = null
  let thoughts = ''
  let ended: EndReasons = { finish_reason: null }
  let usage: WireUsage | null = null
  /** The last event went on as it came. */
  let stopped = false

  const event = (into: EventSink, type: string, fields: JsonObject): void =>
    void into.push({ event: type, data: JSON.stringify({ type, ...fields }) })

  const grow = (into: EventSink, index: number, delta: JsonObject): void =>
    event(into, 'content_block_delta', { index, delta })

  const close = (into: EventSink): void => {
    if (open === null) return
    const { kind, index } = open
    open = null
    if (kind === 'thinking') {
      const signature = printKeepsake({ reasoning: thoughts }, seal)
      grow(into, index, { type: 'signature_delta', signature })
    }
    event(into, 'content_block_stop', { index })
  }

  const start = (into: EventSink, content_block: JsonObject): number => {
    event(into, 'content_block_start', { index: blocks, content_block })
    return blocks++
  }

  const whole = (into: EventSink, block: JsonObject): void => {
    close(into)
    event(into, 'content_block_stop', { index: start(into, block) })
  }

  const opened = (into: EventSink, kind: Kind, block: JsonObject): number => {
    if (open?.kind === kind) return open.index
    close(into)
    open = { kind, index: start(into, block) }
    return open.index
  }

  const say = (into: EventSink, text: string): void => {
    if (text !== '') grow(into, opened(into, 'text', { type: 'text', text: '' }), { type: 'text_delta', text })
  }

  const think = (into: EventSink, thinking: string): void => {
    if (thinking === '') return
    if (open?.kind !== 'thinking') thoughts = ''
    thoughts += thinking
    const index = opened(into, 'thinking', { type: 'thinking', thinking: '', signature: '' })
    grow(into, index, { type: 'thinking_delta', thinking })
  }

  /** A block with its vendor's signature ends the thoughts that the stream has shown so far. */
  const sign = (into: EventSink, block: JsonObject): void => {
    if (block['type'] !== 'thinking') return whole(into, block)
    const index = opened(into, 'thinking', { type: 'thinking', thinking: '', signature: '' })
    grow(into, index, { type: 'signature_delta', signature: block['signature'] })
    event(into, 'content_block_stop', { index })
    open = null
  }

  const keep = (into: EventSink, keepsake: Keepsake): void =>
    whole(into, { type: 'redacted_thinking', data: printKeepsake(keepsake, seal) })

  const call = (into: EventSink, it: ToolCallPart & JsonObject, at: number): void => {
    const { id, function: its } = it
    const number = it.index ?? at
    if (open?.call !== number) {
      if (its?.name === undefined) throw garbled('A piece of a call that has not begun, or has ended')
      const name = id ?? `call_${number}`
      if (it['extra_content'] != null) keep(into, { calls: { [name]: it['extra_content'] } })
      close(into)
      const index = start(into, { type: 'tool_use', id: name, name: its.name, input: {} })
      open = { kind: 'tool_use', index, call: number }
    }
    const json = its?.arguments ?? ''
    if (json !== '') grow(into, open.index, { type: 'input_json_delta', partial_json: json })
  }

  const begin = (into: EventSink, id: string): void => {
    begun = true
    const empty = { content: [], stop_reason: null, stop_sequence: null, usage: usageOf(null) }
    event(into, 'message_start', { message: { id: idOf(id), type: 'message', role: 'assistant', model, ...empty } })
  }

  /** Events of the dialect go on as they came; what they leave open can still be gone on with by chunks. */
  const relay = (into: EventSink, events: NativeEvents['events']): void => {
    begun = true
    for (const it of events) {
      const type = it.event ?? parseObject(it.data)?.['type']
      if (type === 'content_block_start') {
        const { index, content_block } = parseObject(it.data) as unknown as Started
        open = isKind(content_block.type) ? { kind: content_block.type, index } : null
        blocks = index + 1
      } else if (type === 'content_block_stop') open = null
      else if (type === 'message_stop') stopped = true
      into.push(type === 'message_start' ? { ...it, data: underOurName(it.data, model) } : it)
    }
  }

  return {
    take(chunk: Chunk, into: EventSink): void {
      if (chunk.native?.dialect === 'messages') return relay(into, chunk.native.events)
      if (!begun) begin(into, chunk.id)
      if (chunk.usage != null) usage = chunk.usage
      for (const { delta, finish_reason, ...more } of chunk.choices) {
        think(into, delta.reasoning_content ?? '')
        for (const block of (delta['thinking_blocks'] ?? []) as readonly JsonObject[]) sign(into, block)
        for (const block of (delta['content_blocks'] ?? []) as readonly JsonObject[]) whole(into, block)
        say(into, delta.content ?? '')
        say(into, typeof delta['refusal'] === 'string' ? delta['refusal'] : '')
        say(into, imageText(delta['images']))
        for (const citation of (delta['citations'] ?? []) as readonly JsonObject[]) {
          grow(into, opened(into, 'text', { type: 'text', text: '' }), { type: 'citations_delta', citation })
        }
        for (const [at, it] of (delta.tool_calls ?? []).entries()) call(into, it as ToolCallPart & JsonObject, at)
        if (delta['extra_content'] != null) keep(into, { extra: delta['extra_content'] })
        if (finish_reason !== null) ended = { finish_reason, ...(more as JsonObject) }
      }
    },

    end(into: EventSink): void {
      if (stopped) return
      if (!begun) begin(into, '')
      close(into)
      event(into, 'message_delta', { delta: endOf(ended), usage: usageOf(usage) })
      event(into, 'message_stop', {})
    },
  }
}
