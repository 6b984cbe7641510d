import type { BackendAnswer } from '../ports/backend-evidence.ts'

/** The code of a call that found its backend without evidence that counts. */
export const unverified = 'backend_unverified'

/** The evidence that a backend's answer tells; no member for any other value. */
export const provenBy = (answer: unknown): BackendAnswer => {
  if (typeof answer !== 'object' || answer === null || !('proven' in answer)) return {}
  const { proven } = answer as BackendAnswer
  return proven === undefined ? {} : { proven }
}
