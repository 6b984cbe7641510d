import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8 } from './bytes.ts'

const derive = (key: Uint8Array, salt: string | Uint8Array | undefined, info: string, length: number): Uint8Array =>
  hkdf(sha256, key, typeof salt === 'string' ? utf8(salt) : salt, utf8(info), length)

/** Every key of the wire format is derived under a label; docs/wire.md has the table. */
export const streamKey = (sharedSecret: Uint8Array, requestNonce: Uint8Array): Uint8Array =>
  derive(sharedSecret, requestNonce, 'rvenc/1 s2c/stream', 32)

/** Names a KEK in 16 bytes, without revealing it. */
export const kekId = (kek: Uint8Array): Uint8Array => derive(kek, undefined, 'rvenc/kek-id', 16)

/** Wraps the retrieval key. No wrapped key of a file can pass as a retrieval key. */
export const ragWrapKey = (kek: Uint8Array): Uint8Array => derive(kek, undefined, 'rvenc/rag-wrap', 32)

/** Marks the ids that a client chooses. */
export const fileMarkKey = (kek: Uint8Array): Uint8Array => derive(kek, undefined, 'rvenc/file-mark', 32)

/** Binds records to their content. */
export const fileBindKey = (kek: Uint8Array): Uint8Array => derive(kek, undefined, 'rvenc/file-bind', 32)

/** Seals a client's memory of its files. */
export const memoryKey = (kek: Uint8Array): Uint8Array => derive(kek, undefined, 'rvenc/memory', 32)

/** A key for each part of a file: a name under the key of a content does not open. */
export const fileKey = (dek: Uint8Array, label: 'content' | 'name' | 'mime'): Uint8Array =>
  derive(dek, 'rvenc/file/2', label, 32)

/** Seals the rows of all indexes of a client; each row is bound to its file and place. */
export const ragRowKey = (ragDek: Uint8Array): Uint8Array => derive(ragDek, 'rvenc/rag/1', 'row', 32)

/** Equal for equal files under one KEK, and reveals nothing else. `digest` is SHA-256 of the plaintext. */
export const clientHash = (kek: Uint8Array, digest: Uint8Array): Uint8Array =>
  hmac(sha256, derive(kek, undefined, 'rvenc/dedup', 32), digest)
