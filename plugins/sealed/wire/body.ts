import { readHex } from './bytes.ts'
import { type Kem, kems } from './kem-names.ts'

/** The outer fields of sealed requests. Gateway and enclave check the same fields. */
export const lengths = {
  /** In bytes, like all lengths here. */
  nonce: 24,
  enclaveKid: 8,
  /** Sealed parameters in JSON. */
  params: 32 * 1024 * 1024,
  name: 1024,
  audio: 25 * 1024 * 1024,
  /** A key with the id, size and hash of its file. */
  key: 192,
} as const

/** The header of a 429 with what the enclave sealed: the nonce and the sealed JSON, joined in hex. */
export const refusalHeader = 'x-sealgate-refusal'

/** In bytes: the tag at the end of each sealed field. */
const tag = 16

/** The expected form of a field, in words for `validator`. Null when the field is valid. */
export type Check = (text: unknown) => string | null

const hexOf =
  (least: number, most: number, words: string): Check =>
  (text) => {
    if (typeof text !== 'string' || text.length % 2 !== 0 || text.length < least * 2 || text.length > most * 2)
      return words
    return isHex(text) ? null : words
  }

/** A client chooses the name of its KEK, so only its characters and its length are bounded. */
const kekName = /^[\w.:-]{1,128}$/
const isHex = (text: string): boolean => /^[0-9a-f]*$/i.test(text)

const cipherTextOf =
  (kems: readonly Kem[], words: string): Check =>
  (text) =>
    typeof text === 'string' && kems.some(({ cipherText }) => cipherText * 2 === text.length) && isHex(text)
      ? null
      : words

/** Each check returns its sentence for the `validator` of a refusal. Hex of either case passes. */
export const checks = {
  nonce: hexOf(lengths.nonce, lengths.nonce, 'Expected 24 bytes in lower-case hex'),
  enclaveKid: hexOf(lengths.enclaveKid, lengths.enclaveKid, 'Expected 8 bytes in lower-case hex'),
  params: hexOf(tag, lengths.params + tag, 'Expected sealed JSON in lower-case hex'),
  name: hexOf(tag + 1, lengths.name + tag, 'Expected a sealed name in lower-case hex'),
  audio: hexOf(tag + 1, lengths.audio + tag, 'Expected a sealed file in lower-case hex'),
  key: hexOf(32 + tag, lengths.key, 'Expected a sealed key in lower-case hex'),
  /** The client's name of its KEK, and a key wrapped with the KEK. */
  kekId: (text: unknown) => (typeof text === 'string' && kekName.test(text) ? null : 'Expected a key identifier'),
  wrapped: hexOf(1, 512, 'Expected a wrapped key in lower-case hex'),
  cipherText: cipherTextOf(kems, 'Expected 1120, 1088 or 32 bytes in lower-case hex'),
  /** Long-lived data is never sealed with elliptic curves alone. */
  lasting: cipherTextOf(
    kems.filter(({ name }) => name !== 'x25519'),
    'Expected 1120 or 1088 bytes in lower-case hex',
  ),
} as const

/** The caller has checked the text before. */
export const bytesOf = (text: string): Uint8Array => readHex(text, text.length / 2) ?? new Uint8Array()
