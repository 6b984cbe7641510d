import { same, toHex } from '../wire/bytes.ts'
import {
  type Item,
  booleanOf,
  contextTag,
  cursor,
  unsignedBytes,
  octetsOf,
  oidOf,
  onlyItem,
  smallInteger,
  tags,
  timeOf,
} from './der.ts'
import { type Algorithm, type PublicKey, algorithmOf, flatSignature, publicKeyOf } from './keys.ts'
import { demand, refuse } from './reasons.ts'

/** An extension of a certificate or a list: its flag and its DER. */
export interface Extension {
  readonly critical: boolean
  readonly value: Uint8Array
}

/** An X.509 certificate of version 3, untrusted until its chain is checked. */
export interface Certificate {
  readonly whole: Uint8Array
  /** The bytes that the issuer signed. */
  readonly signed: Uint8Array
  readonly algorithm: Algorithm
  /** r‖s for a curve. */
  readonly signature: Uint8Array
  /** In hex. */
  readonly serial: string
  /** Names as DER. */
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  /** The only common name of the subject; null when the subject has none or several. */
  readonly commonName: string | null
  /** In Unix ms, like `notAfter`; both ends are inclusive. */
  readonly notBefore: number
  readonly notAfter: number
  readonly key: PublicKey
  /** True when basicConstraints allow the certificate to issue others. */
  readonly authority: boolean
  /** The largest number of authorities between this one and a leaf; null for any number. */
  readonly pathLength: number | null
  /** The bits of keyUsage, the first bit highest; null when keyUsage is absent. */
  readonly usage: number | null
  /** The keys are identifiers in hex. */
  readonly extensions: ReadonlyMap<string, Extension>
}

/** Bits of keyUsage: a key may sign certificates, or lists of revoked ones. */
export const usages = { sign: 0x04, signLists: 0x02 } as const

/** In bytes: real certificates of all three makers have fewer than 2 KiB. */
const mostBytes = 4096
const mostExtensions = 32

/** Identifiers of X.509 as the hex of their DER content. */
const oids = {
  commonName: '550403',
  subjectKey: '551d0e',
  keyUsage: '551d0f',
  subjectNames: '551d11',
  basicConstraints: '551d13',
  lists: '551d1f',
  authorityKey: '551d23',
  extendedUsage: '551d25',
} as const

/** A critical extension outside of these is refused, as RFC 5280 demands. */
const known: ReadonlySet<string> = new Set(Object.values(oids))

/** The common parts of certificates and lists: the signed bytes, the algorithm and the signature. */
export type Signed = Readonly<ReturnType<typeof signedOf>>

/** SEQUENCE { signed part, algorithm, signature }. */
export const signedOf = (bytes: Uint8Array) => {
  const outer = cursor(onlyItem(bytes, tags.sequence).content)
  const inside = outer.take(tags.sequence)
  const algorithmBytes = outer.take(tags.sequence).whole
  const raw = octetsOf(outer.take(tags.bitString))
  outer.end()
  const algorithm = algorithmOf(algorithmBytes)
  const signature =
    algorithm === 'rsa-pss-sha384' ? raw : flatSignature(raw, algorithm === 'ecdsa-sha256' ? 'p256' : 'p384')
  return { signed: inside.whole, inside, algorithm, algorithmBytes, signature }
}

/** Extensions by identifier. Each identifier may occur once. */
export const extensionsOf = (list: Uint8Array): ReadonlyMap<string, Extension> => {
  const found = new Map<string, Extension>()
  const all = cursor(onlyItem(list, tags.sequence).content)
  while (all.more()) {
    const parts = cursor(all.take(tags.sequence).content)
    const oid = oidOf(parts.take(tags.oid))
    const flag = parts.maybe(tags.boolean)
    // DER omits a default, so a written flag is true.
    if (flag !== null) demand(booleanOf(flag), 'evidence_malformed', 'extension')
    const value = parts.take(tags.octetString).content
    parts.end()
    demand(!found.has(oid) && found.size < mostExtensions, 'evidence_malformed', 'extension')
    found.set(oid, { critical: flag !== null, value })
  }
  return found
}

/** Null for several common names: none of them may be chosen, since two readers could choose differently. */
const commonNameOf = (name: Item): string | null => {
  const found: string[] = []
  const sets = cursor(name.content)
  while (sets.more()) {
    const pairs = cursor(sets.take(tags.set).content)
    while (pairs.more()) {
      const pair = cursor(pairs.take(tags.sequence).content)
      const oid = oidOf(pair.take(tags.oid))
      const value = pair.any()
      pair.end()
      if (oid !== oids.commonName) continue
      const plain = value.tag === tags.utf8String || value.tag === tags.printableString
      demand(plain && value.content.every((byte) => byte >= 0x20 && byte < 0x7f), 'evidence_malformed', 'name')
      found.push(String.fromCharCode(...value.content))
    }
  }
  return found.length === 1 ? found[0]! : null
}

/** Without the extension a certificate is a leaf: `cA` is false by default (RFC 5280). */
const constraintsOf = (extension: Extension | undefined): { authority: boolean; pathLength: number | null } => {
  if (extension === undefined) return { authority: false, pathLength: null }
  const parts = cursor(onlyItem(extension.value, tags.sequence).content)
  const flag = parts.maybe(tags.boolean)
  if (flag !== null) demand(booleanOf(flag), 'evidence_malformed', 'basicConstraints')
  const length = parts.maybe(tags.integer)
  parts.end()
  demand(flag !== null || length === null, 'evidence_malformed', 'basicConstraints')
  return { authority: flag !== null, pathLength: length && smallInteger(length) }
}

/** The first byte alone: all bits that matter here are in it. */
const usageOf = (extension: Extension | undefined): number | null => {
  if (extension === undefined) return null
  const { content } = onlyItem(extension.value, tags.bitString)
  const [unused, first] = content
  if (unused === undefined || first === undefined || unused > 7 || content.length > 3)
    return refuse('evidence_malformed', 'keyUsage')
  return first
}

/** Throws `evidence_malformed` unless the bytes are a strict certificate of at most 4 KiB. */
export const readCertificate = (bytes: Uint8Array): Certificate => {
  demand(bytes.length <= mostBytes, 'evidence_malformed', 'certificate')
  const { inside, algorithmBytes, ...signed } = signedOf(bytes)
  const parts = cursor(inside.content)
  demand(toHex(parts.take(contextTag(0)).content) === '020102', 'evidence_malformed', 'certificate version')
  const serial = unsignedBytes(parts.take(tags.integer))
  demand(serial.length <= 20, 'evidence_malformed', 'serial number')
  demand(same(parts.take(tags.sequence).whole, algorithmBytes), 'evidence_malformed', 'signature algorithm')
  const issuer = parts.take(tags.sequence)
  const dates = cursor(parts.take(tags.sequence).content)
  const [notBefore, notAfter] = [timeOf(dates.any()), timeOf(dates.any())]
  dates.end()
  const subject = parts.take(tags.sequence)
  const key = publicKeyOf(parts.take(tags.sequence).whole)
  const extensions = extensionsOf(parts.take(contextTag(3)).content)
  parts.end()
  for (const [oid, { critical }] of extensions)
    demand(!critical || known.has(oid), 'evidence_malformed', 'critical extension')
  return {
    whole: bytes,
    ...signed,
    serial: toHex(serial),
    issuer: issuer.whole,
    subject: subject.whole,
    commonName: commonNameOf(subject),
    notBefore,
    notAfter,
    key,
    ...constraintsOf(extensions.get(oids.basicConstraints)),
    usage: usageOf(extensions.get(oids.keyUsage)),
    extensions,
  }
}
