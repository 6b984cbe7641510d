import type { GatewayError } from '../../../../core/errors.ts'
import type { WireUsage } from '../../../../core/ports/upstream.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import type { ResponsesRequest } from './shape.ts'

/** A function says whether it is strict, as each tool of a response does. */
const wholeTool = (tool: JsonObject): JsonObject => (tool['type'] === 'function' ? { strict: null, ...tool } : tool)

/** Members of a response that repeat its request. */
export const headOf = (request: ResponsesRequest, model: string, id: string, created_at: number): JsonObject => ({
  id,
  object: 'response',
  created_at,
  completed_at: null,
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: request.instructions ?? null,
  max_output_tokens: request.max_output_tokens ?? null,
  max_tool_calls: request.max_tool_calls ?? null,
  model,
  output: [],
  parallel_tool_calls: request.parallel_tool_calls ?? true,
  previous_response_id: null,
  presence_penalty: request.presence_penalty ?? 0,
  frequency_penalty: request.frequency_penalty ?? 0,
  prompt_cache_key: request.prompt_cache_key ?? null,
  reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
  safety_identifier: request.safety_identifier ?? null,
  service_tier: request.service_tier ?? 'default',
  store: false,
  temperature: request.temperature ?? 1,
  text: { ...request.text, format: request.text?.format ?? { type: 'text' } },
  tool_choice: request.tool_choice ?? 'auto',
  tools: (request.tools ?? []).map(wholeTool),
  top_logprobs: request.top_logprobs ?? 0,
  top_p: request.top_p ?? 1,
  truncation: request.truncation ?? 'disabled',
  usage: null,
  user: request.user ?? null,
  metadata: request.metadata ?? {},
})

const reasons: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' }

/** The end of a response whose backend gave this reason. */
export const endOf = (finish: string | null): JsonObject & { readonly status: 'completed' | 'incomplete' } => {
  const reason = reasons[finish ?? '']
  return reason === undefined
    ? { status: 'completed', incomplete_details: null }
    : { status: 'incomplete', incomplete_details: { reason } }
}

/** The counts of the dialect; null where the backend gave none. */
export const usageOf = (usage: WireUsage | null): JsonObject | null => {
  if (usage === null) return null
  const count = (details: unknown, name: string) => Number((details as JsonObject | null | undefined)?.[name] ?? 0)
  const input_tokens = Number(usage.prompt_tokens ?? 0)
  const output_tokens = Number(usage.completion_tokens ?? 0)
  return {
    input_tokens,
    input_tokens_details: {
      cached_tokens: count(usage['prompt_tokens_details'], 'cached_tokens'),
      cache_write_tokens:
        count(usage['prompt_tokens_details'], 'cache_write_tokens') || count(usage, 'cache_creation_input_tokens'),
    },
    output_tokens,
    output_tokens_details: { reasoning_tokens: count(usage['completion_tokens_details'], 'reasoning_tokens') },
    total_tokens: input_tokens + output_tokens,
  }
}

/** The error inside a response that failed. */
export const failureOf = ({ status, message, code }: GatewayError): JsonObject => ({
  code: code ?? (status === 429 ? 'rate_limit_exceeded' : 'server_error'),
  message,
})
