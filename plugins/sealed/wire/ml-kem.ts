import { randomBytes } from '@noble/hashes/utils.js'
import { ml_kem768 as portable } from '@noble/post-quantum/ml-kem.js'
import { same } from './bytes.ts'

/** A shared secret of 32 bytes and the cipher text that carries it. */
export interface Encapsulated {
  readonly cipherText: Uint8Array
  readonly sharedSecret: Uint8Array
}

/** Returns the shared secret of 32 bytes that a cipher text carries. */
export type Opener = (cipherText: Uint8Array) => Uint8Array

/** ML-KEM-768 of FIPS 203, as fast as the platform has it. A seed has 64 bytes, a public key 1,184, a cipher text 1,088. */
export interface MlKem {
  publicKeyOf(seed: Uint8Array): Uint8Array
  /** Throws for a public key of another length, and for a key whose numbers are not reduced. `randomness` is for tests. */
  encapsulate(publicKey: Uint8Array, randomness?: Uint8Array): Encapsulated
  /** Expands a seed once, for many cipher texts. The opener throws for another length; a changed cipher text gives another secret. */
  opener(seed: Uint8Array): Opener
}

/** Remembers the last public key that was expanded: a client seals to one key for hours. */
export const rememberLast = <T>(expand: (publicKey: Uint8Array) => T): ((publicKey: Uint8Array) => T) => {
  let last: { readonly publicKey: Uint8Array; readonly expanded: T } | null = null
  return (publicKey) => {
    if (last !== null && same(last.publicKey, publicKey)) return last.expanded
    const own = publicKey.slice()
    const expanded = expand(own)
    last = { publicKey: own, expanded }
    return expanded
  }
}

const prepared = rememberLast((publicKey) => portable.prepare(publicKey))

/** For browsers, and for Node without the native one of `ml-kem.node.ts`. */
export const mlKem: MlKem = {
  publicKeyOf: (seed) => portable.keygen(seed).publicKey,
  encapsulate: (publicKey, randomness = randomBytes(32)) => prepared(publicKey).encapsulate(randomness),
  opener(seed) {
    const { secretKey, publicKey } = portable.keygen(seed)
    const expanded = portable.prepare(publicKey)
    return (cipherText) => expanded.decapsulate(cipherText, secretKey)
  },
}
