import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { readObject } from '../../shared/backend.ts'
import { printJson } from '../shared/print-json.ts'
import type { Answer } from '../../../core/ports/platform.ts'
import type { CountCall, TokenCount } from '../../../core/ports/upstream.ts'
import { generationOf } from '../shared/messages/generations.ts'
import { tokensIn } from '../shared/tokens-in.ts'
import { claudeBody } from './claude.ts'
import { converseBody } from './converse.ts'

/** Members of a Converse request that decide its tokens. */
const counted: ReadonlySet<string> = new Set(['messages', 'system', 'toolConfig', 'additionalModelRequestFields'])

/** The prompt of Claude, in its own dialect. Claude takes no request without a limit, which changes no count. */
export const claudeInput = async (call: CountCall): Promise<JsonObject> => {
  const limit = { max_tokens: generationOf(call.model).maxTokens }
  const body = await printJson({ ...limit, ...claudeBody({ ...call, stream: false }).body })
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
  return { invokeModel: { body: bytes.toString('base64') } }
}

/** The prompt of a model that converses. */
export const converseInput = (call: CountCall): JsonObject => {
  const body = converseBody(call)
  return { converse: Object.fromEntries(Object.entries(body).filter(([name]) => counted.has(name))) }
}

/** The count that Bedrock tells. */
export const countOf = async (answer: Answer): Promise<TokenCount> => ({
  tokens: tokensIn(await readObject(answer), 'inputTokens', answer),
})
