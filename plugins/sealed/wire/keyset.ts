import { sha256 } from '@noble/hashes/sha2.js'
import { concat, number, numberOf, order, same, utf8, toHex } from './bytes.ts'
import { type Kem, kems } from './kem-names.ts'

/** A published key of an enclave, or the hash of its receipt keys under its own kind. */
export interface EnclaveKey {
  /** The HPKE number of the KEM; another number for kinds that this client does not know. */
  readonly kem: number
  /** In ms: the time in which a client may seal to the key. */
  readonly notBefore: number
  readonly notAfter: number
  readonly publicKey: Uint8Array
}

/** What an enclave publishes, and what its evidence binds. */
export interface KeysetBody {
  /** In Unix seconds: the begin of the newest epoch. */
  readonly epoch: number
  /** 32 bytes: the release that the enclave says it runs. */
  readonly releaseDigest: Uint8Array
  readonly keys: readonly EnclaveKey[]
}

const magic = utf8('rvenc-keyset/1\0')

/** The id of an enclave key: 16 hex characters. */
export const enclaveKid = ({ kem, publicKey }: Pick<EnclaveKey, 'kem' | 'publicKey'>): string =>
  toHex(kidOf(kem, publicKey))

const kidOf = (kem: number, publicKey: Uint8Array): Uint8Array =>
  sha256(concat(utf8('rvenc kid\0'), number(kem, 2), publicKey)).subarray(0, 8)

/** The bytes that a report binds. The order of keys is fixed. */
export const printKeyset = ({ epoch, releaseDigest, keys }: KeysetBody): Uint8Array =>
  concat(
    magic,
    number(epoch, 8),
    releaseDigest,
    number(keys.length, 1),
    ...[...keys]
      .sort(inOrder)
      .map(({ kem, notBefore, notAfter, publicKey }) =>
        concat(number(kem, 2), number(notBefore, 8), number(notAfter, 8), number(publicKey.length, 4), publicKey),
      ),
  )

/**
 * Null unless the bytes are the one valid form of a keyset: order, duplicates, lengths and trailing bytes are checked.
 * Keys of unknown kinds are kept.
 */
export const parseKeyset = (bytes: Uint8Array): KeysetBody | null => {
  let at = 0
  const take = (length: number): Uint8Array | null => {
    if (at + length > bytes.length) return null
    return bytes.subarray(at, (at += length))
  }
  const head = take(magic.length)
  const epoch = take(8)
  const releaseDigest = take(32)
  const count = take(1)
  if (head === null || !same(head, magic) || epoch === null || releaseDigest === null || count === null) return null
  const keys: EnclaveKey[] = []
  for (let left = count[0] ?? 0; left > 0; left--) {
    const [kem, notBefore, notAfter, length] = [take(2), take(8), take(8), take(4)]
    const publicKey = length && take(Number(numberOf(length)))
    if (!kem || !notBefore || !notAfter || !publicKey) return null
    const key = {
      kem: Number(numberOf(kem)),
      notBefore: Number(numberOf(notBefore)),
      notAfter: Number(numberOf(notAfter)),
      publicKey,
    }
    const known = kems.find(({ id }) => id === key.kem)
    if (known !== undefined && known.publicKey !== publicKey.length) return null
    const last = keys.at(-1)
    if (last !== undefined && inOrder(last, key) >= 0) return null
    keys.push(key)
  }
  if (at !== bytes.length) return null
  return { epoch: Number(numberOf(epoch)), releaseDigest, keys }
}

const inOrder = (one: EnclaveKey, other: EnclaveKey): number =>
  one.kem - other.kem || order(kidOf(one.kem, one.publicKey), kidOf(other.kem, other.publicKey))

/** The 64 bytes that evidence must contain, from the keyset and a challenge. */
export const reportData = (keyset: Uint8Array, challenge: Uint8Array): Uint8Array =>
  concat(sha256(concat(utf8('rvenc-report/1\0'), keyset)), challenge)

/** In ms: 25 hours, the longest validity of a key. */
const day = 25 * 3_600_000

/** The valid key of this kind with the latest start, or null. More than 25 hours of validity are refused. */
export const newest = ({ keys }: KeysetBody, kem: Kem, now: number): EnclaveKey | null =>
  keys
    .filter(
      (key) => key.kem === kem.id && key.notBefore <= now && now < key.notAfter && key.notAfter - key.notBefore <= day,
    )
    .sort((one, other) => other.notBefore - one.notBefore)[0] ?? null
