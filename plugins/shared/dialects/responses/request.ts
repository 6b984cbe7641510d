import type { ChatBody, Dialect } from '../../../../core/ports/upstream.ts'
import { type JsonObject, refuseMember } from '../../../../core/dialects/json-object.ts'
import { objectIn, refuseStoredState } from '../../members.ts'
import type { Seal } from '../keepsake.ts'
import { droppedMembers, type Drop, type TranslatedRequest } from '../translated-request.ts'
import { withMemory } from './memory.ts'
import { nativeOf } from './native.ts'
import type { InputItem, ResponsesRequest } from './shape.ts'
import type { ServerTools } from '../server-tools.ts'
import { toolsOf } from './tools.ts'
import { messagesOf } from './turns.ts'

/** State that only a vendor's store could resolve. */
const stores = ['previous_response_id', 'conversation', 'prompt'] as const

/** Members that go on under the same name. */
const same = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
] as const

/** Members that are carried over in another way, or that only shape the answer. */
const known = new Set<string>([
  ...same,
  ...stores,
  'model',
  'input',
  'instructions',
  'stream',
  'store',
  'background',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'top_logprobs',
  'reasoning',
  'text',
  'include',
  'metadata',
  'stream_options',
])

/** The request for a backend of this dialect. Throws BadRequest for state at the vendor and for what is malformed. */
export const translateResponses = (
  request: ResponsesRequest,
  to: Dialect | undefined,
  seal: Seal,
  serverTools?: ServerTools,
): TranslatedRequest => {
  for (const name of stores) if (request[name] != null) refuseStoredState(name)
  for (const name of ['background', 'store'] as const) if (request[name] === true) refuseStoredState(name)
  const { drop, paths } = droppedMembers()
  const { input, instructions } = request
  for (const name in request) {
    const value = request[name]
    const usual = name === 'truncation' && value === 'disabled'
    if (!known.has(name) && value != null && !usual) drop(name)
  }
  for (const name in request.reasoning)
    if (!readOfReasoning.has(name) && request.reasoning[name as keyof typeof request.reasoning] != null)
      drop(`reasoning.${name}`)
  const native = to === 'responses' ? nativeOf(request, serverTools, seal) : null
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user' as const, content: input }] : input
  const body: Record<string, unknown> & { messages: ChatBody['messages'] } = {
    messages: messagesOf(instructions ?? null, thoughtsWanted(request, withMemory(items, seal)), to, seal, drop),
  }
  if (native === null && body.messages.length === 0) refuseMember('input', 'Expected a message')
  for (const name of same) if (request[name] != null) body[name] = request[name]
  if (request.max_output_tokens != null) body['max_completion_tokens'] = request.max_output_tokens
  Object.assign(body, logprobsOf(request))
  if (request.reasoning?.effort != null) body['reasoning_effort'] = request.reasoning.effort
  Object.assign(body, toolsOf(request, drop, native === null ? serverTools : 'drop'), textOf(request, drop))
  return native === null ? { body, dropped: paths() } : { body, native: native.native, dropped: native.dropped }
}

/** The items without thoughts of earlier turns, where the caller wants those of the current turn alone. */
const thoughtsWanted = (
  { reasoning }: ResponsesRequest,
  items: readonly (InputItem | null)[],
): readonly (InputItem | null)[] => {
  if (reasoning?.['context'] !== 'current_turn') return items
  const turn = items.findLastIndex((item) => item?.role === 'user')
  return items.filter((item, at) => at > turn || item?.type !== 'reasoning')
}

/** Members of `reasoning` that are read, or that only shape the answer. */
const readOfReasoning = new Set(['effort', 'summary', 'generate_summary', 'context'])

/** Either member asks for log-probabilities, as clients of the dialect use both. */
const logprobsOf = ({ include, top_logprobs }: ResponsesRequest): JsonObject =>
  include?.includes('message.output_text.logprobs') || (top_logprobs ?? 0) > 0
    ? { logprobs: true, ...(top_logprobs != null && { top_logprobs }) }
    : {}

/** The wanted form of the answer. An unknown form is left out and told. */
const textOf = ({ text }: ResponsesRequest, drop: Drop): JsonObject => {
  const { format, verbosity } = text ?? {}
  const told = typeof verbosity === 'string' ? { verbosity } : {}
  if (format == null || format.type === 'text') return told
  if (format.type === 'json_object') return { ...told, response_format: { type: 'json_object' } }
  if (format.type !== 'json_schema') {
    drop('text.format')
    return told
  }
  const { name, description, strict } = format
  const json_schema = {
    name: typeof name === 'string' ? name : 'answer',
    ...(description != null && { description }),
    schema: objectIn(format, 'schema', 'text.format'),
    ...(strict != null && { strict }),
  }
  return { ...told, response_format: { type: 'json_schema', json_schema } }
}
