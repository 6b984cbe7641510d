import { aeskwp } from '@noble/ciphers/aes.js'
import { randomBytes } from '@noble/hashes/utils.js'
import { concat, number, padded, textOf, utf8 } from './bytes.ts'
import { fileKey } from './schedule.ts'
import { open, openWith, seal, sealWith } from './seal.ts'

/** In bytes of plaintext. A change would make every stored file of version 2 unreadable. */
export const chunkLength = 64 * 1024
const prefixLength = 19
const headLength = 24
const tagLength = 16

/** RFC 5649: 32 bytes become 40 bytes. */
export const wrapKey = (kek: Uint8Array, key: Uint8Array): Uint8Array => {
  if (key.length !== 32) throw new Error('Only keys of 32 bytes are wrapped')
  return aeskwp(kek).encrypt(key)
}

/** Null unless the bytes are exactly a wrapped key of 32 bytes. */
export const unwrapKey = (kek: Uint8Array, wrapped: Uint8Array): Uint8Array | null => {
  if (wrapped.length !== 40) return null
  try {
    const key = aeskwp(kek).decrypt(wrapped)
    return key.length === 32 ? key : null
  } catch {
    return null
  }
}

/** In bytes: labels are padded to multiples of these, since lengths of names identify files. */
const buckets = { name: 32, mime: 128 } as const

/** A file's name or type, padded so that its length reveals little. */
export const sealLabel = (
  dek: Uint8Array,
  label: 'name' | 'mime',
  text: string,
  nonce: Uint8Array = randomBytes(24),
): Uint8Array => sealWith(fileKey(dek, label), nonce, padded(utf8(text), buckets[label], buckets[label]))

/** Null when the label does not open. */
export const openLabel = (dek: Uint8Array, label: 'name' | 'mime', sealed: Uint8Array): string | null => {
  const plain = openWith(fileKey(dek, label), sealed)
  return plain === null ? null : textOf(plain).replace(/(?<! ) +$/, '')
}

/** A label that another client sealed directly with the DEK, nonce first. Null when the label does not open. */
export const openBareLabel = (dek: Uint8Array, sealed: Uint8Array): string | null => {
  const plain = openWith(dek, sealed)
  return plain === null ? null : textOf(plain).trim()
}

/** Version 1: the content in one piece, sealed directly with the DEK. */
export const sealWhole = (dek: Uint8Array, plain: Uint8Array, nonce: Uint8Array = randomBytes(24)): Uint8Array =>
  sealWith(dek, nonce, plain)

/** Null when a byte was changed or the key is another one. */
export const openWhole = (dek: Uint8Array, content: Uint8Array): Uint8Array | null => openWith(dek, content)

/** The sealed length in version 2 of `plain` bytes of content. */
export const sealedLength = (plain: number): number =>
  headLength + plain + tagLength * Math.max(1, Math.ceil(plain / chunkLength))

const nonceOf = (prefix: Uint8Array, index: number, last: boolean): Uint8Array =>
  concat(prefix, number(index, 4), Uint8Array.of(last ? 1 : 0))

/**
 * Version 2: chunks of 64 KiB with the last one marked. Every sealing draws a new prefix, so sealed bytes are sent
 * again, or the content is sealed anew.
 */
export async function* sealContent(
  dek: Uint8Array,
  plain: AsyncIterable<Uint8Array>,
  prefix: Uint8Array = randomBytes(prefixLength),
): AsyncGenerator<Uint8Array> {
  const key = fileKey(dek, 'content')
  yield concat(prefix, new Uint8Array(headLength - prefixLength))
  let index = 0
  for await (const { bytes, last } of pieces(plain, chunkLength)) {
    yield seal(key, nonceOf(prefix, index++, last), bytes)
  }
}

/** Throws when a byte was changed, removed or added. */
export async function* openContent(dek: Uint8Array, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const key = fileKey(dek, 'content')
  let prefix: Uint8Array | null = null
  let index = 0
  for await (const { bytes, last } of pieces(sealed, chunkLength + tagLength, headLength)) {
    if (prefix === null) {
      if (last || bytes.length !== headLength || bytes.subarray(prefixLength).some((byte) => byte !== 0))
        throw damaged()
      prefix = bytes.slice(0, prefixLength)
      continue
    }
    const plain = open(key, nonceOf(prefix, index++, last), bytes)
    if (plain === null) throw damaged()
    yield plain
  }
}

const damaged = () => new Error('The content is damaged')

/** Cuts a stream into pieces of `length` behind a first one of `head`, and marks the last, which may be empty. */
async function* pieces(
  source: AsyncIterable<Uint8Array>,
  length: number,
  head = length,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly last: boolean }> {
  let parts: Uint8Array[] = []
  let held = 0
  let want = head
  for await (const part of source) {
    let rest = part
    while (held + rest.length > want) {
      const taken = want - held
      yield { bytes: concat(...parts, rest.subarray(0, taken)), last: false }
      rest = rest.subarray(taken)
      parts = []
      held = 0
      want = length
    }
    if (rest.length > 0) {
      parts.push(rest)
      held += rest.length
    }
  }
  yield { bytes: concat(...parts), last: true }
}
