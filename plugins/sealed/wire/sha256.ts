import { sha256 } from '@noble/hashes/sha2.js'

/** SHA-256 of bytes that come in parts. */
export interface Hashing {
  update(bytes: Uint8Array): unknown
  digest(): Uint8Array
}

/** For browsers; `sha256.node.ts` takes its place in Node. */
export const hashing = (): Hashing => sha256.create()
