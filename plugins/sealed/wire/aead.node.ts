import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { hchacha } from '@noble/ciphers/chacha.js'
import type { Aead, Hashing } from './aead.ts'

/** Bytes that OpenSSL seals at once: a long text would stand in memory twice. */
const slice = 256 * 1024

/** Produces the same bytes as `aead.ts`. OpenSSL does most of the work. */
export const aead: Aead = {
  seal(key, nonce, plain, aad) {
    const cipher = cipherOf(key, nonce)
    if (aad !== undefined) cipher.setAAD(aad, { plaintextLength: plain.length })
    const sealed = new Uint8Array(plain.length + tagLength)
    for (let at = 0; at < plain.length; at += slice) sealed.set(cipher.update(plain.subarray(at, at + slice)), at)
    cipher.final()
    sealed.set(cipher.getAuthTag(), plain.length)
    return sealed
  },
  open(key, nonce, sealed, aad) {
    const decipher = decipherOf(key, nonce, sealed)
    const body = sealed.subarray(0, -tagLength)
    if (aad !== undefined) decipher.setAAD(aad, { plaintextLength: body.length })
    const plain = decipher.update(body)
    decipher.final()
    return new Uint8Array(plain.buffer, plain.byteOffset, plain.length)
  },
}

/** The same as in `aead.ts` by OpenSSL, several times as fast. */
export const hashing = (): Hashing => createHash('sha256')

/** In bytes: the tag behind sealed bytes. */
export const tagLength = 16

/** Seals what comes in order. The tag is known behind the last byte. */
export const cipherOf = (key: Uint8Array, nonce: Uint8Array) =>
  createCipheriv('chacha20-poly1305', ...derived(key, nonce), { authTagLength: tagLength })

/** Opens the bytes before the tag in order. Nothing of them holds until `final` has not thrown. */
export const decipherOf = (key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array) => {
  if (sealed.length < tagLength) throw new Error('Too short to be sealed')
  const decipher = createDecipheriv('chacha20-poly1305', ...derived(key, nonce), { authTagLength: tagLength })
  return decipher.setAuthTag(sealed.subarray(-tagLength))
}

/** The constant of ChaCha: four little-endian words. */
const sigma = words(new TextEncoder().encode('expand 32-byte k'))

/** XChaCha is ChaCha under a key that HChaCha derives from the first 16 bytes of the nonce. */
const derived = (key: Uint8Array, nonce: Uint8Array): readonly [Uint8Array, Uint8Array] => {
  if (key.length !== 32 || nonce.length !== 24) throw new Error('Wrong key or nonce length')
  const subkey = new Uint32Array(8)
  hchacha(sigma, words(key), words(nonce.subarray(0, 16)), subkey)
  const rest = new Uint8Array(12)
  rest.set(nonce.subarray(16), 4)
  return [new Uint8Array(subkey.buffer), rest]
}

/** Copies the bytes, since a view needs an aligned start. */
function words(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer)
}
