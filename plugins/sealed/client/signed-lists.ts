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
const lacks = (listed: Policy['releases']): listed is ReleaseKeys =>
  listed !== undefined && !Array.isArray(listed) && (listed as ReleaseKeys).document === undefined

/** True when the client has to ask the gateway for lists. */
export const needsLists = ({ releases, notices }: Policy): boolean => lacks(releases) || lacks(notices)

/** Compares the length alone; the signature check reads the digits. */
const isHex = (text: unknown, digits: number): boolean => typeof text === 'string' && text.length === digits

/** Null when the gateway has no such list. Throws `unverified` for another form. */
const listIn = (answer: unknown, name: 'releases' | 'notices'): SignedText | null => {
  if (answer === undefined || answer === null) return null
  const { text, signatures } = answer as Partial<SignedText>
  const isWhole =
    typeof text === 'string' &&
    text.length <= listLimits.text &&
    Array.isArray(signatures) &&
    signatures.length <= listLimits.signatures &&
    signatures.every((signature) => isHex(signature?.key, 64) && isHex(signature?.signature, 128))
  if (!isWhole) throw new SealgateError('unverified', { reason: 'evidence_malformed', detail: name })
  return { text, signatures: signatures.map(({ key, signature }) => ({ key, signature })) }
}

/** Reads both lists from a gateway's answer. Throws when a list is malformed. */
export const listsIn = (answer: unknown): SignedLists => {
  const { releases, notices } = (answer ?? {}) as { readonly releases?: unknown; readonly notices?: unknown }
  return { releases: listIn(releases, 'releases'), notices: listIn(notices, 'notices') }
}

/** Adds the gateway's lists to the policy. A list inside the policy stays. */
export const withLists = (policy: Policy, { releases, notices }: SignedLists): Policy => ({
  ...policy,
  ...(lacks(policy.releases) && releases !== null && { releases: { ...policy.releases, document: releases } }),
  ...(lacks(policy.notices) && notices !== null && { notices: { ...policy.notices, document: notices } }),
})
