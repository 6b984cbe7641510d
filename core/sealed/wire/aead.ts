import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'

/** XChaCha20-Poly1305: key of 32 bytes, nonce of 24, tag of 16 at the end. */
export interface Aead {
  seal(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, aad?: Uint8Array): Uint8Array
  /** Throws when a bit is wrong. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad?: Uint8Array): Uint8Array
}

export const aead: Aead = {
  seal: (key, nonce, plain, aad) => xchacha20poly1305(key, nonce, aad).encrypt(plain),
  open: (key, nonce, sealed, aad) => xchacha20poly1305(key, nonce, aad).decrypt(sealed),
}
