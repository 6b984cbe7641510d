import { type Verdict, appraise } from '../evidence/appraise.ts'
import { newChecks } from '../evidence/checks.ts'
import type { PlatformPolicy } from '../evidence/policy.ts'
import { Refusal } from '../evidence/reasons.ts'
import { type KeysetBody, reportData } from '../wire/keyset.ts'
import { SealgateError } from './error.ts'

/**
 * Checks the evidence of a built-in platform over these keys. Throws `SealgateError` with the reason, or `PolicyError`.
 */
export const provePlatform = async (
  keyset: Uint8Array,
  { releaseDigest }: KeysetBody,
  evidence: unknown,
  challenge: Uint8Array,
  policy: PlatformPolicy,
  now: number,
): Promise<Verdict> => {
  const checks = newChecks()
  const keysetHash = reportData(keyset, challenge).subarray(0, 32)
  try {
    return await appraise(evidence, policy, { keysetHash, challenge, releaseDigest, now }, checks)
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause
    const { reason, detail } = cause
    throw new SealgateError('unverified', { reason, detail, checks: checks.done, cause })
  }
}
