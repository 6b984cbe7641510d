import { Forbidden, Unauthorized, UpstreamFailed } from '../../../../core/errors.ts'

/** A call that brings no credential to a backend that has none of its own. */
export const withoutKey = (): Unauthorized =>
  new Unauthorized({
    code: 'caller_key_missing',
    validator: {
      authorization: 'Expected the caller’s own credential at the vendor, beside the key in x-sealgate-key',
    },
  })

/** A vendor that refuses the caller's own credential says nothing of the backend, so no other backend is asked. */
export const callersFault = (fault: unknown): unknown => {
  if (!(fault instanceof UpstreamFailed)) return fault
  const facts = { code: 'caller_key_refused', cause: fault.cause }
  if (fault.answered === 401) return new Unauthorized(facts)
  if (fault.answered === 402 || fault.answered === 403 || fault.answered === 404)
    return new Forbidden('The vendor refused the call under the caller’s own credential', facts)
  return fault
}
