import * as v from 'valibot'
import { listOf } from '../../../../core/validate.ts'

/** Turns of a conversation, and parts of one turn. */
const turns = 100_000
const parts = 10_000
const fields = v.looseObject({})

const content = v.looseObject({
  role: v.nullish(v.string()),
  parts: v.optional(v.pipe(v.array(fields), v.maxLength(parts)), []),
})

/** A request of the Gemini dialect; members may be spelled in either of the vendor's two ways. */
export const GenerateRequest = v.looseObject({
  contents: v.pipe(v.array(content), v.minLength(1), v.maxLength(turns)),
  systemInstruction: v.nullish(v.union([content, v.string()])),
  system_instruction: v.nullish(v.union([content, v.string()])),
  tools: v.nullish(v.pipe(v.array(fields), v.maxLength(4096))),
  toolConfig: v.nullish(fields),
  generationConfig: v.nullish(fields),
})

/** The request after the check. */
export type GenerateRequest = v.InferOutput<typeof GenerateRequest>

const dimensions = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1)))

/** A content that becomes a vector; members may be spelled in either way. */
export const EmbedRequest = v.looseObject({
  model: v.optional(v.string()),
  content: v.looseObject({
    parts: v.pipe(v.array(v.looseObject({ text: v.optional(v.string()) })), v.minLength(1), v.maxLength(1000)),
  }),
  taskType: v.nullish(v.string()),
  title: v.nullish(v.string()),
  outputDimensionality: dimensions,
  task_type: v.nullish(v.string()),
  output_dimensionality: dimensions,
})

/** The request after the check. */
export type EmbedRequest = v.InferOutput<typeof EmbedRequest>

/** Contents of one request. */
const mostContents = 2048

/** Contents that become vectors. */
export const BatchEmbedRequest = v.looseObject({ requests: listOf(EmbedRequest, 1, mostContents) })
