import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { randomBytes } from '@noble/hashes/utils.js'
import { concat, number, numberOf, same, utf8, fromHex, toHex } from './bytes.ts'

/** In bytes: the mark at the end of an id, and the bytes of the id before the mark. */
const markLength = 4
const drawn = 12

const markOf = (markKey: Uint8Array, head: Uint8Array): Uint8Array =>
  hmac(sha256, markKey, head).subarray(0, markLength)

/** A new id for a file: a UUID of version 7 whose last four bytes are the owner's mark. `now` in ms. */
export const markedId = (markKey: Uint8Array, now: number, random: Uint8Array = randomBytes(6)): string => {
  const head = concat(number(now, 6), random)
  head[6] = 0x70 | ((head[6] ?? 0) & 0x0f)
  head[8] = 0x80 | ((head[8] ?? 0) & 0x3f)
  const hex = toHex(concat(head, markOf(markKey, head)))
  return `file_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** A UUID of version 7 after the prefix; its time lets the gateway refuse old ids. */
const shape = /^file_([0-9a-f]{8})-([0-9a-f]{4})-(7[0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/

/** True when the owner of this key chose the id. A foreign id passes with a probability of 1 in 2^32. */
export const isMarked = (markKey: Uint8Array, id: string): boolean => {
  const parts = shape.exec(id)?.slice(1).join('')
  const bytes = parts === undefined ? null : fromHex(parts, 16)
  return bytes !== null && same(bytes.subarray(drawn), markOf(markKey, bytes.subarray(0, drawn)))
}

/** In bytes: the random part of a bound key. 224 random bits still leave no key to guess. */
const free = 28
const keyLabel = utf8('rvenc/bound-key/1\0')
const signOf = (random: Uint8Array): Uint8Array => sha256(concat(keyLabel, random)).subarray(0, 32 - free)

/** A file key that marks its file as bound: 28 random bytes and a sign of four bytes. */
export const boundKey = (random: Uint8Array = randomBytes(free)): Uint8Array => concat(random, signOf(random))

/** True when a file under this key must be bound. The sign is part of the key, so rewrapping keeps it. */
export const isBoundKey = (dek: Uint8Array): boolean => same(dek.subarray(free), signOf(dek.subarray(0, free)))

/** The facts of a record that a binding fixes. */
export interface BoundFacts {
  readonly id: string
  readonly version: string
  /** In bytes of the stored content. */
  readonly size: number
  readonly kid: string
  readonly wrappedDek: Uint8Array
}

/** The facts of the content that a binding fixes. */
export interface Binding {
  /** Grows with each change of the record. */
  readonly revision: number
  /** SHA-256 of the stored content. */
  readonly hash: Uint8Array
  /** The keyed hash of the plaintext; null when the owner does not know the hash. */
  readonly clientHash: Uint8Array | null
}

/** In bytes: 1 for the version, 4 for the revision, and 32 each for both hashes and the tag. */
export const bindingLength = 101
const bindLabel = utf8('rvenc/bind/1\0')
/** Zeros stand for a hash that the owner does not know. */
const noHash = new Uint8Array(32)

/** The tag covers each field after its length, so that no two sets of facts give the same bytes. */
const tagOf = (bindKey: Uint8Array, facts: BoundFacts, { revision, hash, clientHash }: Binding): Uint8Array => {
  const parts = [
    utf8(facts.id),
    utf8(facts.version),
    number(facts.size, 8),
    hash,
    clientHash ?? noHash,
    utf8(facts.kid),
    facts.wrappedDek,
    number(revision, 4),
  ]
  return hmac(sha256, bindKey, concat(bindLabel, ...parts.flatMap((part) => [number(part.length, 2), part])))
}

/** 01 ‖ revision ‖ hash ‖ hash of the plaintext, or zeros for null ‖ tag. */
export const printBinding = (bindKey: Uint8Array, facts: BoundFacts, binding: Binding): Uint8Array => {
  const { revision, hash, clientHash } = binding
  const tag = tagOf(bindKey, facts, binding)
  return concat(Uint8Array.of(1), number(revision, 4), hash, clientHash ?? noHash, tag)
}

/** Null unless the binding was made under this key for exactly these facts. */
export const openBinding = (bindKey: Uint8Array, facts: BoundFacts, bytes: Uint8Array): Binding | null => {
  if (bytes.length !== bindingLength || bytes[0] !== 1) return null
  const clientHash = bytes.slice(37, 69)
  const binding: Binding = {
    revision: Number(numberOf(bytes.subarray(1, 5))),
    hash: bytes.slice(5, 37),
    clientHash: same(clientHash, noHash) ? null : clientHash,
  }
  return same(tagOf(bindKey, facts, binding), bytes.subarray(69)) ? binding : null
}

/** The stored content that a key belongs to. */
export interface Stored {
  /** In bytes. */
  readonly size: number
  /** SHA-256. */
  readonly hash: Uint8Array
}

/** A key for the enclave, together with its file and, for a bound file, the stored content. */
export const namedKey = (key: Uint8Array, id: string, stored: Stored | null): Uint8Array =>
  stored === null ? concat(key, utf8(id)) : concat(key, utf8(id), Uint8Array.of(0), number(stored.size, 8), stored.hash)

/** An opened part with a key; older clients send the key alone. */
export interface NamedKey {
  readonly key: Uint8Array
  /** The id in UTF-8; empty when the key names no file. */
  readonly name: Uint8Array
  /** Null when the caller vouches for no content, as for an unbound file. */
  readonly stored: Stored | null
}

/** Null unless the part is a key, a key with an id, or a key with an id, a size and a hash. */
export const readNamedKey = (part: Uint8Array): NamedKey | null => {
  if (part.length < 32) return null
  const [key, rest] = [part.slice(0, 32), part.subarray(32)]
  const end = rest.indexOf(0)
  if (end < 0) return { key, name: rest, stored: null }
  if (end === 0 || rest.length !== end + 41) return null
  const size = Number(numberOf(rest.subarray(end + 1, end + 9)))
  return { key, name: rest.subarray(0, end), stored: { size, hash: rest.slice(end + 9) } }
}
