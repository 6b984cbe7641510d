import { type Fault, SealgateError } from '../../../core/sealed/client/error.ts'
import { sentenceOf } from './error-text.ts'

/** What is refused here, before anything is sealed. */
export class Refused extends Error {
  readonly status: number
  readonly param: string | null
  constructor(status: number, message: string, param: string | null = null) {
    super(message)
    this.status = status
    this.param = param
  }
}

export interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly error: { message: string; type: string; param: string | null; code: string | null } }
}

const statuses: Partial<Record<Fault, number>> = {
  unauthorized: 401,
  busy: 429,
  too_large: 413,
  refused: 400,
  unavailable: 503,
}

/** No second try makes these better. */
const lasting: ReadonlySet<Fault> = new Set(['unverified', 'insecure', 'no_key', 'damaged'])

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

const typeOf = (status: number): string => types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')

/** An error as the common chat format has it. Every word is ours. */
export const toldBy = (error: unknown): Told => {
  if (error instanceof Refused) return told(error.status, error.message, error.param, null)
  if (!(error instanceof SealgateError)) return told(502, 'The request failed', null, null)
  const { fault, code, field, retryAfter } = error
  const status = error.status ?? statuses[fault] ?? 502
  const headers = {
    ...(retryAfter !== null && {
      'retry-after-ms': String(retryAfter),
      'retry-after': String(Math.ceil(retryAfter / 1000)),
    }),
    ...(lasting.has(fault) && { 'x-should-retry': 'false' }),
  }
  return { ...told(status, sentenceOf(error), field, code ?? fault), headers }
}

const told = (status: number, message: string, param: string | null, code: string | null): Told => ({
  status,
  headers: {},
  body: { error: { message, type: typeOf(status), param, code } },
})
