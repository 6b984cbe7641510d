import type { Answer, Clock } from '../../../../core/ports/platform.ts'
import type { Chunk, Completion, WireUsage } from '../../../../core/ports/upstream.ts'
import type { Asked } from './messages.ts'
import { garbled, parseObject, toldFault } from '../../../../core/dialects/backend.ts'
import { wireUsage } from '../../../../core/dialects/chat-completions.ts'
import type { SseEvent } from '../../../../core/dialects/sse.ts'
import { eventItems, withNative } from '../event-items.ts'

interface JsonObject {
  [field: string]: unknown
}

interface Block extends JsonObject {
  readonly type: string
  text?: string
  thinking?: string
  input?: unknown
  citations?: unknown[] | null
}

/** A block whose end has not come. */
interface OpenBlock {
  readonly block: Block
  /** Its place among the calls, for a call of the caller's tools. */
  readonly call: number | null
  /** The JSON of its input so far. */
  json: string
}

const reasons: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

const statuses: Readonly<Record<string, number>> = {
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

const fault = (error: unknown) => {
  const { type } = (error ?? {}) as { type?: string }
  return toldFault({ code: statuses[type ?? ''] ?? null, error })
}

const reasonOf = (reason: string, called: boolean): string =>
  reason === 'tool_use' && !called ? 'stop' : (reasons[reason] ?? 'stop')

/** Their input leaves out what the cache has to do with. */
const usageOf = (told: JsonObject): WireUsage => {
  const { input_tokens, output_tokens, output_tokens_details, ...rest } = present(told)
  const read = Number(rest['cache_read_input_tokens'] ?? 0)
  const thoughts = (output_tokens_details as JsonObject | undefined)?.['thinking_tokens']
  return {
    ...rest,
    ...wireUsage({
      input: Number(input_tokens ?? 0) + read + Number(rest['cache_creation_input_tokens'] ?? 0),
      output: Number(output_tokens ?? 0),
      cached: read,
      ...(typeof thoughts === 'number' && { reasoning: thoughts }),
    }),
  }
}

const present = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

/** Only what the prefix has not said yet. */
const trimmer = (overlap: string) => {
  let left = overlap
  return (text: string): string => {
    let at = 0
    while (at < text.length && left[at] === text[at]) at++
    left = at === text.length ? left.slice(at) : ''
    return text.slice(at)
  }
}

/** Thinking comes back as `reasoning_content`; whole blocks with their signatures too, since a later turn has to return them. */
const isThought = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking'

export const completionOf = (body: JsonObject, { model, tool, overlap }: Asked, clock: Clock): Completion => {
  if (body['type'] === 'error') throw fault(body['error'])
  const { id, type: _, role, content, model: own, stop_reason, stop_sequence, usage, ...rest } = body
  if (typeof stop_reason !== 'string' || !Array.isArray(content)) throw garbled('An answer that is not done')
  const blocks = content as Block[]
  const answers = (it: Block) => it.type === 'tool_use' && it['name'] === tool
  const texts = blocks.map((it) => (it.type === 'text' ? (it.text ?? '') : answers(it) ? JSON.stringify(it.input) : ''))
  const text = trimmer(overlap)(texts.join(''))
  const reasoning = blocks.map(({ thinking }) => thinking ?? '').join('')
  const calls = blocks.filter((it) => it.type === 'tool_use' && !answers(it))
  const thoughts = blocks.filter(isThought)
  const others = blocks.filter((it) => !isThought(it) && it.type !== 'text' && it.type !== 'tool_use')
  const citations = blocks.flatMap((it) => it.citations ?? [])
  const message = {
    role: String(role ?? 'assistant'),
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(thoughts.length > 0 && { thinking_blocks: thoughts }),
    ...(others.length > 0 && { content_blocks: others }),
    ...(citations.length > 0 && { citations }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ type: _, id, name, input, ...more }) => ({
        id: String(id),
        type: 'function',
        function: { name: String(name), arguments: JSON.stringify(input ?? {}) },
        ...present(more),
      })),
    }),
  }
  const finish_reason = reasonOf(stop_reason, calls.length > 0)
  return {
    ...present(rest),
    id: String(id),
    object: 'chat.completion',
    created: Math.floor(clock.now() / 1000),
    model: String(own ?? model),
    choices: [{ index: 0, message, finish_reason, native_finish_reason: stop_reason, ...present({ stop_sequence }) }],
    usage: usageOf((usage ?? {}) as JsonObject),
  }
}

/** Reads the events of one stream, however they are framed: adds what an event says to the chunks, and is true at the last one. */
export const eventReader = (
  { model, tool, overlap, native }: Asked,
  clock: Clock,
  status: number,
): ((event: SseEvent, into: Chunk[]) => boolean) => {
  let head = { id: '', object: 'chat.completion.chunk', created: Math.floor(clock.now() / 1000), model }
  const open = new Map<number, OpenBlock>()
  const trim = trimmer(overlap)
  let usage: JsonObject = {}
  let calls = 0
  let begun = false
  let done = false

  const chunk = (
    delta: JsonObject,
    more: JsonObject = {},
    finish_reason: string | null = null,
    rest: JsonObject = {},
  ): Chunk => {
    const role = begun ? {} : { role: 'assistant' }
    begun = true
    return { ...rest, ...head, choices: [{ index: 0, delta: { ...role, ...delta }, finish_reason, ...more }] }
  }
  const said = (text: string, into: Chunk[]) => {
    const news = trim(text)
    if (news !== '') into.push(chunk({ content: news }))
  }
  const called = (index: number, it: JsonObject, into: Chunk[]) => into.push(chunk({ tool_calls: [{ index, ...it }] }))

  const start = (block: Block, into: Chunk[]): OpenBlock => {
    const { type, id, name, input, ...more } = block
    if (type === 'text') said(block.text ?? '', into)
    if (type !== 'tool_use' || name === tool) return { block: { ...block }, call: null, json: '' }
    called(calls, { id, type: 'function', function: { name, arguments: '' }, ...present(more) }, into)
    return { block, call: calls++, json: '' }
  }

  const grow = (it: OpenBlock, delta: Block, into: Chunk[]) => {
    const { block } = it
    switch (delta.type) {
      case 'text_delta':
        return said(delta.text ?? '', into)
      case 'thinking_delta':
        block.thinking = (block.thinking ?? '') + delta.thinking
        into.push(chunk({ reasoning_content: delta.thinking }))
        return
      case 'signature_delta':
        block['signature'] = delta['signature']
        return
      case 'citations_delta':
        into.push(chunk({ citations: [delta['citation']] }))
        return
      case 'input_json_delta': {
        const json = String(delta['partial_json'] ?? '')
        if (json === '') return
        it.json += json
        if (it.call !== null) called(it.call, { function: { arguments: json } }, into)
        else if (block['name'] === tool) said(json, into)
      }
    }
  }

  const stop = ({ block, call, json }: OpenBlock, into: Chunk[]) => {
    if (isThought(block)) into.push(chunk({ thinking_blocks: [block] }))
    else if (call !== null)
      json === '' && called(call, { function: { arguments: JSON.stringify(block.input ?? {}) } }, into)
    else if (block.type === 'tool_use') json === '' && said(JSON.stringify(block.input ?? {}), into)
    else if (block.type !== 'text') {
      if (json !== '') block.input = parseObject(json)
      into.push(chunk({ content_blocks: [block] }))
    }
  }

  const begin = ({ id, type: _, role, content, model: own, stop_reason, stop_sequence, usage: told }: JsonObject) => {
    head = { ...head, id: String(id), model: String(own ?? model) }
    usage = { ...(told as JsonObject) }
  }

  const end = ({ delta, usage: told }: JsonObject, into: Chunk[]) => {
    usage = { ...usage, ...present((told ?? {}) as JsonObject) }
    const { stop_reason, stop_sequence, ...rest } = (delta ?? {}) as JsonObject
    if (typeof stop_reason !== 'string') return
    done = true
    const more = { native_finish_reason: stop_reason, ...present({ stop_sequence }) }
    into.push(chunk({}, more, reasonOf(stop_reason, calls > 0), present(rest)))
  }

  const opened = (index: unknown): OpenBlock => {
    const it = open.get(Number(index))
    if (!it) throw garbled('A piece of a block that has not begun', status)
    return it
  }

  const read = ({ data }: { readonly data: string }, into: Chunk[]): boolean => {
    const event = parseObject(data)
    if (event === null) throw garbled('A malformed event', status)
    switch (event['type']) {
      case 'message_start':
        begin((event['message'] ?? {}) as JsonObject)
        break
      case 'content_block_start':
        open.set(Number(event['index']), start(event['content_block'] as Block, into))
        break
      case 'content_block_delta':
        grow(opened(event['index']), event['delta'] as Block, into)
        break
      case 'content_block_stop':
        stop(opened(event['index']), into)
        open.delete(Number(event['index']))
        break
      case 'message_delta':
        end(event, into)
        break
      case 'message_stop':
        if (!done) throw garbled('The stream ended without a reason', status)
        into.push({ ...head, choices: [], usage: usageOf(usage) })
        return true
      case 'error':
        throw fault(event['error'])
    }
    // Whatever else they may come to send is no part of the answer.
    return false
  }

  return native === true ? withNative('messages', read) : read
}

/** The chunks of a stream of events. It ends well only behind `message_stop`. */
export const chunksOf = (answer: Answer, asked: Asked, clock: Clock): AsyncIterable<Chunk> =>
  eventItems<Chunk>(answer, clock, eventReader(asked, clock, answer.status), () => {
    throw garbled('The stream ended without its end mark', answer.status)
  })
