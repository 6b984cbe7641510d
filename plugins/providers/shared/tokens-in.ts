import { garbled } from '../../shared/backend.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import type { Answer } from '../../../core/ports/platform.ts'

/** The number of tokens under this name; throws UpstreamFailed for what is no count. */
export const tokensIn = (body: JsonObject, name: string, { status }: Pick<Answer, 'status'>): number => {
  const tokens = body[name]
  if (!Number.isSafeInteger(tokens) || (tokens as number) < 0) throw garbled('The answer is no count of tokens', status)
  return tokens as number
}
