import {
  BadRequest,
  type Facts,
  Forbidden,
  GatewayError,
  NotFound,
  TooLarge,
  Unauthorized,
  UpstreamFailed,
} from '../../../core/errors.ts'
import { type Fault, SealgateError } from '../../sealed/client/error.ts'

/** Whose the key and the names of the models are: of the operator, or of the caller on the caller's own machine. */
export type Whose = 'operator' | 'caller'

interface Meaning {
  readonly status: number
  readonly sentence: string
}

/** The meaning of an enclave's codes for a caller. */
const codes: Readonly<Record<string, Meaning | undefined>> = {
  sealed_elsewhere: { status: 400, sentence: 'The enclave takes this request on another route' },
  invalid_parameters: { status: 400, sentence: 'A parameter of the request is not valid' },
  refused: { status: 400, sentence: 'The backend refused the request' },
  unknown_model: { status: 404, sentence: 'The model does not exist, or the key may not use it sealed' },
  model_is_rule: { status: 400, sentence: 'A rule chooses models for chats in the clear alone' },
  unknown_tool: { status: 404, sentence: 'The enclave has no such tool' },
  unknown_file: { status: 404, sentence: 'The file does not exist' },
  unreadable_file: { status: 400, sentence: 'The file could not be read' },
  not_configured: { status: 400, sentence: 'The enclave is not set up for this request' },
  too_large: { status: 400, sentence: 'The result is too large' },
  context_length_exceeded: { status: 400, sentence: 'The prompt is too long for the context of the model' },
  content_filter: { status: 400, sentence: 'The backend filtered the request' },
  unsupported_parameter: { status: 400, sentence: 'The model does not support a parameter of the request' },
  invalid_image: { status: 400, sentence: 'An image of the request is not valid' },
  request_too_large: { status: 413, sentence: 'The request is too large for the backend' },
  model_not_found: { status: 404, sentence: 'The backend does not have the model' },
  insufficient_quota: { status: 429, sentence: 'The quota of the backend is used up' },
  guard_refused: { status: 400, sentence: 'A guard of the enclave refuses the call' },
  window_used_up: { status: 429, sentence: 'A window of the model is used up' },
  busy: { status: 429, sentence: 'The enclave is busy; try again later' },
  backend_unverified: { status: 502, sentence: 'The backend of the enclave could not be verified' },
  upstream_failed: { status: 502, sentence: 'The backend of the enclave failed' },
  unavailable: { status: 503, sentence: 'The enclave is temporarily unavailable' },
}

/** Statuses of faults that no answer stands behind, or whose answer is not trusted. */
const statuses: Partial<Record<Fault, number>> = { refused: 400, unavailable: 503, busy: 429, too_large: 413 }

/** Faults that no other try at the same enclave mends. */
const hopeless: ReadonlySet<Fault> = new Set(['unverified', 'insecure', 'no_key', 'bad_policy', 'damaged'])

/** Makes of a sealed call's fault what the gateway tells; anything but a client's own error stays as it is. */
export type Faults = (cause: unknown) => unknown

/** `sentenceOf` words a fault that no code of the enclave stands behind. */
export const faultsFor =
  (whose: Whose, sentenceOf: (error: SealgateError) => string = ({ message }) => message): Faults =>
  (cause) =>
    cause instanceof SealgateError ? faultOf(cause, whose, sentenceOf(cause)) : cause

const faultOf = (cause: SealgateError, whose: Whose, words: string): GatewayError => {
  const { fault, code, field, retryAfter } = cause
  const meaning = code === null ? undefined : codes[code]
  const status = cause.status ?? meaning?.status ?? statuses[fault] ?? 502
  const sentence = meaning?.sentence ?? words
  const validator = field === null ? null : { [field]: 'Expected another value' }
  const facts: Facts = { code: code ?? fault, validator, retryAfter, cause }
  const refusal = refusalOf(status, sentence, facts, whose)
  if (refusal !== null) return refusal
  // An operator's model may have another backend.
  const again = whose === 'operator' || !hopeless.has(fault)
  const named = isPassing(status, fault, whose) ? null : status === 404 ? 'model_not_found' : (code ?? fault)
  return new UpstreamFailed(sentence, { ...facts, code: named, again, answered: cause.status })
}

/** A refusal that the caller can mend; null for what the operator or time mends. */
const refusalOf = (status: number, sentence: string, facts: Facts, whose: Whose): GatewayError | null => {
  if (status === 413) return new TooLarge(sentence, facts)
  if (status === 400 || (status > 404 && status < 500 && status !== 429)) return new BadRequest(sentence, facts)
  if (whose === 'operator') return null
  if (status === 401) return new Unauthorized({ cause: facts.cause })
  if (status === 403) return new Forbidden(sentence, facts)
  return status === 404 ? new NotFound(sentence, facts) : null
}

/** Time heals it. Where a fault has no code its status says so, and the callers of an operator need no other word. */
const isPassing = (status: number, fault: Fault, whose: Whose): boolean =>
  status === 503 || (whose === 'operator' && (fault === 'unreachable' || fault === 'truncated'))
