import type { ReleaseKeys, SignedText } from '../evidence/policy.ts'
import { SealgateError } from './error.ts'
import type { Policy } from './verify.ts'

/** Signed lists from a gateway. The client believes a list only when enough pinned keys have signed it. */
export interface SignedLists {
  readonly releases: SignedText | null
  readonly notices: SignedText | null
}

/** In characters, and in signatures. */
const listLimits = { text: 262_144, signatures: 32 }

/** True when the policy pins keys but contains no list. */
const lacks = (said: Policy['releases']): said is ReleaseKeys =>
  said !== undefined && !Array.isArray(said) && (said as ReleaseKeys).document === undefined

/** True when the client has to ask the gateway for lists. */
export const needsLists = ({ releases, notices }: Policy): boolean => lacks(releases) || lacks(notices)

/** Compares the length alone; the signature check reads the digits. */
const isHex = (it: unknown, digits: number): boolean => typeof it === 'string' && it.length === digits

/** Null when the gateway has no such list. Throws `unverified` for another form. */
const listIn = (said: unknown, name: 'releases' | 'notices'): SignedText | null => {
  if (said === undefined || said === null) return null
  const { text, signatures } = said as Partial<SignedText>
  const isWhole =
    typeof text === 'string' &&
    text.length <= listLimits.text &&
    Array.isArray(signatures) &&
    signatures.length <= listLimits.signatures &&
    signatures.every((it) => isHex(it?.key, 64) && isHex(it?.signature, 128))
  if (!isWhole) throw new SealgateError('unverified', { reason: 'evidence_malformed', detail: name })
  return { text, signatures: signatures.map(({ key, signature }) => ({ key, signature })) }
}

/** Reads both lists from a gateway's answer. Throws when a list is malformed. */
export const listsIn = (said: unknown): SignedLists => {
  const { releases, notices } = (said ?? {}) as { readonly releases?: unknown; readonly notices?: unknown }
  return { releases: listIn(releases, 'releases'), notices: listIn(notices, 'notices') }
}

/** Adds the gateway's lists to the policy. A list inside the policy stays. */
export const withLists = (policy: Policy, { releases, notices }: SignedLists): Policy => ({
  ...policy,
  ...(lacks(policy.releases) && releases !== null && { releases: { ...policy.releases, document: releases } }),
  ...(lacks(policy.notices) && notices !== null && { notices: { ...policy.notices, document: notices } }),
})
