import { readKept } from '../../../shared/backend.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import type { Answer } from '../../../../core/ports/platform.ts'
import type { CountCall, TokenCount } from '../../../../core/ports/upstream.ts'
import { tokensIn } from '../tokens-in.ts'

/** The count that a backend of the dialect tells. */
export const countOf = async (answer: Answer, { native }: CountCall): Promise<TokenCount> => {
  const body = await readKept(answer)
  const tokens = tokensIn(body, 'totalTokens', answer)
  if (native?.dialect !== 'generate-content') return { tokens }
  return { tokens, native: { dialect: 'generate-content', body, headers: {} } }
}

/** The request as the Gemini API counts it: contents alone, or the whole request under a name of its own. */
export const wrapped = (model: string, body: JsonObject): JsonObject =>
  Object.keys(body).join() === 'contents' ? body : { generateContentRequest: { model: `models/${model}`, ...body } }

/** Members of a request that Vertex counts. */
const counted: ReadonlySet<string> = new Set(['contents', 'systemInstruction', 'tools', 'generationConfig'])

/** The request as Vertex counts it. */
export const bare = (_: string, body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => counted.has(name)))
