import { randomBytes } from 'node:crypto'
import { aead } from '#aead'
import { x25519 } from '#x25519'
import { ed25519 } from '@noble/curves/ed25519.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concat, utf8 } from '../../sealed/wire/bytes.ts'
import { fromHex, toHex } from '../../sealed/wire/hex.ts'

/** Changes one text. */
export type Change = (text: string) => string

/** In bytes: an ephemeral key, a nonce and a tag. */
const [keySize, nonceSize, tagSize] = [32, 24, 16]
const mostText = 64 * 1024 * 1024

const secretOf = (own: Uint8Array, other: Uint8Array): Uint8Array =>
  hkdf(sha256, x25519.agree(own, other), undefined, utf8('ed25519_encryption'), 32)

/** Seals texts to a key of Ed25519, each under an ephemeral key of its own. Throws for bytes that are no key. */
export const textSealer = (key: Uint8Array): Change => {
  const to = ed25519.utils.toMontgomery(key)
  return (text) => {
    if (text === '') return ''
    const [own, nonce] = [new Uint8Array(randomBytes(keySize)), new Uint8Array(randomBytes(nonceSize))]
    return toHex(concat(x25519.publicKeyOf(own), nonce, aead.seal(secretOf(own, to), nonce, utf8(text))))
  }
}

/** A fresh key of Ed25519 in hex, and what opens the texts that are sealed to it. `open` throws for every other text. */
export const textOpener = (): { readonly key: string; readonly open: Change } => {
  const seed = new Uint8Array(randomBytes(32))
  const own = ed25519.utils.toMontgomerySecret(seed)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return {
    key: toHex(ed25519.getPublicKey(seed)),
    open(hex) {
      if (hex === '') return ''
      const bytes = fromHex(hex, mostText)
      if (bytes === null || bytes.length < keySize + nonceSize + tagSize) throw new Error('A text is not sealed')
      const [other, nonce] = [bytes.subarray(0, keySize), bytes.subarray(keySize, keySize + nonceSize)]
      return decoder.decode(aead.open(secretOf(own, other), nonce, bytes.subarray(keySize + nonceSize)))
    },
  }
}
