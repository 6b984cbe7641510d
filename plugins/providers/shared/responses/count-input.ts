import type { CountCall, TokenCount } from '../../../../core/ports/upstream.ts'
import { readKept } from '../../../shared/backend.ts'
import { type JsonRoute, postedJson } from '../posted-json.ts'
import { tokensIn } from '../tokens-in.ts'
import { responsesBody } from './responses-request.ts'

/** Members that the route counts; it refuses others. */
const counted: ReadonlySet<string> = new Set(['model', 'input', 'instructions', 'parallel_tool_calls', 'reasoning', 'text', 'tool_choice', 'tools', 'truncation']) // prettier-ignore

/** The count of a prompt by the server of Responses that would answer it. */
export const countInput = async (route: JsonRoute, call: CountCall, signal: AbortSignal): Promise<TokenCount> => {
  const whole = responsesBody({ ...call, stream: false })
  const fields = Object.fromEntries(Object.entries(whole).filter(([name]) => counted.has(name)))
  const answer = await postedJson(route, fields, signal)
  const told = await readKept(answer)
  const tokens = tokensIn(told, 'input_tokens', answer)
  return call.native?.dialect === 'responses'
    ? { tokens, native: { dialect: 'responses', body: told, headers: {} } }
    : { tokens }
}
