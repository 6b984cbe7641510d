import { randomUUID } from 'node:crypto'
import { exact } from '../../long-numbers.ts'
import type { Completion, Message, Native, ToolCall, WireUsage } from '../../../../core/ports/upstream.ts'
import { garbled, itemsIn, parseExact } from '../../backend.ts'
import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { keepsakeOf, printKeepsake, type Seal } from '../keepsake.ts'
import { wholeCalls } from '../whole-calls.ts'

const reasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** Reasons of the dialect that the common format has no word for. */
const own = new Set(['stop_sequence', 'pause_turn', 'refusal', 'model_context_window_exceeded', 'compaction'])

/** How a choice ended, with the words of the backend itself where those are known. */
export interface EndReasons {
  readonly finish_reason: string | null
  readonly native_finish_reason?: unknown
  readonly stop_sequence?: unknown
}

/** The end in the words of the dialect. A reason that nothing maps to counts as the end of a turn. */
export const endOf = (
  { finish_reason, native_finish_reason: native, stop_sequence }: EndReasons,
  hasCalled: boolean,
): JsonObject => ({
  stop_reason: typeof native === 'string' && own.has(native) ? native : reasonOf(finish_reason, hasCalled),
  stop_sequence: stop_sequence ?? null,
})

/** Backends end an answer by `stop` behind a call that was forced, and clients run no tool behind the end of a turn. */
const reasonOf = (finish: string | null, hasCalled: boolean): string => {
  const reason = reasons[finish ?? 'stop'] ?? 'end_turn'
  return hasCalled && reason === 'end_turn' ? 'tool_use' : reason
}

/** The dialect's count of input leaves out tokens that a cache read or wrote. */
export const usageOf = (usage: WireUsage | null | undefined): JsonObject => {
  if (usage == null) return { input_tokens: 0, output_tokens: 0 }
  const {
    prompt_tokens,
    completion_tokens,
    total_tokens: _,
    prompt_tokens_details,
    completion_tokens_details,
    cache_read_input_tokens,
    cache_creation_input_tokens: created,
    cache_creation,
    service_tier,
    server_tool_use,
  } = usage
  const { cached_tokens } = (prompt_tokens_details ?? {}) as JsonObject
  const { reasoning_tokens } = (completion_tokens_details ?? {}) as JsonObject
  const read = Number(cache_read_input_tokens ?? cached_tokens ?? 0)
  return {
    input_tokens: Math.max(0, Number(prompt_tokens ?? 0) - read - Number(created ?? 0)),
    cache_creation_input_tokens: Number(created ?? 0),
    cache_read_input_tokens: read,
    output_tokens: Number(completion_tokens ?? 0),
    ...(reasoning_tokens !== undefined && { output_tokens_details: { thinking_tokens: Number(reasoning_tokens) } }),
    ...(cache_creation != null && { cache_creation }),
    ...(server_tool_use != null && { server_tool_use }),
    ...(typeof service_tier === 'string' && { service_tier }),
  }
}

/** An id that begins as the dialect’s own do. Characters outside of its alphabet become `_`. Some backends give none. */
export const idOf = (told: unknown): string => {
  const id = typeof told === 'string' && told !== '' ? told : randomUUID()
  return id.startsWith('msg_') ? id : `msg_${id.replace(/[^\w-]/g, '_')}`
}

/** An image that the model drew, as text: the dialect's answers have no place for it. */
export const imageText = (images: unknown): string =>
  itemsIn(images)
    .map((image) => (image['image_url'] as JsonObject | undefined)?.['url'])
    .filter((url) => typeof url === 'string')
    .map((url) => `![](${url})`)
    .join('\n')

/** The whole answer. Throws UpstreamFailed for a call whose arguments are no JSON object. */
export const messageOf = (completion: Completion, model: string, seal: Seal, native?: Native): JsonObject => {
  if (native?.dialect === 'messages') return { ...native.body, content: itemsIn(native.body['content']), model }
  const [choice] = completion.choices
  if (choice === undefined) throw garbled('No choice in the answer')
  const calls = wholeCalls(choice.message.tool_calls, choice.finish_reason)
  return {
    id: idOf(completion.id),
    type: 'message',
    role: 'assistant',
    model,
    content: blocksOf(choice.message, calls, seal),
    ...endOf(choice, calls.length > 0),
    usage: usageOf(completion.usage),
  }
}

const blocksOf = (message: Message, calls: readonly ToolCall[], seal: Seal): readonly JsonObject[] => {
  const { content, thinking_blocks, content_blocks, citations, refusal, images, reasoning_content: thinking } = message
  const texts = (typeof content === 'string' ? content : '') + (typeof refusal === 'string' ? refusal : '')
  const text = texts + imageText(images)
  const signed = Array.isArray(thinking_blocks)
  const keepsake = signed ? null : keepsakeOf(message)
  const token = keepsake === null ? '' : printKeepsake(keepsake, seal)
  const thoughts = typeof thinking === 'string' && thinking !== '' && !signed
  const blocks: JsonObject[] = [...itemsIn(thinking_blocks)]
  if (thoughts) blocks.push({ type: 'thinking', thinking, signature: token })
  else if (token !== '') blocks.push({ type: 'redacted_thinking', data: token })
  if (Array.isArray(content_blocks)) for (const block of content_blocks as readonly JsonObject[]) blocks.push(block)
  if (text !== '') blocks.push(Array.isArray(citations) ? { type: 'text', text, citations } : { type: 'text', text })
  for (const [number, { id = `call_${number}`, function: called }] of calls.entries())
    blocks.push({ type: 'tool_use', id, name: called.name, input: inputOf(called.arguments) })
  return blocks
}

const inputOf = (json: string): unknown => {
  const input = parseExact(json || '{}')
  if (!isJsonObject(input)) throw garbled('The arguments of a tool call are not a JSON object')
  return exact(input)
}
