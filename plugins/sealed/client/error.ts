import type { Check } from '../evidence/checks.ts'
import type { Reason } from '../evidence/reasons.ts'

/** All texts of errors. Each text is our own: an error repeats nothing that came unauthenticated over the network. */
export const sentences = {
  unverified: 'The enclave could not be verified',
  insecure: 'The enclave is a development one and proves nothing; pass allowInsecureDev to use it all the same',
  bad_policy: 'A measurement or release of the policy is not hex of its length',
  no_key: 'The enclave publishes no key that this client uses at this time; check the clock of this machine first',
  unreachable: 'The gateway could not be reached',
  refused: 'The gateway refused the request',
  unauthorized: 'The API key is missing, invalid, or lacks permission',
  busy: 'Too many requests, or a chat stream is open already',
  too_large: 'The request or its file is too large',
  changed: 'The file changed while it was read',
  long_name: 'The name of the file has more than 448 bytes',
  over_quota: 'The file finds no place in the storage of the organisation',
  unavailable: 'The service is temporarily unavailable',
  failed: 'The request failed inside the enclave',
  unsealed: 'This client sends no request without a body, since nothing of it would be sealed',
  no_kek: 'This needs the key-encryption key of the client',
  no_rag_key: 'This needs the retrieval key of the client',
  wrong_key: 'The file is under another key-encryption key',
  unbound: 'The file is not bound to its id, and this client takes bound files alone',
  rolled_back: 'The file is older than this client remembers, or was removed',
  no_memory: 'The memory of this client is damaged',
  wrong_passphrase: 'The passphrase is another one, or the backup was changed',
  wrong_code: 'The recovery code is mistyped: it has 55 letters and digits, the last of which prove the others',
  no_backup: 'This is no backup of keys, or it is damaged',
  truncated: 'The answer was cut off',
  damaged: 'The answer was changed on its way, or is not from the enclave',
  no_receipt: 'The receipt is missing, or is not of this answer',
  not_logged: 'The log of receipts does not hold this receipt, or no enclave of these keys signed its head',
  forked: 'The log of receipts does not continue the head that this client has seen',
} as const

/** The reason of an error, for programs; `sentences` has a text for each. */
export type Fault = keyof typeof sentences

/** Every error of the client, except for a policy that cannot be used and an abort. */
export class SealgateError extends Error {
  readonly fault: Fault
  /** The HTTP status; null when the fault came without one. */
  readonly status: number | null
  /** The enclave's own code and field, which came sealed. */
  readonly code: string | null
  readonly field: string | null
  /** The sealed message of the enclave, or of the backend that refused. */
  readonly told: string | null
  /** In ms. */
  readonly retryAfter: number | null
  /** The gateway's id of the refused request. */
  readonly requestId: string | null
  /** The rule that refused the evidence, and the place of the fault. */
  readonly reason: Reason | null
  readonly detail: string | null
  /** The checks of the evidence in order, up to the first failure. */
  readonly checks: readonly Check[]

  constructor(
    fault: Fault,
    facts: {
      status?: number | null
      code?: string | null
      field?: string | null
      told?: string | null
      retryAfter?: number | null
      requestId?: string | null
      reason?: Reason
      detail?: string | null
      checks?: readonly Check[]
      cause?: unknown
    } = {},
  ) {
    super(sentences[fault], { cause: facts.cause })
    this.name = 'SealgateError'
    this.fault = fault
    this.status = facts.status ?? null
    this.code = facts.code ?? null
    this.field = facts.field ?? null
    this.told = facts.told ?? null
    this.retryAfter = facts.retryAfter ?? null
    this.requestId = facts.requestId ?? null
    this.reason = facts.reason ?? null
    this.detail = facts.detail ?? null
    this.checks = facts.checks ?? []
  }
}

/** Stops waiting with the signal's reason. The work goes on for its other callers. */
export const unlessLeft = <T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> => {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

/** A caller that aborts an answer gets its own reason; any other end is a truncation. */
export const cutBy =
  (signal: AbortSignal | null) =>
  (cause: unknown): never => {
    if (signal?.aborted) throw signal.reason
    throw cause instanceof SealgateError ? cause : new SealgateError('truncated', { cause })
  }
