import * as v from 'valibot'
import { ModelName } from '../../../../core/dialects/model-name.ts'

/** Turns of a conversation, and parts of one turn. */
const turns = 100_000
const parts = 10_000

const block = v.looseObject({ type: v.pipe(v.string(), v.maxLength(100)) })

const content = v.union([v.string(), v.pipe(v.array(block), v.maxLength(parts))])

const turn = v.looseObject({ role: v.picklist(['user', 'assistant', 'system']), content })

const tool = v.looseObject({
  name: v.optional(v.string()),
  type: v.nullish(v.string()),
  description: v.nullish(v.string()),
  input_schema: v.nullish(v.looseObject({})),
})

const conversation = {
  model: ModelName,
  messages: v.pipe(v.array(turn), v.minLength(1), v.maxLength(turns)),
  system: v.nullish(content),
  tools: v.nullish(v.pipe(v.array(tool), v.maxLength(4096))),
  tool_choice: v.nullish(v.looseObject({ type: v.string() })),
  thinking: v.nullish(v.looseObject({ type: v.string() })),
  output_config: v.nullish(v.looseObject({})),
  output_format: v.nullish(v.looseObject({})),
}

/** A request of the Messages dialect. */
export const MessagesRequest = v.looseObject({
  ...conversation,
  max_tokens: v.pipe(v.number(), v.integer(), v.minValue(1)),
  stream: v.nullish(v.boolean()),
  stop_sequences: v.nullish(v.pipe(v.array(v.string()), v.maxLength(1024))),
  temperature: v.nullish(v.number()),
  top_p: v.nullish(v.number()),
  top_k: v.nullish(v.number()),
})

/** A conversation whose tokens are to be counted. */
export const CountRequest = v.looseObject(conversation)

/** The request after the check. */
export type MessagesRequest = v.InferOutput<typeof MessagesRequest>
/** The request for a count after the check. */
export type CountRequest = v.InferOutput<typeof CountRequest>
/** A text, or a list of blocks. */
export type Content = v.InferOutput<typeof content>
/** A tool of the caller, or one of the vendor's own, which has a `type`. */
export type Tool = v.InferOutput<typeof tool>
/** A turn of the conversation. A turn of the role `system` may stand between the others. */
export type Turn = v.InferOutput<typeof turn>
