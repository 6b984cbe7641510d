import { hashing } from '#aead'
import { sha256 } from '@noble/hashes/sha2.js'
import { concat, number, same, utf8 } from './bytes.ts'
import { type Pair, bytesOfPair, holds } from './signature.ts'
import { type Place, leafOf, rootFrom } from './tree.ts'

/** The enclave's statement about one answer. Digests are hex; times are ms of the host's clock. */
export interface ReceiptFacts {
  readonly v: 1
  readonly route: string
  /** The enclave key to which the request was sealed. */
  readonly key: string
  readonly release: string
  /** SHA-256 of the sealed request and of the sealed answer. */
  readonly request: string
  readonly answer: string
  readonly model: string | null
  readonly backend: string | null
  /** The evidence of this backend that the enclave accepted before it sent the request; absent when it required none. */
  readonly backendEvidence?: {
    /** The form of the evidence. */
    readonly kind: string
    /** SHA-256 of the backend's document. */
    readonly digest: string
    readonly platform: string
    readonly measurement: string
  }
  /** Null when no model was called, or no tokens were counted. */
  readonly tokens: { readonly input: number; readonly output: number } | null
  readonly audioSeconds: number | null
  readonly epoch: number
  /** The receipt's number in its epoch, from 1. */
  readonly number: number
  /** When the enclave had opened the request. */
  readonly begun: number
  readonly ended: number
}

/** The signed text of the facts, the place of its leaf under the signed root, and both signatures in hex. */
export interface Receipt extends Pair {
  readonly text: string
  readonly place: Place
}

/** In characters: a longer text is refused before its signatures are checked. */
const mostText = 4096

/** The keyset's hash of the keys: SHA-256 over both. Null for keys of other lengths. */
export const receiptKeysHash = (keys: Pair): Uint8Array | null => {
  const both = bytesOfPair(keys, 'keys')
  return both && sha256(concat(utf8('rvenc-receipt-keys/1\0'), ...both))
}

/** Each part follows its length, so that no two lists of parts give the same bytes. */
const framed = (label: string, parts: readonly Uint8Array[]): readonly Uint8Array[] => [
  utf8(label),
  ...parts.flatMap((part) => [number(part.length, 4), part]),
]

const digestOf = (pieces: readonly Uint8Array[]): Uint8Array => {
  const hash = hashing()
  for (const piece of pieces) hash.update(piece)
  return hash.digest()
}

/**
 * What is hashed of a sealed request: the cipher text, then each nonce with its sealed bytes. The parameters come first,
 * then parts in the order of their fields.
 */
export const requestPieces = (parts: readonly Uint8Array[]): readonly Uint8Array[] => framed('rvenc-request/1\0', parts)

/** What is hashed of a whole sealed answer. */
export const answerPieces = (nonce: Uint8Array, sealed: Uint8Array): readonly Uint8Array[] =>
  framed('rvenc-answer/1\0', [nonce, sealed])

export const requestDigest = (parts: readonly Uint8Array[]): Uint8Array => digestOf(requestPieces(parts))

export const answerDigest = (nonce: Uint8Array, sealed: Uint8Array): Uint8Array => digestOf(answerPieces(nonce, sealed))

/** The digest of all frames of an answer but the last. */
export const framesDigest = () => {
  const hash = hashing()
  hash.update(utf8('rvenc-frames/1\0'))
  return {
    add(frame: Uint8Array): void {
      hash.update(number(frame.length, 4))
      hash.update(frame)
    },
    digest: () => hash.digest(),
  }
}

/** The leaf of a receipt under the signed root; its hex also names the receipt in the log. */
export const receiptLeaf = (text: string): Uint8Array => leafOf('rvenc-receipt/1\0', utf8(text))

/** The bytes that both keys sign. */
export const receiptsSigned = (root: Uint8Array): Uint8Array => concat(utf8('rvenc-receipts/1\0'), root)

/** The facts when both signatures are valid; null otherwise. */
export const openReceipt = (receipt: Receipt, keys: Pair): ReceiptFacts | null => {
  const { text, place } = receipt
  if (typeof text !== 'string' || text.length > mostText || typeof place !== 'object' || place === null) return null
  if (typeof receipt.ed25519 !== 'string' || typeof receipt.ml_dsa_65 !== 'string') return null
  const root = rootFrom(receiptLeaf(text), place)
  if (root === null || !holds(receipt, receiptsSigned(root), keys)) return null
  const facts = JSON.parse(text) as ReceiptFacts
  return facts.v === 1 ? facts : null
}

/** True when a keyset names these keys with this hash. */
export const areReceiptKeys = (keys: Pair, hash: Uint8Array): boolean => {
  const own = receiptKeysHash(keys)
  return own !== null && same(own, hash)
}
