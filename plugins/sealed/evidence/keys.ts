import { concat, fromHex, toHex } from '../wire/bytes.ts'
import { cursor, unsignedBytes, onlyItem, tags } from './der.ts'
import { type Reason, Refusal, demand, refuse } from './reasons.ts'

/** The signatures that makers of platforms use; no policy can add another. */
export type Algorithm = 'ecdsa-sha256' | 'ecdsa-sha384' | 'rsa-pss-sha384'

/** A key that Web Crypto can import. */
export interface PublicKey {
  readonly kind: 'p256' | 'p384' | 'rsa'
  /** SubjectPublicKeyInfo in DER. */
  readonly info: Uint8Array
}

const sha384 = '0609608648016503040202'
const mgf1 = '06092a864886f70d010108'
const wrapped = (tag: string, hex: string): string => tag + (hex.length / 2).toString(16).padStart(2, '0') + hex

/** RSASSA-PSS with SHA-384 throughout and a salt of 48 bytes, in all existing spellings. */
const pss = ['', '0500'].flatMap((first) =>
  ['', '0500'].flatMap((second) =>
    ['', 'a303020101'].map((trailer) => {
      const hash = wrapped('a0', wrapped('30', sha384 + first))
      const mask = wrapped('a1', wrapped('30', mgf1 + wrapped('30', sha384 + second)))
      return wrapped('30', `06092a864886f70d01010a${wrapped('30', `${hash}${mask}a203020130${trailer}`)}`)
    }),
  ),
)

/** All accepted AlgorithmIdentifiers, as hex of their DER. */
const algorithms = new Map<string, Algorithm>([
  ['300a06082a8648ce3d040302', 'ecdsa-sha256'],
  ['300a06082a8648ce3d040303', 'ecdsa-sha384'],
  ...pss.map((hex) => [hex, 'rsa-pss-sha384'] as const),
])

/** Throws `evidence_malformed` for an identifier in any other spelling, even where both mean the same algorithm. */
export const algorithmOf = (identifier: Uint8Array): Algorithm =>
  algorithms.get(toHex(identifier)) ?? refuse('evidence_malformed', 'signature algorithm')

const bytes = (hex: string): Uint8Array => fromHex(hex, hex.length / 2)!

/** The DER bytes before the two coordinates of an uncompressed point. */
const prefixes = {
  p256: bytes('3059301306072a8648ce3d020106082a8648ce3d03010703420004'),
  p384: bytes('3076301006072a8648ce3d020106052b8104002203620004'),
} as const

const curves = {
  p256: { name: 'P-256', size: 32 },
  p384: { name: 'P-384', size: 48 },
} as const

/** The public key at these coordinates, x‖y. */
export const pointKey = (kind: 'p256' | 'p384', point: Uint8Array): PublicKey => {
  demand(point.length === 2 * curves[kind].size, 'evidence_malformed', 'public key')
  return { kind, info: concat(prefixes[kind], point) }
}

/** The AlgorithmIdentifier of an RSA key, as hex of its DER. */
const rsaEncryption = '300d06092a864886f70d0101010500'

/** A key of P-256, P-384, or RSA with at least 4096 bits. */
export const publicKeyOf = (info: Uint8Array): PublicKey => {
  const hex = toHex(info)
  for (const kind of ['p256', 'p384'] as const) {
    const size = prefixes[kind].length + 2 * curves[kind].size
    if (info.length === size && hex.startsWith(toHex(prefixes[kind]))) return { kind, info }
  }
  const outer = cursor(onlyItem(info, tags.sequence).content)
  demand(toHex(outer.take(tags.sequence).whole) === rsaEncryption, 'evidence_malformed', 'public key')
  const bits = outer.take(tags.bitString)
  outer.end()
  demand(bits.content[0] === 0, 'evidence_malformed', 'public key')
  const numbers = cursor(onlyItem(bits.content.subarray(1), tags.sequence).content)
  const [modulus, exponent] = [unsignedBytes(numbers.take(tags.integer)), unsignedBytes(numbers.take(tags.integer))]
  numbers.end()
  demand(modulus.length >= 512 && modulus[0]! >= 0x80, 'evidence_malformed', 'public key')
  demand(toHex(exponent) === '010001', 'evidence_malformed', 'public key')
  return { kind: 'rsa', info }
}

/** The kind of key for each algorithm: a signature by a weaker curve is refused. */
const needed: Readonly<Record<Algorithm, readonly PublicKey['kind'][]>> = {
  'ecdsa-sha256': ['p256'],
  'ecdsa-sha384': ['p384'],
  'rsa-pss-sha384': ['rsa'],
}

/** r‖s of a DER signature, each as wide as the curve. */
export const flatSignature = (der: Uint8Array, kind: 'p256' | 'p384'): Uint8Array => {
  const { size } = curves[kind]
  const numbers = cursor(onlyItem(der, tags.sequence).content)
  const halves = [unsignedBytes(numbers.take(tags.integer)), unsignedBytes(numbers.take(tags.integer))]
  numbers.end()
  return concat(
    ...halves.map((half) => {
      demand(half.length <= size, 'evidence_malformed', 'signature')
      return concat(new Uint8Array(size - half.length), half)
    }),
  )
}

/** Web Crypto, which browsers and Node both have. Throws `no_crypto` on a page without https. */
const subtle = (): SubtleCrypto => {
  const found = (globalThis as { crypto?: { subtle?: SubtleCrypto } }).crypto?.subtle
  return found ?? refuse('no_crypto')
}

/** Throws `no_crypto` where the page has no Web Crypto. */
export const digest = async (algorithm: 'SHA-256' | 'SHA-384', data: Uint8Array): Promise<Uint8Array> =>
  new Uint8Array(await subtle().digest(algorithm, data as Uint8Array<ArrayBuffer>))

/** Throws the refusal unless the key made this signature over this data. A curve's signature is r‖s. */
export const checkSignature = async (
  key: PublicKey,
  algorithm: Algorithm,
  signature: Uint8Array,
  data: Uint8Array,
  [reason, detail]: readonly [Reason, string],
): Promise<void> => {
  demand(needed[algorithm].includes(key.kind), reason, detail)
  const [imported, parameters] =
    key.kind === 'rsa'
      ? [
          { name: 'RSA-PSS', hash: 'SHA-384' },
          { name: 'RSA-PSS', saltLength: 48 },
        ]
      : [
          { name: 'ECDSA', namedCurve: curves[key.kind].name },
          { name: 'ECDSA', hash: key.kind === 'p256' ? 'SHA-256' : 'SHA-384' },
        ]
  const port = subtle()
  const made = await port
    .importKey('spki', key.info as Uint8Array<ArrayBuffer>, imported, false, ['verify'])
    .catch((cause: unknown) => {
      throw new Refusal('evidence_malformed', 'public key', cause)
    })
  const holds = await port
    .verify(parameters, made, signature as Uint8Array<ArrayBuffer>, data as Uint8Array<ArrayBuffer>)
    .catch((cause: unknown) => {
      throw new Refusal(reason, detail, cause)
    })
  demand(holds, reason, detail)
}

/** Throws the refusal unless the Ed25519 key made this signature. */
export const checkEd25519 = async (
  key: Uint8Array,
  signature: Uint8Array,
  data: Uint8Array,
  reason: Reason,
): Promise<void> => {
  const port = subtle()
  const made = await port
    .importKey('raw', key as Uint8Array<ArrayBuffer>, { name: 'Ed25519' }, false, ['verify'])
    .catch((cause: unknown) => {
      throw new Refusal('no_crypto', 'Ed25519', cause)
    })
  const holds = await port.verify(
    { name: 'Ed25519' },
    made,
    signature as Uint8Array<ArrayBuffer>,
    data as Uint8Array<ArrayBuffer>,
  )
  demand(holds, reason)
}
