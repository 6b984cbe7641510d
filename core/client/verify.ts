import { ed25519 } from '@noble/curves/ed25519.js'
import { same } from '../wire/bytes.ts'
import { fromHex } from '../wire/hex.ts'
import { type KeysetBody, parseKeyset, reportData } from '../wire/keyset.ts'
import { SealgateError } from './error.ts'

export interface Evidence {
  readonly type: string
  readonly [field: string]: unknown
}

/** What a kind of evidence says once its signatures hold. */
export interface Verified {
  /** The 64 bytes that the platform signed. */
  readonly reportData: Uint8Array
  /** What runs there, as the platform measures it: hex. */
  readonly measurement: string
  /** A machine that anybody may look into. */
  readonly debug: boolean
}

/** Checks signatures and certificates of one kind of evidence; throws unless all of them hold. */
export type Verifier = (evidence: Evidence, now: number) => Promise<Verified>

export interface Policy {
  /** By the type of evidence. A kind without a verifier is refused. */
  readonly verifiers?: Readonly<Record<string, Verifier>>
  /** Measurements that are trusted, hex. */
  readonly measurements?: readonly string[]
  /** Releases that are trusted: hex of the digest that the keyset carries; all when absent. */
  readonly releases?: readonly string[]
  /** Take evidence that proves nothing, signed by a published key. For development alone. */
  readonly allowInsecureDev?: boolean
}

const devKey = fromHex('a6ea0003f8999046c6f82d2061cb369f5db20a6c1937356f99061caab747236f', 32)

/** The keys, when evidence over exactly these bytes and this challenge meets the policy. Fails closed. */
export const verify = async (
  keyset: Uint8Array,
  evidence: Evidence,
  challenge: Uint8Array,
  policy: Policy,
  now: number,
): Promise<KeysetBody> => {
  const body = parseKeyset(keyset)
  if (body === null) throw new SealgateError('unverified')
  const wanted = reportData(keyset, challenge)
  if (evidence.type === 'dev') {
    if (policy.allowInsecureDev !== true) throw new SealgateError('insecure')
    const signature = typeof evidence['signature'] === 'string' ? fromHex(evidence['signature'], 64) : null
    if (signature?.length !== 64 || !ed25519.verify(signature, wanted, devKey!)) throw new SealgateError('unverified')
    return body
  }
  const verifier = policy.verifiers?.[evidence.type]
  if (verifier === undefined) throw new SealgateError('unverified')
  const said = await verifier(evidence, now).catch((cause: unknown) => {
    throw new SealgateError('unverified', { cause })
  })
  const trusted =
    !said.debug &&
    same(said.reportData, wanted) &&
    (policy.measurements ?? []).includes(said.measurement) &&
    (policy.releases === undefined ||
      policy.releases.some((release) => same(body.releaseDigest, fromHex(release, 32) ?? challenge)))
  if (!trusted) throw new SealgateError('unverified')
  return body
}
