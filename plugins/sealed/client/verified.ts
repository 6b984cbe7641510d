import type { Verdict } from '../evidence/appraise.ts'
import { enclaveKid } from '../wire/keyset.ts'
import { receiptKind } from '../wire/receipt-kind.ts'
import type { Verification } from './seal-request.ts'

/** The facts that the enclave proved. Times in ms. */
export interface Verified extends Omit<Verdict, 'verified' | 'platform'> {
  /** `development` and `test` prove nothing; `own` is the verdict of the caller's verifier. */
  readonly verified: Verdict['verified'] | 'development' | 'own'
  readonly platform: string
  readonly keyset: { readonly epoch: number; readonly kids: readonly string[]; readonly ends: number }
}

/** The members of a verdict where no built-in verifier gave one. */
const unproved = {
  product: '',
  measurement: '',
  release: null,
  chip: null,
  tcb: {},
  challenge: true,
  collateral: [],
  exceptions: [],
  warnings: [],
  checks: [],
} as const

/** The facts end with the key or with the earliest certificate, list or text. */
export const verifiedFactsOf = ({ proof: { body, verdict }, key, evidence }: Verification): Verified => {
  const keyset = {
    epoch: body.epoch,
    kids: body.keys.filter(({ kem }) => kem !== receiptKind).map(enclaveKid),
    ends: key.notAfter,
  }
  if (verdict !== null) return { ...verdict, keyset, ends: Math.min(verdict.ends, key.notAfter) }
  const verified = evidence.type === 'dev' ? 'development' : 'own'
  return { ...unproved, verified, platform: evidence.type, keyset, ends: key.notAfter }
}
