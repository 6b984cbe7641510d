import { x25519 as portable } from '@noble/curves/ed25519.js'

export interface X25519 {
  publicKeyOf(secret: Uint8Array): Uint8Array
  /** The Diffie-Hellman function. Throws for points of low order and for other lengths. */
  agree(secret: Uint8Array, publicKey: Uint8Array): Uint8Array
}

export const x25519: X25519 = {
  publicKeyOf: (secret) => portable.getPublicKey(secret),
  agree: (secret, publicKey) => portable.getSharedSecret(secret, publicKey),
}
