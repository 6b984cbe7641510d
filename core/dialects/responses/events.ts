import type { GatewayError } from '../../errors.ts'
import type { Chunk, ChunkChoice, Completion, ToolCallPart, WireUsage } from '../../ports/upstream.ts'
import { garbled } from '../backend.ts'
import type { DialectEvent, EventSink } from '../event.ts'
import type { JsonObject } from '../json-object.ts'
import type { Seal } from '../keepsake.ts'
import { imageText } from '../messages/answer.ts'
import { memoryItemOf } from './memory.ts'
import { knownTools } from './namespaces.ts'
import {
  callItem,
  messageItem,
  reasoningItem,
  type OpenItem,
  type EventReceiver,
  type ResponseEvents,
} from './output.ts'
import { endOf, failureOf, headOf, usageOf } from './resource.ts'
import type { ResponsesRequest } from './shape.ts'

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

/** Chunks as the events of the dialect, numbered, one item after the other. */
export const responseEvents = ({ request, model, seal, created, now, id }: ResponseToWrite) => {
  const head = headOf(request, model, id('resp'), created)
  const known = knownTools(request)
  const output: JsonObject[] = []
  let places = 0
  let sequence = 0
  let begun = false
  let thoughts: ReturnType<typeof reasoningItem> | null = null
  let said: ReturnType<typeof messageItem> | null = null
  /** The call that grows, with the number that its pieces bear. */
  let calling: (ReturnType<typeof callItem> & { readonly number: number }) | null = null
  let finish: string | null = null
  let usage: WireUsage | null = null

  const tell: ResponseEvents = {
    seal,
    id,
    event: (into, type, fields) =>
      void into?.push({ event: type, data: JSON.stringify({ type, sequence_number: sequence++, ...fields }) }),
    add(into, item) {
      const output_index = places++
      tell.event(into, 'response.output_item.added', { output_index, item })
      return output_index
    },
    finish(into, output_index, item) {
      output[output_index] = item
      tell.event(into, 'response.output_item.done', { output_index, item })
    },
  }

  const begin = (into: EventReceiver): void => {
    if (begun) return
    begun = true
    tell.event(into, 'response.created', { response: head })
    tell.event(into, 'response.in_progress', { response: head })
  }

  /** Ends the item that grows, unless it is of this kind. */
  const settle = (into: EventReceiver, on: 'thoughts' | 'said' | null): void => {
    const ending: readonly (OpenItem | null)[] = [
      on === 'thoughts' ? null : thoughts,
      on === 'said' ? null : said,
      calling,
    ]
    if (on !== 'thoughts') thoughts = null
    if (on !== 'said') said = null
    calling = null
    for (const it of ending) it?.close(into)
  }

  const thinking = (into: EventReceiver) => {
    settle(into, 'thoughts')
    return (thoughts ??= reasoningItem(tell, into))
  }
  const saying = (into: EventReceiver) => {
    settle(into, 'said')
    return (said ??= messageItem(tell, into))
  }

  const take = (into: EventReceiver, { delta, logprobs }: ChunkChoice): void => {
    const { content, reasoning_content, refusal, thinking_blocks, extra_content, annotations } = delta
    if (reasoning_content) thinking(into).think(into, reasoning_content)
    if (Array.isArray(thinking_blocks) && thinking_blocks.length > 0) thinking(into).sign(thinking_blocks)
    const text = (content ?? '') + imageText(delta['images'])
    if (text !== '') saying(into).say(into, text, oddsOf(logprobs))
    for (const it of (annotations ?? []) as readonly JsonObject[]) saying(into).annotate(into, annotationOf(it))
    if (typeof refusal === 'string' && refusal !== '') saying(into).refuse(into, refusal)
    for (const [at, it] of (delta.tool_calls ?? []).entries()) grow(into, it as ToolCallPart & JsonObject, at)
    if (extra_content != null) thinking(into).keep(extra_content)
  }

  const grow = (into: EventReceiver, it: ToolCallPart & JsonObject, at: number): void => {
    const number = it.index ?? at
    const { name, arguments: json = '' } = it.function ?? {}
    if (calling?.number !== number) {
      if (name === undefined) throw garbled('A piece of a call that has not begun, or has ended')
      const call_id = it.id ?? id('call')
      if (it['extra_content'] != null) thinking(into).keepFor(call_id, it['extra_content'])
      settle(into, null)
      const tool = known.get(name) ?? { name, namespace: null, custom: false }
      calling = { ...callItem(tell, into, call_id, tool), number }
    }
    calling.grow(into, json)
  }

  const ended = (into: EventReceiver): JsonObject => {
    begin(into)
    settle(into, null)
    if (request.store !== false && output.some(({ type }) => type !== 'function_call')) {
      const memory = memoryItemOf(output, seal)
      tell.finish(into, tell.add(into, memory), memory)
    }
    const end = endOf(finish)
    const response = { ...head, ...end, completed_at: now(), output, usage: usageOf(usage) }
    tell.event(into, `response.${end.status}`, { response })
    return response
  }

  const took = (chunk: Chunk, into: EventReceiver): void => {
    begin(into)
    if (chunk.usage != null) usage = chunk.usage
    for (const choice of chunk.choices) {
      take(into, choice)
      finish = choice.finish_reason ?? finish
    }
  }

  return {
    take: (chunk: Chunk, into: EventSink): void => took(chunk, into),
    end: (into: EventSink): void => void ended(into),
    /** The event that ends a broken stream. */
    broken(error: GatewayError): DialectEvent {
      const type = 'response.failed'
      const response = { ...head, status: 'failed', error: failureOf(error), output: output.filter(Boolean) }
      return { event: type, data: JSON.stringify({ type, sequence_number: sequence++, response }) }
    },
    /** The whole answer at once. */
    whole({ choices, ...completion }: Completion): JsonObject {
      const [choice] = choices
      if (choice === undefined) throw garbled('No choice in the answer')
      const { message, index, finish_reason, logprobs } = choice
      const tool_calls = message.tool_calls?.map((it, index) => ({ ...it, index }))
      const delta = { ...message, tool_calls } as ChunkChoice['delta']
      took({ ...completion, choices: [{ index, delta, finish_reason, logprobs }] } as Chunk, null)
      return ended(null)
    },
  }
}

const oddsOf = (logprobs: unknown): readonly unknown[] => {
  const { content } = (logprobs ?? {}) as { readonly content?: readonly JsonObject[] | null }
  return (content ?? []).map(({ token, logprob, bytes, top_logprobs }) => ({
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
