import { Unavailable } from '../../../core/errors.ts'

/** The name of the refusal of an enclave that begins no call any more. */
export const leaving = 'Leaving'

/** Codes of a call that no enclave has begun: nothing listens, or the enclave leaves. */
const unbegun = new Set<unknown>(['ECONNREFUSED', 'ENOENT', leaving])

/** True when no enclave has begun the call, so that another one may be asked. */
export const isUnbegun = (error: unknown): boolean =>
  error instanceof Unavailable && unbegun.has((error.cause as { readonly code?: unknown } | undefined)?.code)
