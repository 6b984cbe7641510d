import { mlKem } from '#ml-kem'
import { x25519 } from '#x25519'
import { expand, extract } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { sha3_256, shake256 } from '@noble/hashes/sha3.js'
import { randomBytes } from '@noble/hashes/utils.js'
import { concat, number, utf8 } from './bytes.ts'
import type { Kem } from './kem-names.ts'
import type { Encapsulated, MlKem, Opener } from './ml-kem.ts'

export { type Kem, kemOf, kems } from './kem-names.ts'
export type { Opener } from './ml-kem.ts'

/** The public key that belongs to a seed. The same seed always gives the same key. */
export const publicKeyOf = ({ name }: Kem, seed: Uint8Array): Uint8Array => {
  if (name === 'x-wing') {
    const { lattice, point } = halvesOf(seed)
    return concat(mlKem.publicKeyOf(lattice), x25519.publicKeyOf(point))
  }
  return name === 'ml-kem-768' ? mlKem.publicKeyOf(seed) : x25519.publicKeyOf(seed)
}

/** `randomness` is for tests. */
export const encapsulate = ({ name }: Kem, publicKey: Uint8Array, randomness?: Uint8Array): Encapsulated => {
  if (name === 'ml-kem-768') return mlKem.encapsulate(publicKey, randomness)
  if (name === 'x-wing') return encapsulateBoth(publicKey, randomness)
  const secret = randomness ?? randomBytes(32)
  const cipherText = x25519.publicKeyOf(secret)
  return { cipherText, sharedSecret: dhkem(x25519.agree(secret, publicKey), cipherText, publicKey) }
}

/** The secrets of both halves of X-Wing: the seed of ML-KEM and the secret of X25519. */
const halvesOf = (seed: Uint8Array): { readonly lattice: Uint8Array; readonly point: Uint8Array } => {
  const expanded = shake256(seed, { dkLen: 96 })
  return { lattice: expanded.subarray(0, 64), point: expanded.slice(64) }
}

/** X-Wing by its two halves, each as fast as the runtime has it. */
const encapsulateBoth = (publicKey: Uint8Array, randomness?: Uint8Array): Encapsulated => {
  if (publicKey.length !== 1216 || (randomness?.length ?? 64) !== 64) throw new Error('Wrong key length')
  const [lattice, point] = [publicKey.subarray(0, 1184), publicKey.subarray(1184)]
  const half = mlKem.encapsulate(lattice, randomness?.subarray(0, 32))
  const secret = randomness?.slice(32) ?? randomBytes(32)
  const ownPoint = x25519.publicKeyOf(secret)
  const shared = concat(half.sharedSecret, x25519.agree(secret, point), ownPoint, point, xWingLabel)
  return { cipherText: concat(half.cipherText, ownPoint), sharedSecret: sha3_256(shared) }
}

/** The Diffie-Hellman function of X25519. Throws for points of low order. */
export type Agreement = (secret: Uint8Array, publicKey: Uint8Array) => Uint8Array

/**
 * Expands a seed once and opens many cipher texts. Only the enclave may use it. A changed cipher text of ML-KEM or
 * X-Wing gives another secret, which the seal detects; a changed cipher text of X25519 may throw.
 */
export const opener = (
  { name }: Kem,
  seed: Uint8Array,
  agree: Agreement = x25519.agree,
  { opener: decapsulating }: Pick<MlKem, 'opener'> = mlKem,
): Opener => {
  if (name === 'x25519') {
    const publicKey = x25519.publicKeyOf(seed)
    return (cipherText) => dhkem(agree(seed, cipherText), cipherText, publicKey)
  }
  if (name === 'ml-kem-768') return decapsulating(seed)
  const { lattice, point: secret } = halvesOf(seed)
  const open = decapsulating(lattice)
  const publicKey = x25519.publicKeyOf(secret)
  return (cipherText) => {
    const point = cipherText.subarray(1088)
    return sha3_256(concat(open(cipherText.subarray(0, 1088)), agree(secret, point), point, publicKey, xWingLabel))
  }
}

/** The drawing `\./` above `/^\`, by which X-Wing separates its hashes from others. */
const xWingLabel = Uint8Array.of(0x5c, 0x2e, 0x2f, 0x2f, 0x5e, 0x5c)

/** The suite of RFC 9180 for DHKEM(X25519, HKDF-SHA256). */
const suite = concat(utf8('KEM'), number(0x0020, 2))
const version = utf8('HPKE-v1')

/** RFC 9180, 4.1: the raw Diffie-Hellman value is never used as a key. */
const dhkem = (shared: Uint8Array, cipherText: Uint8Array, publicKey: Uint8Array): Uint8Array => {
  if (shared.every((byte) => byte === 0)) throw new Error('No shared secret')
  const key = extract(sha256, concat(version, suite, utf8('eae_prk'), shared), new Uint8Array())
  const context = concat(cipherText, publicKey)
  return expand(sha256, key, concat(number(32, 2), version, suite, utf8('shared_secret'), context), 32)
}
