import { aead } from '#aead'
import { randomBytes } from '@noble/hashes/utils.js'
import { concat, padded, textOf, utf8 } from './bytes.ts'

export const nonceLength = 24
/** In bytes: JSON is padded to a multiple of this. */
export const jsonBucket = 256

/** 24 random bytes. With so many, chance never gives a nonce twice. */
export const freshNonce = (): Uint8Array => randomBytes(nonceLength)

/** The nonce must be new for this key; the result does not contain it. */
export const seal = (key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, aad?: Uint8Array): Uint8Array =>
  aead.seal(key, nonce, plain, aad)

/** Null when the bytes do not open. The reason stays hidden, so that callers give one answer for all. */
export const open = (key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad?: Uint8Array): Uint8Array | null => {
  try {
    return aead.open(key, nonce, sealed, aad)
  } catch {
    return null
  }
}

/** JSON, padded so that its length reveals little. */
export const sealJson = (key: Uint8Array, nonce: Uint8Array, value: unknown): Uint8Array =>
  sealPrinted(key, nonce, utf8(JSON.stringify(value)))

/** Seals JSON that is already text. */
export const sealPrinted = (key: Uint8Array, nonce: Uint8Array, json: Uint8Array): Uint8Array =>
  seal(key, nonce, padded(json, jsonBucket))

/** `undefined` when the bytes do not open or are not JSON. */
export const openJson = (key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): unknown => {
  const plain = open(key, nonce, sealed)
  if (plain === null) return undefined
  try {
    return JSON.parse(textOf(plain)) as unknown
  } catch {
    return undefined
  }
}

/** The stored form: the nonce comes first. */
export const sealWith = (key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, aad?: Uint8Array): Uint8Array =>
  concat(nonce, seal(key, nonce, plain, aad))

/** Null when the bytes are too short or do not open. */
export const openWith = (key: Uint8Array, sealed: Uint8Array, aad?: Uint8Array): Uint8Array | null =>
  sealed.length < nonceLength + 16
    ? null
    : open(key, sealed.subarray(0, nonceLength), sealed.subarray(nonceLength), aad)
