import * as v from 'valibot'

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
