import type { Chunk, ToolCallPart, WireUsage } from '../../ports/upstream.ts'
import { garbled } from '../backend.ts'
import type { EventSink } from '../event.ts'
import type { Fields } from '../fields.ts'
import { printKeepsake, type Keepsake, type Seal } from '../keepsake.ts'
import { drawn, endOf, idOf, usageOf, type Ended } from './answer.ts'

type Kind = 'text' | 'thinking' | 'tool_use'

/** Chunks as the events of the dialect: blocks one after the other, each with its index. */
export const messageEvents = (model: string, seal: Seal) => {
  let begun = false
  let blocks = 0
  /** The block that grows; a call's has the number that its pieces bear. */
  let open: { readonly kind: Kind; readonly index: number; readonly call?: number } | null = null
  let thoughts = ''
  let ended: Ended = { finish_reason: null }
  let usage: WireUsage | null = null

  const event = (into: EventSink, type: string, fields: Fields): void =>
    void into.push({ event: type, data: JSON.stringify({ type, ...fields }) })

  const grow = (into: EventSink, index: number, delta: Fields): void =>
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

  const start = (into: EventSink, content_block: Fields): number => {
    event(into, 'content_block_start', { index: blocks, content_block })
    return blocks++
  }

  const whole = (into: EventSink, block: Fields): void => {
    close(into)
    event(into, 'content_block_stop', { index: start(into, block) })
  }

  const opened = (into: EventSink, kind: Kind, block: Fields): number => {
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

  /** A block with the signature of its vendor ends the thoughts that were told so far. */
  const sign = (into: EventSink, block: Fields): void => {
    if (block['type'] !== 'thinking') return whole(into, block)
    const index = opened(into, 'thinking', { type: 'thinking', thinking: '', signature: '' })
    grow(into, index, { type: 'signature_delta', signature: block['signature'] })
    event(into, 'content_block_stop', { index })
    open = null
  }

  const keep = (into: EventSink, keepsake: Keepsake): void =>
    whole(into, { type: 'redacted_thinking', data: printKeepsake(keepsake, seal) })

  const call = (into: EventSink, it: ToolCallPart & Fields, at: number): void => {
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

  return {
    take(chunk: Chunk, into: EventSink): void {
      if (!begun) begin(into, chunk.id)
      if (chunk.usage != null) usage = chunk.usage
      for (const { delta, finish_reason, ...more } of chunk.choices) {
        think(into, delta.reasoning_content ?? '')
        for (const block of (delta['thinking_blocks'] ?? []) as readonly Fields[]) sign(into, block)
        for (const block of (delta['content_blocks'] ?? []) as readonly Fields[]) whole(into, block)
        say(into, delta.content ?? '')
        say(into, typeof delta['refusal'] === 'string' ? delta['refusal'] : '')
        say(into, drawn(delta['images']))
        for (const citation of (delta['citations'] ?? []) as readonly Fields[]) {
          grow(into, opened(into, 'text', { type: 'text', text: '' }), { type: 'citations_delta', citation })
        }
        for (const [at, it] of (delta.tool_calls ?? []).entries()) call(into, it as ToolCallPart & Fields, at)
        if (delta['extra_content'] != null) keep(into, { extra: delta['extra_content'] })
        if (finish_reason !== null) ended = { finish_reason, ...(more as Fields) }
      }
    },

    end(into: EventSink): void {
      if (!begun) begin(into, '')
      close(into)
      event(into, 'message_delta', { delta: endOf(ended), usage: usageOf(usage) })
      event(into, 'message_stop', {})
    },
  }
}
