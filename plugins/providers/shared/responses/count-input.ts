import type { Clock, Fetch } from '../../../../core/ports/platform.ts'
import type { CountCall, TokenCount } from '../../../../core/ports/upstream.ts'
import { accepted, readKept } from '../../../shared/backend.ts'
import { printJson } from '../print-json.ts'
import { tokensIn } from '../tokens-in.ts'
import { responsesBody } from './responses-request.ts'

/** Members that the route counts; it refuses others. */
const counted: ReadonlySet<string> = new Set(['model', 'input', 'instructions', 'parallel_tool_calls', 'reasoning', 'text', 'tool_choice', 'tools', 'truncation']) // prettier-ignore

interface Counter {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** The count of a prompt by the server of Responses that would answer it. */
export const countInput = async (
  { fetch, clock, url, headers }: Counter,
  call: CountCall,
  signal: AbortSignal,
): Promise<TokenCount> => {
  const whole = responsesBody({ ...call, stream: false })
  const body = await printJson(Object.fromEntries(Object.entries(whole).filter(([name]) => counted.has(name))))
  const ask = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body, signal } as const
  const answer = await accepted(await fetch.upstream(url, ask), clock)
  const told = await readKept(answer)
  const tokens = tokensIn(told, 'input_tokens', answer)
  return call.native?.dialect === 'responses'
    ? { tokens, native: { dialect: 'responses', body: told, headers: {} } }
    : { tokens }
}
