import crypto, { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { hexToBytes } from '@noble/hashes/utils.js'
import { type MlKem, mlKem as portable, rememberLast } from './ml-kem.ts'

/** What Node has from 24.7 on, where its OpenSSL knows ML-KEM. */
interface NativeKem {
  encapsulate(key: KeyObject): { readonly sharedKey: Uint8Array; readonly ciphertext: Uint8Array }
  decapsulate(key: KeyObject, cipherText: Uint8Array): Uint8Array
}

/** The DER bytes before a seed and before a public key, by RFC 9935. */
const pkcs8 = hexToBytes('3054020100300b060960864801650304040204428040')
const spki = hexToBytes('308204b2300b0609608648016503040402038204a100')

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' })

/** Null where Node or its OpenSSL has none. */
const native = (): NativeKem | null => {
  const { encapsulate, decapsulate } = crypto as Partial<NativeKem>
  if (encapsulate === undefined || decapsulate === undefined) return null
  try {
    privateKeyOf(new Uint8Array(64))
    return { encapsulate, decapsulate }
  } catch {
    return null
  }
}

/** A plain array, as the portable code gives it: the `slice` of a Buffer would share its memory. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

const nativeMlKem = ({ encapsulate, decapsulate }: NativeKem): MlKem => {
  // OpenSSL takes longer to read a key than to use it.
  const keyOf = rememberLast((publicKey) => {
    if (publicKey.length !== 1184) throw new Error('Wrong key length')
    return createPublicKey({ key: Buffer.concat([spki, publicKey]), format: 'der', type: 'spki' })
  })

  return {
    publicKeyOf: portable.publicKeyOf,
    encapsulate(publicKey, randomness) {
      if (randomness !== undefined) return portable.encapsulate(publicKey, randomness)
      const { sharedKey, ciphertext } = encapsulate(keyOf(publicKey))
      return { cipherText: plain(ciphertext), sharedSecret: plain(sharedKey) }
    },
    opener(seed) {
      if (seed.length !== 64) throw new Error('Wrong seed length')
      const key = privateKeyOf(seed)
      return (cipherText) => {
        if (cipherText.length !== 1088) throw new Error('Wrong cipher text length')
        return plain(decapsulate(key, cipherText))
      }
    },
  }
}

const found = native()

/** Whether OpenSSL does the work. */
export const isNative = found !== null

/** The same as `ml-kem.ts` by OpenSSL, where Node has it. */
export const mlKem: MlKem = found === null ? portable : nativeMlKem(found)
