import { randomBytes } from '@noble/hashes/utils.js'
import {
  type Binding,
  type BoundFacts,
  bindingLength,
  isMarked,
  markedId,
  openBinding,
  printBinding,
} from '../wire/binding.ts'
import { unwrapKey, wrapKey } from '../wire/file.ts'
import { fromHex, toHex } from '../wire/bytes.ts'
import { clientHash, fileBindKey, fileMarkKey, kekId, memoryKey, ragWrapKey } from '../wire/schedule.ts'
import { SealgateError } from './error.ts'

/** The facts of a record that its binding fixes. */
export interface BoundRecord {
  readonly id: string
  readonly version: string
  readonly file_size: number
  readonly kid: string
  readonly wrapped_dek: string
}

/** The keys that never leave the client. */
export interface Keys {
  /** Names the KEK without revealing it. */
  readonly kid: string
  /** In hex, by RFC 5649. */
  wrap(dek: Uint8Array): string
  /** Throws unless the key was wrapped with this KEK. */
  unwrap(wrapped: string, kid: string): Uint8Array
  /** The keyed hash of a SHA-256 digest over the plaintext. */
  hash(digest: Uint8Array): string
  /** A new id with the mark of this KEK. `now` in ms. */
  newId(now: number): string
  /** True when the owner of this KEK chose the id. */
  isMarked(id: string): boolean
  /** In hex. Throws `damaged` for a record that no honest gateway makes. */
  bind(record: BoundRecord, binding: Binding): string
  /** Null unless the record has a binding made with this KEK. */
  proofOf(record: BoundRecord, binding: string): Binding | null
  /** The key that seals the client's memory. */
  memoryKey(): Uint8Array
  /** Throws when the client has no retrieval key. */
  ragDek(): Uint8Array
}

/** 32 random bytes as 64 hex characters. The caller must keep them: nobody can restore a lost KEK. */
export const newKek = (): string => toHex(randomBytes(32))

/** A fresh retrieval key, wrapped with the KEK. One key serves all files; the client keeps it beside the KEK. */
export const newRagDek = (kek: string): string => toHex(wrapKey(ragWrapKey(kekOf(kek)), randomBytes(32)))

/** The same retrieval key, wrapped with another KEK. */
export const rewrapRagDek = (wrapped: string, oldKek: string, kek: string): string =>
  toHex(wrapKey(ragWrapKey(kekOf(kek)), ragDekOf(wrapped, kekOf(oldKek))))

/** Throws `no_kek` unless the text is 64 hex characters. */
const kekOf = (hex: string): Uint8Array => {
  const kek = fromHex(hex, 32)
  if (kek?.length !== 32) throw new SealgateError('no_kek')
  return kek
}

/** Throws `no_rag_key` when the key was wrapped with another KEK. */
const ragDekOf = (wrapped: string, kek: Uint8Array): Uint8Array => {
  const bytes = fromHex(wrapped, 40)
  const dek = bytes && unwrapKey(ragWrapKey(kek), bytes)
  if (!dek) throw new SealgateError('no_rag_key')
  return dek
}

/** A client without a KEK gets keys, too: each method throws `no_kek` when it is called. */
export const keysOf = (hex: string | undefined, wrappedRagDek: string | undefined): Keys => {
  const kek = () => {
    if (hex === undefined) throw new SealgateError('no_kek')
    return kekOf(hex)
  }
  return {
    get kid() {
      return toHex(kekId(kek()))
    },
    wrap: (dek) => toHex(wrapKey(kek(), dek)),
    unwrap(wrapped, kid) {
      const bytes = kid === toHex(kekId(kek())) ? fromHex(wrapped, 40) : null
      const dek = bytes && unwrapKey(kek(), bytes)
      if (!dek) throw new SealgateError('wrong_key')
      return dek
    },
    hash: (digest) => toHex(clientHash(kek(), digest)),
    newId: (now) => markedId(fileMarkKey(kek()), now),
    isMarked: (id) => isMarked(fileMarkKey(kek()), id),
    bind(record, binding) {
      const facts = factsOf(record)
      if (facts === null) throw new SealgateError('damaged')
      return toHex(printBinding(fileBindKey(kek()), facts, binding))
    },
    proofOf(record, binding) {
      const [facts, bytes] = [factsOf(record), fromHex(binding, bindingLength)]
      return facts && bytes && openBinding(fileBindKey(kek()), facts, bytes)
    },
    memoryKey: () => memoryKey(kek()),
    ragDek() {
      if (wrappedRagDek === undefined) throw new SealgateError('no_rag_key')
      return ragDekOf(wrappedRagDek, kek())
    },
  }
}

/** Null for a record that no honest gateway makes. */
const factsOf = ({ id, version, file_size: size, kid, wrapped_dek }: BoundRecord): BoundFacts | null => {
  const wrappedDek = fromHex(wrapped_dek, 40)
  return wrappedDek === null || !Number.isSafeInteger(size) || size < 0 ? null : { id, version, size, kid, wrappedDek }
}
