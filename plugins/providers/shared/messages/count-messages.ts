import { readKept } from '../../../shared/backend.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import type { Answer } from '../../../../core/ports/platform.ts'
import type { CountCall, TokenCount } from '../../../../core/ports/upstream.ts'
import { tokensIn } from '../tokens-in.ts'
import { type Generation, messagesBody } from './messages.ts'

/** Members of a request that decide its tokens. The route for counts refuses all others. */
const counted: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'context_management',
  'cache_control',
  'speed',
])

/** The request whose prompt is counted. */
export const countBody = (call: CountCall, generation: Generation): JsonObject => {
  const { body } = messagesBody({ ...call, stream: false }, generation)
  return Object.fromEntries(Object.entries(body).filter(([name]) => counted.has(name)))
}

/** The count that a backend of the dialect tells. */
export const countOf = async (answer: Answer, { native }: CountCall): Promise<TokenCount> => {
  const body = await readKept(answer)
  const tokens = tokensIn(body, 'input_tokens', answer)
  if (native?.dialect !== 'messages') return { tokens }
  return { tokens, native: { dialect: 'messages', body, headers: {} } }
}
