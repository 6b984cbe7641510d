import { concat, number, numberOf } from '../wire/bytes.ts'
import { type Kem, kems } from '../wire/kem-names.ts'

/** The media type of `/.well-known/hpke-keys`. */
export const keysType = 'application/ohttp-keys'

/** A public key for one of the two suites: DHKEM(X25519) or X-Wing, each with HKDF-SHA256 and AES-256-GCM. */
export interface PublicKey {
  readonly kem: Kem
  readonly bytes: Uint8Array
}

/** The key agreements of this protocol. Clients of others read the first configuration, so X25519 comes first. */
export const suites: readonly Kem['name'][] = ['x25519', 'x-wing']

/** HKDF-SHA256 with AES-256-GCM, after the length of the list. */
const symmetric = concat(number(4, 2), number(1, 2), number(2, 2))

/** Configurations of RFC 9458, one after the other. The clients of this protocol expect no length before each. */
export const printKeyConfigs = (keys: readonly PublicKey[]): Uint8Array =>
  concat(...keys.map(({ kem, bytes }, at) => concat(number(at, 1), number(kem.id, 2), bytes, symmetric)))

/** The keys that this code can seal to, up to the first configuration of another kind. Null for other bytes. */
export const readKeyConfigs = (bytes: Uint8Array): readonly PublicKey[] | null => {
  const keys: PublicKey[] = []
  for (let at = 0; at < bytes.length;) {
    const id = Number(numberOf(bytes.subarray(at + 1, at + 3)))
    const kem = kems.find((known) => known.id === id && suites.includes(known.name))
    if (kem === undefined) break
    const end = at + 3 + kem.publicKey
    const size = Number(numberOf(bytes.subarray(end, end + 2)))
    const list = bytes.subarray(end + 2, end + 2 + size)
    if (list.length !== size || size === 0 || size % 4 !== 0) return null
    const isKnown = Array.from({ length: size / 4 }, (_, place) =>
      Number(numberOf(list.subarray(4 * place, 4 * place + 4))),
    )
    if (isKnown.includes(0x0001_0002)) keys.push({ kem, bytes: bytes.slice(at + 3, end) })
    at = end + 2 + size
  }
  return keys.length === 0 ? null : keys
}
