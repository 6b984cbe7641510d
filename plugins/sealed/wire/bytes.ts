const encoder = new TextEncoder()
/** A byte order mark stays in the text, so that equal texts always have equal bytes. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A lone surrogate becomes U+FFFD; no text throws. */
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** Throws when the bytes are not UTF-8. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

/** A new array, even for one part. */
export const concat = (...parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Big-endian, in `length` bytes. */
export const number = (value: number | bigint, length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  let rest = BigInt(value)
  for (let at = length - 1; at >= 0; at--) {
    bytes[at] = Number(rest & 255n)
    rest >>= 8n
  }
  return bytes
}

/** Big-endian. */
export const numberOf = (bytes: Uint8Array): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)

/** Compares in constant time for arrays of equal length. */
export const same = (one: Uint8Array, other: Uint8Array): boolean => {
  if (one.length !== other.length) return false
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}

/** Negative when `one` comes first; a prefix comes before the longer array. */
export const order = (one: Uint8Array, other: Uint8Array): number => {
  const shared = Math.min(one.length, other.length)
  for (let at = 0; at < shared; at++) if (one[at] !== other[at]) return (one[at] ?? 0) - (other[at] ?? 0)
  return one.length - other.length
}

/** Adds spaces up to the next multiple of `bucket`. An exact multiple gets none. */
export const padded = (bytes: Uint8Array, bucket: number, least = 0): Uint8Array => {
  const length = Math.max(least, Math.ceil(bytes.length / bucket) * bucket)
  const out = new Uint8Array(length).fill(0x20, bytes.length)
  out.set(bytes)
  return out
}
