import { ed25519 } from '@noble/curves/ed25519.js'
import { type Verdict, platformOf, appraise } from '../evidence/appraise.ts'
import { type PlatformPolicy, PolicyError } from '../evidence/policy.ts'
import { same, fromHex } from '../wire/bytes.ts'
import { type KeysetBody, parseKeyset, reportData } from '../wire/keyset.ts'
import { SealgateError } from './error.ts'
import { newChecks } from '../evidence/checks.ts'
import { Refusal } from '../evidence/reasons.ts'

/** The evidence of an answer, before anything of it is believed. */
export interface Evidence {
  readonly type: string
  readonly [field: string]: unknown
}

/** The facts in evidence whose signatures are valid. */
export interface VerifiedEvidence {
  /** The 64 bytes that the platform signed. */
  readonly reportData: Uint8Array
  /** The platform's measurement of the running code, in hex. */
  readonly measurement: string
  /** True when the machine runs in debug mode, so that its memory can be read. */
  readonly debug: boolean
}

/** Checks signatures and certificates of one kind of evidence. Throws unless all are valid. */
export type Verifier = (evidence: Evidence, now: number) => Promise<VerifiedEvidence>

/** Which enclaves this client seals to. */
export interface Policy extends PlatformPolicy {
  /** Verifiers for further kinds, by the type of the evidence. A kind without a verifier is refused. */
  readonly verifiers?: Readonly<Record<string, Verifier>>
  /** Accepts evidence that proves nothing, signed by a published key. For development only. */
  readonly allowInsecureDev?: boolean
}

const none = new Uint8Array()

/** Lengths of a platform's measurement in bytes: SHA-256, SHA-384 or SHA-512. */
const measured = [32, 48, 64]
const digested = [32]

/** In lower case, so that they compare as text. Throws `bad_policy`. */
const pins = (given: readonly string[], lengths: readonly number[]): readonly string[] =>
  given.map((pin) => {
    const hex = pin.toLowerCase()
    if (!lengths.includes(fromHex(hex, 64)?.length ?? 0)) throw new SealgateError('bad_policy')
    return hex
  })

/** The same policy with its pins in lower case. Throws when a pin is not hex or has a wrong length. */
export const policyOf = (policy: Policy): Policy => ({
  ...policy,
  ...(policy.measurements && { measurements: pins(policy.measurements, measured) }),
  ...(Array.isArray(policy.releases) && { releases: pins(policy.releases as readonly string[], digested) }),
})

/** The public key of the development prover. Its secret key is in the source, so it proves nothing. */
const devKey = fromHex('a6ea0003f8999046c6f82d2061cb369f5db20a6c1937356f99061caab747236f', 32)

/** The proven keys, and the verdict on the evidence. */
export interface ProvenKeys {
  readonly body: KeysetBody
  /** Null for a development enclave and for the caller's own kinds. */
  readonly verdict: Verdict | null
}

/** Returns the keys when the evidence over these bytes and this challenge meets the policy. Throws otherwise. */
export const verify = async (
  keyset: Uint8Array,
  evidence: Evidence,
  challenge: Uint8Array,
  policy: Policy,
  now: number,
): Promise<ProvenKeys> => {
  const body = parseKeyset(keyset)
  if (body === null) throw new SealgateError('unverified', { reason: 'evidence_malformed', detail: 'keyset' })
  const { verifiers = {}, allowInsecureDev, ...platform } = policy
  if (Object.keys(verifiers).some(platformOf)) throw new PolicyError('verifiers replaces no built-in kind')
  if (platformOf(evidence.type) !== null)
    return { body, verdict: await provePlatform(keyset, body, evidence, challenge, platform, now) }
  const wanted = reportData(keyset, challenge)
  if (evidence.type === 'dev') {
    if (allowInsecureDev !== true) throw new SealgateError('insecure')
    const signature = typeof evidence['signature'] === 'string' ? fromHex(evidence['signature'], 64) : null
    if (signature?.length !== 64 || devKey === null || !ed25519.verify(signature, wanted, devKey))
      throw new SealgateError('unverified', { reason: 'signature_invalid' })
    return { body, verdict: null }
  }
  const verifier = Object.hasOwn(verifiers, evidence.type) ? verifiers[evidence.type] : undefined
  if (verifier === undefined) throw new SealgateError('unverified', { reason: 'no_verifier' })
  const verified = await verifier(evidence, now).catch((cause: unknown) => {
    throw new SealgateError('unverified', { cause })
  })
  const trusted =
    !verified.debug &&
    same(verified.reportData, wanted) &&
    (policy.measurements ?? []).includes(verified.measurement.toLowerCase()) &&
    (policy.releases === undefined ||
      (Array.isArray(policy.releases) &&
        policy.releases.some((release: string) => same(body.releaseDigest, fromHex(release, 32) ?? none))))
  if (!trusted) throw new SealgateError('unverified')
  return { body, verdict: null }
}

/**
 * Checks the evidence of a built-in platform over these keys. Throws `SealgateError` with the reason, or `PolicyError`.
 */
const provePlatform = async (
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
