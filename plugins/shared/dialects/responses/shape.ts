import * as v from 'valibot'
import { ModelName } from '../../../../core/dialects/model-name.ts'

/** Turns of a conversation, and parts of one turn. */
const turns = 100_000
const parts = 10_000

const part = v.looseObject({ type: v.pipe(v.string(), v.maxLength(100)) })

/** An item of the input; one without a type is a message. */
const item = v.looseObject({
  type: v.nullish(v.pipe(v.string(), v.maxLength(100))),
  role: v.nullish(v.picklist(['user', 'assistant', 'system', 'developer'])),
  content: v.nullish(v.union([v.string(), v.pipe(v.array(part), v.maxLength(parts))])),
})

const tool = v.looseObject({ type: v.pipe(v.string(), v.maxLength(100)) })

/** A request of the Responses dialect. */
export const ResponsesRequest = v.looseObject({
  model: ModelName,
  input: v.union([v.string(), v.pipe(v.array(item), v.maxLength(turns))]),
  instructions: v.nullish(v.string()),
  stream: v.nullish(v.boolean()),
  store: v.nullish(v.boolean()),
  background: v.nullish(v.boolean()),
  tools: v.nullish(v.pipe(v.array(tool), v.maxLength(4096))),
  tool_choice: v.nullish(v.union([v.string(), v.looseObject({ type: v.string() })])),
  parallel_tool_calls: v.nullish(v.boolean()),
  max_output_tokens: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
  temperature: v.nullish(v.number()),
  top_p: v.nullish(v.number()),
  top_logprobs: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(20))),
  presence_penalty: v.nullish(v.number()),
  frequency_penalty: v.nullish(v.number()),
  reasoning: v.nullish(v.looseObject({ effort: v.nullish(v.string()), summary: v.nullish(v.string()) })),
  text: v.nullish(v.looseObject({ format: v.nullish(v.looseObject({ type: v.string() })) })),
  include: v.nullish(v.pipe(v.array(v.string()), v.maxLength(100))),
  metadata: v.nullish(v.record(v.string(), v.string())),
  truncation: v.nullish(v.string()),
  max_tool_calls: v.nullish(v.number()),
  user: v.nullish(v.string()),
  safety_identifier: v.nullish(v.string()),
  prompt_cache_key: v.nullish(v.string()),
  service_tier: v.nullish(v.string()),
})

/** The request after the check. */
export type ResponsesRequest = v.InferOutput<typeof ResponsesRequest>
/** An item of the input: a message, a call, the result of a call, or thoughts. */
export type InputItem = v.InferOutput<typeof item>
/** A tool that the caller offers. */
export type ResponsesTool = v.InferOutput<typeof tool>
