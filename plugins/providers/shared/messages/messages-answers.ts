import { print } from '../../../../core/dialects/json.ts'
import { type JsonObject, isJsonObject } from '../../../../core/dialects/json-object.ts'
import { exact, keepDigits } from '../../../shared/long-numbers.ts'
import type { Clock } from '../../../../core/ports/platform.ts'
import type { Chunk, Completion, WireEvents, WireUsage } from '../../../../core/ports/upstream.ts'
import type { Asked } from './messages.ts'
import { garbled, itemsIn, parseObject, toldFault } from '../../../shared/backend.ts'
import { wireUsage } from '../../../../core/dialects/chat-completions.ts'
import type { SseEvent } from '../../../shared/sse.ts'
import { countsSoFar } from '../counts-so-far.ts'
import { markedEvents, withNative } from '../event-items.ts'

interface Block extends JsonObject {
  readonly type: string
  text?: string
  thinking?: string
  input?: unknown
  signature?: unknown
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

/** HTTP statuses by the types of faults, for faults inside a stream of status 200. */
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

/** The gateway's own tool is no call to the caller, so its answer simply stops. */
const reasonOf = (reason: string, called: boolean): string =>
  reason === 'tool_use' && !called ? 'stop' : (reasons[reason] ?? 'stop')

/** Their input leaves out what the cache has to do with. Without counts there are none here, so that they are guessed. */
const usageOf = (told: JsonObject): WireUsage => {
  const { input_tokens, output_tokens, output_tokens_details, ...rest } = present(told)
  if ((input_tokens ?? output_tokens) === undefined) return rest as WireUsage
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

/** The usage of a line of a batch's results that succeeded. */
export const usedOfMessages = ({ result }: JsonObject): WireUsage | null => {
  const { type, message } = (result ?? {}) as { readonly type?: unknown; readonly message?: JsonObject }
  return type === 'succeeded' ? usageOf((message?.['usage'] ?? {}) as JsonObject) : null
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

/** Throws the fault that the body tells, and UpstreamFailed for an answer that is not done. */
export const completionOf = (body: JsonObject, { model, tool, overlap }: Asked, clock: Clock): Completion => {
  if (body['type'] === 'error') throw fault(body['error'])
  const { id, type: _, role, content, model: own, stop_reason, stop_sequence, usage, ...rest } = body
  if (typeof stop_reason !== 'string' || !Array.isArray(content)) throw garbled('An answer that is not done')
  const blocks = itemsIn(content) as readonly Block[]
  const answers = (block: Block) => block.type === 'tool_use' && block['name'] === tool
  const texts = blocks.map((block) =>
    block.type === 'text' ? (block.text ?? '') : answers(block) ? print(exact(block.input)) : '',
  )
  const text = trimmer(overlap)(texts.join(''))
  const reasoning = blocks.map(({ thinking }) => thinking ?? '').join('')
  const calls = blocks.filter((block) => block.type === 'tool_use' && !answers(block))
  const thoughts = blocks.filter(isThought)
  const others = blocks.filter((block) => !isThought(block) && block.type !== 'text' && block.type !== 'tool_use')
  const citations = blocks.flatMap((block) => block.citations ?? [])
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
        function: { name: String(name), arguments: print(exact(input ?? {})) },
        ...present(more),
      })),
    }),
  }
  const finish_reason = reasonOf(stop_reason, calls.length > 0)
  return {
    ...present(rest),
    id: String(id ?? ''),
    object: 'chat.completion',
    created: Math.floor(clock.now() / 1000),
    model: String(own ?? model),
    choices: [{ index: 0, message, finish_reason, native_finish_reason: stop_reason, ...present({ stop_sequence }) }],
    usage: usageOf((usage ?? {}) as JsonObject),
  }
}

/** The state of one stream. */
interface Reading {
  readonly request: Asked
  /** The status of the answer. */
  readonly status: number
  readonly trim: (text: string) => string
  /** The members that every chunk has. */
  head: Pick<Chunk, 'id' | 'object' | 'created' | 'model'>
  readonly open: Map<number, OpenBlock>
  usage: JsonObject
  /** Calls of the caller's tools so far. */
  calls: number
  begun: boolean
  /** The reason of the end is there. */
  done: boolean
}

/** Reads the events of one stream, however they are framed: adds what an event says to the chunks, and is true at the last one. */
export const eventReader = (
  request: Asked,
  clock: Clock,
  status: number,
): ((event: SseEvent, into: Chunk[]) => boolean) => {
  const created = Math.floor(clock.now() / 1000)
  const reading: Reading = {
    request,
    status,
    trim: trimmer(request.overlap),
    head: { id: '', object: 'chat.completion.chunk', created, model: request.model },
    open: new Map(),
    usage: {},
    calls: 0,
    begun: false,
    done: false,
  }
  const read = ({ data }: SseEvent, into: Chunk[]): boolean => readEvent(reading, data, into)
  if (request.native !== true) return read
  const relay = withNative('messages', read)
  return (event, into) => (isRepeated(reading, event) ? false : relay(event, into))
}

/** Some servers send the head of an answer twice, which stock clients refuse. */
const isRepeated = ({ head, open, begun }: Reading, { data }: SseEvent): boolean =>
  head.id !== '' && !begun && open.size === 0 && /^\s*{\s*"type"\s*:\s*"message_start"/.test(data)

const readEvent = (reading: Reading, data: string, into: Chunk[]): boolean => {
  const event = parseObject(data)
  if (event === null) throw garbled('A malformed event', reading.status)
  const { type } = event
  // Blocks of calls may stand whole in both.
  if (type === 'content_block_start' || type === 'message_start') keepDigits(event, data)
  switch (type) {
    case 'message_start':
      begin(reading, (event['message'] ?? {}) as JsonObject, into)
      break
    case 'content_block_start':
      reading.open.set(Number(event['index']), start(reading, event['content_block'] as Block, into))
      break
    case 'content_block_delta':
      grow(reading, opened(reading, event['index']), (event['delta'] ?? {}) as Block, into)
      break
    case 'content_block_stop':
      stop(reading, opened(reading, event['index']), into)
      reading.open.delete(Number(event['index']))
      break
    case 'message_delta':
      end(reading, event, into)
      break
    case 'message_stop':
      if (!reading.done) throw garbled('The stream ended without a reason', reading.status)
      into.push({ ...reading.head, choices: [], usage: usageOf(reading.usage) })
      return true
    case 'error':
      throw fault(event['error'])
  }
  // Whatever else they may come to send is no part of the answer.
  return false
}

/** The first chunk names the role. */
const chunkOf = (
  reading: Reading,
  delta: JsonObject,
  more: JsonObject = {},
  finish_reason: string | null = null,
  rest: JsonObject = {},
): Chunk => {
  const role = reading.begun ? {} : { role: 'assistant' }
  // The head of an answer has the counts of the prompt, and its end those of the whole.
  const counted = reading.begun && finish_reason === null ? {} : countsSoFar(usageOf(reading.usage))
  reading.begun = true
  const choice = { index: 0, delta: { ...role, ...delta }, finish_reason, ...more }
  return { ...rest, ...reading.head, ...counted, choices: [choice] }
}

const tell = (reading: Reading, text: string, into: Chunk[]): void => {
  const news = reading.trim(String(text))
  if (news !== '') into.push(chunkOf(reading, { content: news }))
}

const called = (reading: Reading, index: number, call: JsonObject, into: Chunk[]): void =>
  void into.push(chunkOf(reading, { tool_calls: [{ index, ...call }] }))

/**
 * A head may hold blocks already, and the end, where code of the vendor called a tool. Throws UpstreamFailed for a second answer
 * behind the beginning of the first one: they don't belong together.
 */
const begin = (reading: Reading, message: JsonObject, into: Chunk[]): void => {
  const { id, model: own, usage: told, content, stop_reason } = message
  if (reading.begun || reading.open.size > 0) throw garbled('A second answer in the stream', reading.status)
  reading.head = { ...reading.head, id: String(id ?? ''), model: String(own ?? reading.request.model) }
  reading.usage = { ...(told as JsonObject) }
  for (const block of itemsIn(content) as readonly Block[]) stop(reading, start(reading, block, into), into)
  if (typeof stop_reason === 'string') end(reading, { delta: { stop_reason } }, into)
}

const start = (reading: Reading, block: Block, into: Chunk[]): OpenBlock => {
  if (!isJsonObject(block)) throw garbled('A block that is none', reading.status)
  const { type, id, name, input: _, ...more } = block
  if (type === 'text') tell(reading, block.text ?? '', into)
  if (type !== 'tool_use' || name === reading.request.tool) return { block: { ...block }, call: null, json: '' }
  called(reading, reading.calls, { id, type: 'function', function: { name, arguments: '' }, ...present(more) }, into)
  return { block, call: reading.calls++, json: '' }
}

const opened = ({ open, status }: Reading, index: unknown): OpenBlock => {
  const grown = open.get(Number(index))
  if (!grown) throw garbled('A piece of a block that has not begun', status)
  return grown
}

const grow = (reading: Reading, growing: OpenBlock, delta: Block, into: Chunk[]): void => {
  const { block } = growing
  switch (delta.type) {
    case 'text_delta':
      return tell(reading, delta.text ?? '', into)
    case 'thinking_delta':
      block.thinking = (block.thinking ?? '') + delta.thinking
      into.push(chunkOf(reading, { reasoning_content: delta.thinking }))
      return
    case 'signature_delta':
      block.signature = delta.signature
      return
    case 'citations_delta':
      into.push(chunkOf(reading, { citations: [delta['citation']] }))
      return
    case 'input_json_delta': {
      const json = String(delta['partial_json'] ?? '')
      if (json === '') return
      growing.json += json
      if (growing.call !== null) called(reading, growing.call, { function: { arguments: json } }, into)
      else if (block['name'] === reading.request.tool) tell(reading, json, into)
    }
  }
}

/** A block that grew by no pieces of input had its whole input at the start. */
const stop = (reading: Reading, { block, call, json }: OpenBlock, into: Chunk[]): void => {
  if (isThought(block)) into.push(chunkOf(reading, { thinking_blocks: [block] }))
  else if (call !== null)
    json === '' && called(reading, call, { function: { arguments: print(exact(block.input ?? {})) } }, into)
  else if (block.type === 'tool_use') json === '' && tell(reading, print(exact(block.input ?? {})), into)
  else if (block.type !== 'text') {
    if (json !== '') block.input = parseObject(json)
    into.push(chunkOf(reading, { content_blocks: [block] }))
  }
}

const end = (reading: Reading, { delta, usage: told }: JsonObject, into: Chunk[]): void => {
  reading.usage = { ...reading.usage, ...present((told ?? {}) as JsonObject) }
  const { stop_reason, stop_sequence, ...rest } = (delta ?? {}) as JsonObject
  if (typeof stop_reason !== 'string') return
  reading.done = true
  const more = { native_finish_reason: stop_reason, ...present({ stop_sequence }) }
  into.push(chunkOf(reading, {}, more, reasonOf(stop_reason, reading.calls > 0), present(rest)))
}

/** The events of one stream. It ends well only behind `message_stop`. */
export const messagesEvents = (request: Asked, clock: Clock, status: number): WireEvents =>
  markedEvents(eventReader(request, clock, status), status)
