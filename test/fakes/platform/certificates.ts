import { type KeyObject, constants, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { concat } from '../../../plugins/sealed/wire/bytes.ts'
import { bitString, der, hex, integer, name, octetString, oid, sequence, utcTime } from './der.ts'

/** A key pair of the test platform and the algorithm with which it signs certificates. */
export interface Signer {
  readonly secret: KeyObject
  /** SubjectPublicKeyInfo. */
  readonly info: Uint8Array
  /** AlgorithmIdentifier. */
  readonly algorithm: Uint8Array
  /** In the form of certificates. */
  sign(data: Uint8Array): Uint8Array
  /** A curve's r‖s. */
  flat(data: Uint8Array): Uint8Array
}

const pss = hex(
  '3041 06092a864886f70d01010a 3034 a00f 300d 0609608648016503040202 0500 a11c 301a 06092a864886f70d010108 300d 0609608648016503040202 0500 a203 020130',
)
const ecdsa = { p256: hex('300a06082a8648ce3d040302'), p384: hex('300a06082a8648ce3d040303') }

const infoOf = (secret: KeyObject): Uint8Array =>
  new Uint8Array(createPublicKey(secret).export({ type: 'spki', format: 'der' }))

/** Keys of 4096 bits, published on purpose: making them takes seconds, and they prove nothing. */
const publishedKey = (name: 'ark' | 'ask' | 'other'): KeyObject =>
  createPrivateKey(readFileSync(`test/fakes/platform/published-keys/${name}.pem`))

export const rsaSigner = (which: Parameters<typeof publishedKey>[0]): Signer => {
  const secret = publishedKey(which)
  const options = { key: secret, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 }
  // A signature takes milliseconds, and hundreds of cases differ in none of their certificates.
  const made = new Map<string, Uint8Array>()
  const signed = (data: Uint8Array) => {
    const mark = Buffer.from(data).toString('latin1')
    const signature = made.get(mark) ?? new Uint8Array(sign('sha384', data, options))
    made.set(mark, signature)
    return signature.slice()
  }
  return { secret, info: infoOf(secret), algorithm: pss, sign: signed, flat: signed }
}

export const curveSigner = (curve: 'p256' | 'p384'): Signer => {
  const { privateKey: secret } = generateKeyPairSync('ec', { namedCurve: curve === 'p256' ? 'P-256' : 'P-384' })
  const hash = curve === 'p256' ? 'sha256' : 'sha384'
  return {
    secret,
    info: infoOf(secret),
    algorithm: ecdsa[curve],
    sign: (data) => new Uint8Array(sign(hash, data, { key: secret, dsaEncoding: 'der' })),
    flat: (data) => new Uint8Array(sign(hash, data, { key: secret, dsaEncoding: 'ieee-p1363' })),
  }
}

export const extension = (id: string, value: Uint8Array, critical = false): Uint8Array =>
  sequence(oid(id), ...(critical ? [der(0x01, Uint8Array.of(0xff))] : []), octetString(value))

export const constraints = (pathLength?: number): Uint8Array =>
  extension(
    '2.5.29.19',
    sequence(der(0x01, Uint8Array.of(0xff)), ...(pathLength === undefined ? [] : [integer(pathLength)])),
    true,
  )

/** keyUsage by its first byte: 0x04 signs certificates, 0x02 lists. */
export const keyUsage = (bits: number): Uint8Array => extension('2.5.29.15', bitString(Uint8Array.of(bits), 1), true)

export interface CertificateParts {
  readonly serial?: number | Uint8Array
  readonly issuer: string
  readonly subject: string
  readonly notBefore: number
  readonly notAfter: number
  readonly key: Signer
  readonly by: Signer
  readonly extensions: readonly Uint8Array[]
  /** The algorithm that stands inside, when it is another one. */
  readonly inner?: Uint8Array
  /** The version's value, 2 for version 3. */
  readonly version?: number
}

const signedBy = (by: Signer, inside: Uint8Array): Uint8Array =>
  sequence(inside, by.algorithm, bitString(by.sign(inside)))

export const makeCertificate = (parts: CertificateParts): Uint8Array =>
  signedBy(
    parts.by,
    sequence(
      der(0xa0, integer(parts.version ?? 2)),
      integer(parts.serial ?? 1),
      parts.inner ?? parts.by.algorithm,
      name(parts.issuer),
      sequence(utcTime(parts.notBefore), utcTime(parts.notAfter)),
      name(parts.subject),
      parts.key.info,
      der(0xa3, sequence(...parts.extensions)),
    ),
  )

export interface ListParts {
  readonly issuer: string
  readonly issued: number
  readonly ends: number
  readonly by: Signer
  readonly revoked?: readonly number[]
  readonly number?: number
  readonly extensions?: readonly Uint8Array[]
  /** Extensions of each entry. */
  readonly entry?: Uint8Array
  /** A list without its end. */
  readonly endless?: boolean
}

export const makeList = (parts: ListParts): Uint8Array => {
  const revoked = (parts.revoked ?? []).map((serial) =>
    sequence(integer(serial), utcTime(parts.issued), ...(parts.entry ? [sequence(parts.entry)] : [])),
  )
  const extensions = [extension('2.5.29.20', integer(parts.number ?? 1)), ...(parts.extensions ?? [])]
  const inside = concat(
    integer(1),
    parts.by.algorithm,
    name(parts.issuer),
    utcTime(parts.issued),
    ...(parts.endless ? [] : [utcTime(parts.ends)]),
    ...(revoked.length > 0 ? [sequence(...revoked)] : []),
    der(0xa0, sequence(...extensions)),
  )
  return signedBy(parts.by, sequence(inside))
}

/** The certificates in PEM, signer first. */
export const pemOf = (...certificates: readonly Uint8Array[]): string =>
  certificates
    .map((certificate) => {
      const lines = Buffer.from(certificate)
        .toString('base64')
        .match(/.{1,64}/g)!
      return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
    })
    .join('')
