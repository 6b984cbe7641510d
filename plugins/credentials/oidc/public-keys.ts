import { UpstreamFailed } from '../../../core/errors.ts'
import type { Algorithm } from './issuer-settings.ts'

type Members = Readonly<Record<string, unknown>>

/** A public key of an issuer. */
export interface PublicKey {
  readonly kid: string | null
  /** The public members alone, whatever else the issuer shows. */
  readonly jwk: Readonly<Record<string, string>>
  /** Whether the key is one of this algorithm, and its issuer does not say otherwise. */
  suits(algorithm: Algorithm): boolean
}

/** Keys that are read of one list. */
const mostKeys = 100

const kinds: Readonly<Record<Algorithm, { readonly kty: string; readonly crv: string | null }>> = {
  RS256: { kty: 'RSA', crv: null },
  PS256: { kty: 'RSA', crv: null },
  ES256: { kty: 'EC', crv: 'P-256' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
}

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null

/** An issuer that publishes a private member by mistake must not bring it into this process. */
const publicMembers = ['kty', 'crv', 'n', 'e', 'x', 'y']

const keyOf = (jwk: Members): PublicKey => {
  const { kid, kty, crv, alg, use, key_ops: uses } = jwk
  const verifies = (use === undefined || use === 'sig') && (!Array.isArray(uses) || uses.includes('verify'))
  const members = publicMembers.flatMap((name) => (typeof jwk[name] === 'string' ? [[name, jwk[name]]] : []))
  return {
    kid: typeof kid === 'string' ? kid : null,
    jwk: Object.fromEntries(members) as Record<string, string>,
    suits(algorithm) {
      const kind = kinds[algorithm]
      const isKind = kty === kind.kty && (kind.crv === null || crv === kind.crv)
      return verifies && isKind && (alg === undefined || alg === algorithm)
    },
  }
}

/** The keys of a JSON web key set. Throws UpstreamFailed for anything else. */
export const publicKeys = (text: string): readonly PublicKey[] => {
  let set: unknown
  try {
    set = JSON.parse(text)
  } catch (cause) {
    throw new UpstreamFailed('The list of keys is no JSON', { cause })
  }
  const keys = isMembers(set) ? set['keys'] : null
  if (!Array.isArray(keys)) throw new UpstreamFailed('The list of keys has no keys')
  return keys.slice(0, mostKeys).filter(isMembers).map(keyOf)
}
