import { reasons } from '../../../../plugins/sealed/evidence/reason-words.ts'
import { Refusal } from '../../../../plugins/sealed/evidence/reasons.ts'
import { BundleRefusal } from './sigstore-bundle.ts'

interface Refused {
  readonly reason: string
  readonly detail: string | null
  readonly sentence: string
}

/** The reason for which a list, a provenance or a bundle is refused; null for any other error. */
export const refused = (error: unknown): Refused | null => {
  if (error instanceof BundleRefusal) return { reason: error.reason, detail: null, sentence: error.message }
  if (!(error instanceof Refusal)) return null
  return { reason: error.reason, detail: error.detail, sentence: reasons[error.reason] }
}
