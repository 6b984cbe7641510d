import { fromHex } from '../../../../sealed/wire/bytes.ts'
import { parseKeyset } from '../../../../sealed/wire/keyset.ts'
import { requestedPath } from './requested-path.ts'
import type { Exchange } from './wire-watch.ts'

/** What the enclave answered to a challenge, as it travelled. */
export interface Attested {
  readonly challenge: string
  /** In hex. */
  readonly keyset: string
  readonly evidence: { readonly type: string }
  readonly receiptKeys: unknown
  /** Unix time in ms. */
  readonly at: number
}

/** Null for an exchange that is no answer to a challenge. */
export const attestedIn = ({ path, status, text }: Exchange, now: number): Attested | null => {
  const { pathname, query } = requestedPath(path)
  const challenge = query.get('challenge')
  if (pathname !== '/rvenc/attestation' || status !== 200 || challenge === null) return null
  const { keyset, evidence, receipt_keys } = JSON.parse(text) as Readonly<Record<string, unknown>>
  if (typeof keyset !== 'string' || typeof evidence !== 'object' || evidence === null) return null
  return { challenge, keyset, evidence: evidence as { type: string }, receiptKeys: receipt_keys, at: now }
}

/** The epoch that a keyset names; null for bytes that are none. */
export const epochOf = ({ keyset }: Attested): number | null => {
  const bytes = fromHex(keyset, 1024 * 1024)
  return bytes === null ? null : (parseKeyset(bytes)?.epoch ?? null)
}

/** The answer in the form that `sealgate verify --evidence` reads. */
export const keptEvidence = ({ challenge, keyset, evidence, receiptKeys, at }: Attested, lists: unknown): string =>
  JSON.stringify({ keyset, challenge, evidence, ...(lists !== null && { lists }), receiptKeys, at })

export const hexHead = (hex: string): string => (hex.length > 32 ? `${hex.slice(0, 32)}…` : hex)
