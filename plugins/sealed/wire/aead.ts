import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** XChaCha20-Poly1305: 32 bytes of key, 24 of nonce, 16 of tag at the end. */
export interface Aead {
  /** Returns the sealed bytes without the nonce. Throws when key or nonce have another length. */
  seal(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, aad?: Uint8Array): Uint8Array
  /** Throws when a bit was changed. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad?: Uint8Array): Uint8Array
}

/** For browsers; `aead.node.ts` takes its place in Node. */
export const aead: Aead = {
  seal: (key, nonce, plain, aad) => xchacha20poly1305(key, nonce, aad).encrypt(plain),
  open: (key, nonce, sealed, aad) => xchacha20poly1305(key, nonce, aad).decrypt(sealed),
}

/** SHA-256 of bytes that come in parts. */
export interface Hashing {
  update(bytes: Uint8Array): unknown
  digest(): Uint8Array
}

/** Pages that resolve names by hand know the name of this module, and none of another one. */
export const hashing = (): Hashing => sha256.create()
