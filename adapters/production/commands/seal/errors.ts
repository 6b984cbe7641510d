import { googleError } from '../../../../core/dialects/generate-content/error.ts'
import { messagesError } from '../../../../core/dialects/messages/error.ts'
import { sentenceOf as sentenceOfGateway } from '../../../../core/dialects/sentence.ts'
import { GatewayError } from '../../../../core/errors.ts'
import { type Fault, SealgateError } from '../../../../core/sealed/client/error.ts'
import { sentenceOf } from '../error-text.ts'
import { codes } from './enclave-codes.ts'

/** A refusal by this process, before it seals the request. */
export class ProxyRefusal extends Error {
  readonly status: number
  readonly param: string | null
  readonly code: string | null
  constructor(status: number, message: string, param: string | null = null, code: string | null = null) {
    super(message)
    this.status = status
    this.param = param
    this.code = code
  }
}

/** The dialect of an error's body. */
export type ErrorDialect = 'openai' | 'messages' | 'google'

/** What goes to the program: the status, the headers, and a body that is not yet JSON text. */
export interface DialectError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** An error before it has a dialect. `param` names the field that is wrong; null when no field is. */
interface Facts {
  readonly status: number
  readonly message: string
  readonly param: string | null
  readonly code: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Faults of the client itself, which no HTTP answer stands behind. */
const statuses: Partial<Record<Fault, number>> = {
  unauthorized: 401,
  busy: 429,
  too_large: 413,
  refused: 400,
  unavailable: 503,
}

/** Faults that no retry resolves. */
const hopelessFaults: ReadonlySet<Fault> = new Set(['unverified', 'insecure', 'no_key', 'damaged'])

/** OpenAI's names for kinds of errors, by status. */
const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

const typeOf = (status: number): string => types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')

/** An error in the form of its caller's dialect. Every word is ours. */
export const dialectError = (error: unknown, tongue: ErrorDialect = 'openai'): DialectError => {
  const { headers, ...facts } = factsOf(error)
  const { status, message, param, code } = facts
  if (tongue === 'openai') return { status, headers, body: { error: { message, type: typeOf(status), param, code } } }
  const printed = new ToldError(facts)
  const id = headers['x-request-id'] ?? 'sealed'
  return { status, headers, body: tongue === 'messages' ? messagesError(printed, id) : googleError(printed) }
}

/** An error for the printers of the dialects. */
export const asGatewayError = (error: unknown): GatewayError => new ToldError(factsOf(error))

class ToldError extends GatewayError {
  override readonly status: number
  constructor({ status, message, code }: Omit<Facts, 'headers'>) {
    super(message, { code })
    this.status = status
  }
}

/** An unknown error gives a sentence of its own: the words of a library may quote plaintext. */
const factsOf = (error: unknown): Facts => {
  if (error instanceof ProxyRefusal) {
    const { status, message, param, code } = error
    return { status, message, param, code, headers: {} }
  }
  if (error instanceof GatewayError) {
    const { status, code, validator } = error
    const param = Object.keys(validator ?? {})[0] ?? null
    return { status, message: sentenceOfGateway(error), param, code, headers: {} }
  }
  if (error instanceof SealgateError) return sealedFacts(error)
  return { status: 502, message: 'The request failed', param: null, code: null, headers: {} }
}

/** A failure after the first frame of a stream has no HTTP status of its own; its code determines the status. */
const sealedFacts = (error: SealgateError): Facts => {
  const { fault, code, field, retryAfter, requestId } = error
  const known = code === null ? undefined : codes[code]
  const headers = {
    ...(requestId !== null && { 'x-request-id': requestId }),
    ...(retryAfter !== null && {
      'retry-after-ms': String(retryAfter),
      'retry-after': String(Math.ceil(retryAfter / 1000)),
    }),
    ...(hopelessFaults.has(fault) && { 'x-should-retry': 'false' }),
  }
  return {
    status: error.status ?? known?.status ?? statuses[fault] ?? 502,
    message: known?.sentence ?? sentenceOf(error),
    param: field,
    code: code ?? fault,
    headers,
  }
}
