import { x25519 as portable } from '@noble/curves/ed25519.js'

/** X25519 of RFC 7748, as fast as the platform has it. Secrets and keys have 32 bytes. */
export interface X25519 {
  publicKeyOf(secret: Uint8Array): Uint8Array
  /** The Diffie-Hellman function. Throws for points of low order and for other lengths. */
  agree(secret: Uint8Array, publicKey: Uint8Array): Uint8Array
}

/** For browsers; `x25519.node.ts` takes its place in Node. */
export const x25519: X25519 = {
  publicKeyOf: (secret) => portable.getPublicKey(secret),
  agree: (secret, publicKey) => portable.getSharedSecret(secret, publicKey),
}
