import { same, toHex } from '../wire/bytes.ts'
import { type Certificate, type Signed, extensionsOf, signedOf, usages } from './certificate.ts'
import { clockSkewMs } from './chain.ts'
import { type Item, contextTag, cursor, unsignedBytes, onlyItem, tags, timeOf } from './der.ts'
import { checkSignature } from './keys.ts'
import { demand } from './reasons.ts'

/** A list of revoked certificates, version 2. */
export interface RevocationList extends Pick<Signed, 'signed' | 'algorithm' | 'signature'> {
  readonly issuer: Uint8Array
  /** In Unix ms, like `ends`. */
  readonly issued: number
  readonly ends: number
  /** In hex. */
  readonly number: string | null
  /** Serial numbers, in hex. */
  readonly revoked: ReadonlySet<string>
  /** True for a delta or partial list, which has a critical extension. */
  readonly critical: boolean
}

const mostBytes = 64 * 1024
/** The identifier of the CRL number: a list with a lower number than before was rolled back. */
const crlNumber = '551d14'

/** A critical extension of an entry changes what the entry means, so the whole list is refused. */
const isCritical = (item: Item | null): boolean =>
  item !== null && [...extensionsOf(item.whole).values()].some(({ critical }) => critical)

/** Throws `evidence_malformed` unless the bytes are a strict list of at most 64 KiB. */
export const readList = (bytes: Uint8Array): RevocationList => {
  demand(bytes.length <= mostBytes, 'evidence_malformed', 'revocation list')
  const { inside, algorithmBytes, ...signed } = signedOf(bytes)
  const parts = cursor(inside.content)
  demand(toHex(parts.take(tags.integer).content) === '01', 'evidence_malformed', 'revocation list version')
  demand(same(parts.take(tags.sequence).whole, algorithmBytes), 'evidence_malformed', 'signature algorithm')
  const issuer = parts.take(tags.sequence).whole
  const [issued, ends] = [timeOf(parts.any()), timeOf(parts.any())]
  const revoked = new Set<string>()
  let critical = false
  const entries = parts.maybe(tags.sequence)
  for (const list = entries && cursor(entries.content); list?.more();) {
    const entry = cursor(list.take(tags.sequence).content)
    revoked.add(toHex(unsignedBytes(entry.take(tags.integer))))
    timeOf(entry.any())
    critical = isCritical(entry.maybe(tags.sequence)) || critical
    entry.end()
  }
  const tail = parts.maybe(contextTag(0))
  parts.end()
  const extensions = tail === null ? new Map<never, never>() : extensionsOf(tail.content)
  critical = critical || [...extensions.values()].some((extension) => extension.critical)
  const stated = extensions.get(crlNumber)
  const number = stated === undefined ? null : toHex(unsignedBytes(onlyItem(stated.value, tags.integer)))
  return { ...signed, issuer, issued, ends, number, revoked, critical }
}

/** Throws unless the issuer signed this list and the list is current. `grace` extends its end, in ms. */
export const checkList = async (
  list: RevocationList,
  issuer: Certificate,
  now: number,
  grace: number,
): Promise<void> => {
  demand(same(list.issuer, issuer.subject), 'crl_invalid', 'issuer')
  demand(issuer.usage === null || (issuer.usage & usages.signLists) !== 0, 'crl_invalid', 'issuer')
  demand(!list.critical, 'crl_invalid', 'critical extension')
  await checkSignature(issuer.key, list.algorithm, list.signature, list.signed, ['crl_invalid', 'signature'])
  demand(list.issued <= now + clockSkewMs, 'crl_invalid', 'of the future')
  demand(now <= list.ends + grace, 'collateral_expired', 'revocation list')
}

/** Throws when the issuer's list names this certificate. */
export const checkRevocation = (certificate: Certificate, list: RevocationList): void => {
  demand(same(certificate.issuer, list.issuer), 'crl_invalid', 'issuer')
  demand(!list.revoked.has(certificate.serial), 'certificate_revoked')
}
