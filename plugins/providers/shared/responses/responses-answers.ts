import { type JsonObject, isJsonObject } from '../../../../core/dialects/json-object.ts'
import { garbled, itemsIn, parseObject, toldFault } from '../../../shared/backend.ts'
import type { SseEvent } from '../../../shared/sse.ts'
import type { Clock } from '../../../../core/ports/platform.ts'
import type {
  Chunk,
  ChunkChoice,
  Completion,
  Message,
  ToolCall,
  WireEvents,
  WireUsage,
} from '../../../../core/ports/upstream.ts'
import { markedEvents, withNative } from '../event-items.ts'

type Items = readonly JsonObject[]

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Statuses of faults that a response tells by a word alone. */
const statuses: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  server_error: 500,
  server_is_overloaded: 503,
  slow_down: 503,
  vector_store_timeout: 504,
}

/** The word stays among the names, so that a refusal is known by it. */
const fault = (error: unknown) => {
  const { code, message, type, param } = isJsonObject(error) ? error : {}
  const status = statuses[textIn(code)] ?? statuses[textIn(type)]
  return toldFault({ code: status ?? null, message, type: status === undefined ? (code ?? type) : undefined, param })
}

/** The counts in the spelling of the common format; null where the backend gave none. */
export const usageOfResponses = (usage: unknown): WireUsage | null => {
  if (!isJsonObject(usage) || (usage['input_tokens'] ?? usage['output_tokens']) == null) return null
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details, ...rest } = usage
  const [prompt_tokens, completion_tokens] = [Number(input_tokens ?? 0), Number(output_tokens ?? 0)]
  return {
    ...rest,
    prompt_tokens,
    completion_tokens,
    total_tokens: Number(total_tokens ?? prompt_tokens + completion_tokens),
    ...(isJsonObject(input_tokens_details) && { prompt_tokens_details: input_tokens_details }),
    ...(isJsonObject(output_tokens_details) && { completion_tokens_details: output_tokens_details }),
  }
}

/** How an answer ended. Throws the fault that the response tells. */
const reasonOf = (response: JsonObject, called: boolean): string => {
  const { status, error, incomplete_details: details } = response
  if (status === 'failed' || error != null) throw fault(error)
  if (status === 'cancelled') throw garbled('The backend cancelled the answer')
  const reason = isJsonObject(details) ? details['reason'] : null
  if (reason === 'max_output_tokens') return 'length'
  if (reason === 'content_filter') return 'content_filter'
  return called ? 'tool_calls' : 'stop'
}

const headOf = ({ id, model, created_at, service_tier }: JsonObject, wanted: string, clock: Clock) => ({
  id: textIn(id),
  created: Number.isSafeInteger(created_at) ? (created_at as number) : Math.floor(clock.now() / 1000),
  model: typeof model === 'string' ? model : wanted,
  ...(typeof service_tier === 'string' && { service_tier }),
})

const callOf = ({ type, call_id, name, arguments: json, input }: JsonObject): JsonObject =>
  type === 'custom_tool_call'
    ? { id: call_id, type: 'custom', custom: { name, input: textIn(input) } }
    : { id: call_id, type: 'function', function: { name, arguments: textIn(json) } }

const isCall = ({ type }: JsonObject): boolean => type === 'function_call' || type === 'custom_tool_call'

/** Texts of summaries, each of which is a paragraph. */
const thoughtsOf = ({ summary, content }: JsonObject): string => {
  const summaries = itemsIn(summary).map(({ text }) => textIn(text))
  return (summaries.length > 0 ? summaries : itemsIn(content).map(({ text }) => textIn(text))).join('\n\n')
}

/** The dialect has flat what the common format nests. */
const annotationOf = ({ type, ...rest }: JsonObject): JsonObject => ({ type, [String(type)]: rest })

/**
 * An outline of an answer, which the next turn brings back: thoughts with their encrypted content, and before them what they
 * stand behind. What follows the last thought needs no entry, but for a message with a phase.
 */
const outline = () => {
  let before: JsonObject[] = []
  return {
    /** The entries that this item adds. */
    take(item: JsonObject): Items {
      const { type, call_id, phase } = item
      if (type === 'reasoning') {
        const entries = [...before, item]
        before = []
        return entries
      }
      if (isCall(item)) before.push({ type: 'function_call', call_id })
      else if (type === 'message' && typeof phase === 'string') return [{ type: 'message', phase }]
      else if (type === 'message') before.push({ type: 'message' })
      return []
    },
  }
}

/** Throws the fault that the body tells, and UpstreamFailed for an answer that is none. */
export const completionOf = (body: JsonObject, model: string, clock: Clock): Completion => {
  if (!Array.isArray(body['output'])) {
    if (body['error'] != null) throw fault(body['error'])
    throw garbled('No output in the answer')
  }
  const output = itemsIn(body['output'])
  const calls = output.filter(isCall).map(callOf) as unknown as readonly ToolCall[]
  const finish_reason = reasonOf(body, calls.length > 0)
  const parts = output.flatMap(({ type, content }) => (type === 'message' ? itemsIn(content) : []))
  const texts = parts.filter(({ type }) => type === 'output_text')
  const refusal = parts.map(({ refusal }) => textIn(refusal)).join('')
  const content = texts.map(({ text }) => textIn(text)).join('')
  const odds = texts.flatMap(({ logprobs }) => itemsIn(logprobs))
  const annotations = texts.flatMap((part) => itemsIn(part['annotations'])).map(annotationOf)
  const reasoning = output
    .filter(({ type }) => type === 'reasoning')
    .map(thoughtsOf)
    .filter(Boolean)
    .join('\n\n')
  const outlined = outline()
  const kept = output.flatMap((item) => outlined.take(item))
  const message: Message = {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(kept.length > 0 && { response_items: kept }),
    ...(annotations.length > 0 && { annotations }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const logprobs = odds.length > 0 ? { content: odds, refusal: null } : null
  const usage = usageOfResponses(body['usage'])
  return {
    ...headOf(body, model, clock),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason, logprobs }],
    ...(usage !== null && { usage }),
  }
}

/** The state of one stream. */
interface Reading {
  readonly model: string
  readonly clock: Clock
  /** The status of the answer. */
  readonly status: number
  head: ReturnType<typeof headOf>
  readonly outline: ReturnType<typeof outline>
  /** Calls by the place of their items: their numbers, and whether pieces of them came. */
  readonly calls: Map<unknown, { readonly number: number; grew: boolean }>
  begun: boolean
  /** Summaries of the thoughts so far, which are paragraphs. */
  summaries: number
}

/** Reads the events of one stream; with `native` their chunks carry the events as they came. */
const eventReader = (model: string, native: boolean, clock: Clock, status: number) => {
  const reading: Reading = {
    ...{ model, clock, status, head: headOf({}, model, clock), outline: outline() },
    ...{ calls: new Map(), begun: false, summaries: 0 },
  }
  const read = ({ data }: SseEvent, into: Chunk[]): boolean => readEvent(reading, data, into)
  return native ? withNative('responses', read) : read
}

const readEvent = (reading: Reading, data: string, into: Chunk[]): boolean => {
  if (data.startsWith('[DONE]')) return false
  const event = parseObject(data)
  if (event === null) throw garbled('A malformed event', reading.status)
  const { type, delta, item, response, output_index: at } = event
  switch (type) {
    case 'response.created':
      reading.head = headOf(isJsonObject(response) ? response : {}, reading.model, reading.clock)
      return false
    case 'response.output_item.added':
      return isJsonObject(item) && added(reading, item, at, into)
    case 'response.output_item.done':
      return isJsonObject(item) && finished(reading, item, at, into)
    case 'response.output_text.delta':
      return push(reading, into, { content: textIn(delta) }, oddsIn(event['logprobs']))
    case 'response.refusal.delta':
      return push(reading, into, { refusal: textIn(delta) })
    case 'response.reasoning_summary_part.added':
      return reading.summaries++ > 0 && push(reading, into, { reasoning_content: '\n\n' })
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return push(reading, into, { reasoning_content: textIn(delta) })
    case 'response.output_text.annotation.added':
      return (
        isJsonObject(event['annotation']) && push(reading, into, { annotations: [annotationOf(event['annotation'])] })
      )
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      return grew(reading, at, textIn(delta), type === 'response.custom_tool_call_input.delta', into)
    case 'response.completed':
    case 'response.incomplete':
      return ended(reading, isJsonObject(response) ? response : {}, into)
    case 'response.failed':
      throw fault(isJsonObject(response) ? response['error'] : null)
    case 'error':
      throw fault(isJsonObject(event['error']) ? event['error'] : event)
    default:
      // What a vendor adds to the dialect is no part of the common format.
      return false
  }
}

const push = (
  reading: Reading,
  into: Chunk[],
  delta: JsonObject,
  more: JsonObject = {},
  finish: string | null = null,
): false => {
  const role = reading.begun ? {} : { role: 'assistant' }
  reading.begun = true
  const choice = { index: 0, delta: { ...role, ...delta }, finish_reason: finish, ...more } as ChunkChoice
  into.push({ ...reading.head, object: 'chat.completion.chunk', choices: [choice] })
  return false
}

const oddsIn = (logprobs: unknown): JsonObject => {
  const content = itemsIn(logprobs)
  return content.length > 0 ? { logprobs: { content, refusal: null } } : {}
}

const added = (reading: Reading, item: JsonObject, at: unknown, into: Chunk[]): false => {
  if (!isCall(item)) {
    const kept = item['type'] === 'message' && typeof item['phase'] === 'string' ? reading.outline.take(item) : []
    return kept.length > 0 && push(reading, into, { response_items: kept })
  }
  const number = reading.calls.size
  reading.calls.set(at, { number, grew: false })
  const { arguments: _, input: __, ...head } = item
  return push(reading, into, { tool_calls: [{ index: number, ...callOf(head) }] })
}

const grew = (reading: Reading, at: unknown, piece: string, custom: boolean, into: Chunk[]): false => {
  const call = reading.calls.get(at)
  if (call === undefined) throw garbled('A piece of a call that has not begun', reading.status)
  if (piece === '') return false
  call.grew = true
  const own = custom ? { custom: { input: piece } } : { function: { arguments: piece } }
  return push(reading, into, { tool_calls: [{ index: call.number, ...own }] })
}

/** A call that grew by no pieces had its whole input at the end. */
const finished = (reading: Reading, item: JsonObject, at: unknown, into: Chunk[]): false => {
  const call = reading.calls.get(at)
  const whole = textIn(item['arguments'] ?? item['input'])
  if (isCall(item) && call !== undefined && !call.grew && whole !== '')
    grew(reading, at, whole, item['type'] === 'custom_tool_call', into)
  const isTold = item['type'] === 'message' && typeof item['phase'] === 'string'
  const kept = isTold ? [] : reading.outline.take(item)
  return kept.length > 0 && push(reading, into, { response_items: kept })
}

const ended = (reading: Reading, response: JsonObject, into: Chunk[]): true => {
  push(reading, into, {}, {}, reasonOf(response, reading.calls.size > 0))
  const usage = usageOfResponses(response['usage'])
  if (usage !== null) into.push({ ...reading.head, object: 'chat.completion.chunk', choices: [], usage })
  return true
}

/** The events of one stream. It ends well only behind the event that has the whole response. */
export const responsesEvents = (model: string, native: boolean, clock: Clock, status: number): WireEvents =>
  markedEvents(eventReader(model, native, clock, status), status)
