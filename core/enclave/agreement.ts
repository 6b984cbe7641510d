import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto'
import type { Agreement } from '../wire/kem.ts'

const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex')
const spki = Buffer.from('302a300506032b656e032100', 'hex')

/** X25519 of the runtime, many times as fast as the portable one. Throws for the points of low order, and for other lengths. */
export const nativeAgreement = (): Agreement => {
  const keys = new WeakMap<Uint8Array, KeyObject>()
  return (secret, publicKey) => {
    // The encoding around it would let a longer one pass.
    if (publicKey.length !== 32) throw new Error('Wrong point length')
    let privateKey = keys.get(secret)
    if (privateKey === undefined) {
      privateKey = createPrivateKey({ key: Buffer.concat([pkcs8, secret]), format: 'der', type: 'pkcs8' })
      keys.set(secret, privateKey)
    }
    const other = createPublicKey({ key: Buffer.concat([spki, publicKey]), format: 'der', type: 'spki' })
    return diffieHellman({ privateKey, publicKey: other })
  }
}
