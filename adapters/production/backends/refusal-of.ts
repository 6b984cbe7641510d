import { UpstreamFailed } from '../../../core/errors.ts'
import { Refusal } from '../../../plugins/sealed/evidence/reasons.ts'

/** The reason for which a backend's document is refused, a word of our own. Null when the backend gave none. */
export const refusalOf = (fault: unknown): string | null => {
  if (fault instanceof UpstreamFailed) return null
  return fault instanceof Refusal ? fault.reason : 'evidence_malformed'
}
