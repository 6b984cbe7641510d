import { createHash } from 'node:crypto'
import { ml_kem768 as library } from '@noble/post-quantum/ml-kem.js'
import type { MlKem, Opener } from './ml-kem.ts'
import { isNative, mlKem } from './ml-kem.node.ts'
import {
  type Poly,
  addNoise,
  length,
  multiply,
  poly,
  q,
  remainder,
  transform,
  unpack,
  vector,
} from './ml-kem-polynomials.ts'

/** A private key, expanded. */
interface Key {
  readonly secret: readonly Poly[]
  /** The public vector, and the columns of the public matrix. */
  readonly tall: readonly Poly[]
  readonly columns: readonly (readonly Poly[])[]
}

/** The numbers of a cipher text: three polynomials of 10 bits, and one of 4 bits. */
interface Sent {
  readonly wide: readonly Poly[]
  readonly narrow: Poly
}

/** Memory of one opening, which holds secrets until it is over. */
interface Scratch {
  readonly turned: readonly Poly[]
  readonly product: Poly
}

const shake = (name: 'shake128' | 'shake256', outputLength: number, one: Uint8Array, other: Uint8Array): Uint8Array =>
  createHash(name, { outputLength }).update(one).update(other).digest()

/** A polynomial of the public matrix (algorithm 7). */
const drawn = (rho: Uint8Array, column: number, row: number): Poly => {
  for (let size = 1024; ; size *= 2) {
    const bytes = shake('shake128', size, rho, Uint8Array.of(column, row))
    const numbers: number[] = []
    for (let at = 0; at + 3 <= size; at += 3) {
      const [low, both, high] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!]
      numbers.push(...[low | ((both & 15) << 8), (both >> 4) | (high << 4)].filter((number) => number < q))
    }
    if (numbers.length >= length) return Int32Array.from(numbers.slice(0, length))
  }
}

const vectorOf = (bytes: Uint8Array, bits: number): readonly Poly[] => {
  const rows = vector()
  for (const [at, row] of rows.entries()) unpack(bytes.subarray(at * 32 * bits, (at + 1) * 32 * bits), bits, row)
  return rows
}

/** The message inside a cipher text (algorithm 15). */
const decrypt = ({ secret }: Key, { wide, narrow }: Sent, { turned, product }: Scratch): Uint8Array => {
  for (const [row, numbers] of wide.entries()) {
    for (let at = 0; at < length; at++) turned[row]![at] = (numbers[at]! * q + 512) >> 10
    transform(turned[row]!)
  }
  multiply(secret, turned, product)
  const message = new Uint8Array(32)
  for (let at = 0; at < length; at++) {
    const number = remainder(((narrow[at]! * q + 8) >> 4) - product[at]!)
    message[at >> 3]! |= ((Math.imul(number * 2 + 1665, 80635) >>> 28) & 1) << (at & 7)
  }
  return message
}

/** Zero where the message gives this very cipher text again (algorithm 14). */
const difference = (
  key: Key,
  { wide, narrow }: Sent,
  scratch: Scratch,
  message: Uint8Array,
  seed: Uint8Array,
): number => {
  const { turned, product } = scratch
  const add = (number: number, into: Poly) => addNoise(shake('shake256', 128, seed, Uint8Array.of(number)), into)
  let other = 0
  for (const [row, into] of turned.entries()) {
    add(row, into.fill(0))
    transform(into)
  }
  for (const [row, numbers] of wide.entries()) {
    multiply(key.columns[row]!, turned, product)
    add(3 + row, product)
    // A product under 2^53 stays exact, also times a power of two.
    for (let at = 0; at < length; at++)
      other |= numbers[at]! ^ (((remainder(product[at]!) * 1024 + 1665) * 1290167 * 2 ** -32) & 1023)
  }
  multiply(key.tall, turned, product)
  add(6, product)
  for (let at = 0; at < length; at++) {
    const number = remainder(product[at]! + (-((message[at >> 3]! >> (at & 7)) & 1) & 1665))
    other |= narrow[at]! ^ ((Math.imul(number * 16 + 1665, 80635) >>> 28) & 15)
  }
  return other
}

/** Takes the expanded key: the secret vector, the public key, its hash and the value of refused texts. */
const expandedOpener = (expanded: Uint8Array): Opener => {
  const publicKey = expanded.subarray(1152, 2336)
  const [keyHash, refused] = [expanded.subarray(2336, 2368), expanded.subarray(2368)]
  const rho = publicKey.subarray(1152)
  const columns = [0, 1, 2].map((column) => [0, 1, 2].map((row) => drawn(rho, column, row)))
  const key: Key = { secret: vectorOf(expanded, 12), tall: vectorOf(publicKey, 12), columns }
  const scratch: Scratch = { turned: vector(), product: poly() }
  return (cipherText) => {
    if (cipherText.length !== 1088) throw new Error('Wrong cipher text length')
    const sent: Sent = { wide: vectorOf(cipherText, 10), narrow: poly() }
    unpack(cipherText.subarray(960), 4, sent.narrow)
    const message = decrypt(key, sent, scratch)
    const made = createHash('sha3-512').update(message).update(keyHash).digest()
    const given = shake('shake256', 32, refused, cipherText)
    const mask = -difference(key, sent, scratch, message, made.subarray(32)) >> 31
    const shared = Uint8Array.from(given, (byte, at) => made[at]! ^ (mask & (made[at]! ^ byte)))
    for (const used of [...scratch.turned, scratch.product, message, made, given]) used.fill(0)
    return shared
  }
}

type Opening = Pick<MlKem, 'opener'>

/** Opens cipher texts of ML-KEM-768 (FIPS 203, algorithm 18) several times as fast as the portable code. */
export const ownOpening: Opening = { opener: (seed) => expandedOpener(library.keygen(seed).secretKey) }

/** As fast as this Node can; for the enclave, which opens one for each call. */
export const fastestOpening: Opening = isNative ? mlKem : ownOpening
