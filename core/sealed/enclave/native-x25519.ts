import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto'
import type { Agreement } from '../wire/kem.ts'

const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex')

/**
 * X25519 of the runtime, many times faster than portable code. Throws for points of low order and for other lengths.
 */
export const nativeAgreement = (): Agreement => {
  const keys = new WeakMap<Uint8Array, KeyObject>()
  return (secret, publicKey) => {
    if (publicKey.length !== 32) throw new Error('Wrong point length')
    let privateKey = keys.get(secret)
    if (privateKey === undefined) {
      privateKey = createPrivateKey({ key: Buffer.concat([pkcs8, secret]), format: 'der', type: 'pkcs8' })
      keys.set(secret, privateKey)
    }
    // OpenSSL takes ten times longer to detect the type of a DER key.
    const x = Buffer.from(publicKey.buffer, publicKey.byteOffset, 32).toString('base64url')
    const other = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })
    return diffieHellman({ privateKey, publicKey: other })
  }
}
