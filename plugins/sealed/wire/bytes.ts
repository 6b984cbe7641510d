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

const lowerDigits = '0123456789abcdef'

/** The two digits of each byte as they stand in memory, so that one write gives both in any order of bytes. */
const digitPairs = Uint16Array.from({ length: 256 }, (_, byte) => {
  const pair = [lowerDigits.charCodeAt(byte >> 4), lowerDigits.charCodeAt(byte & 15)]
  return new Uint16Array(Uint8Array.from(pair).buffer)[0] ?? 0
})
const digitDecoder = new TextDecoder()

const tableOf = (digits: string): Uint8Array => {
  const values = new Uint8Array(128).fill(255)
  for (const [value, digit] of [...digits].entries()) values[digit.charCodeAt(0)] = value % 16
  return values
}

const lower = tableOf(lowerDigits)
const either = tableOf(`${lowerDigits}0123456789ABCDEF`)

/** In bytes: the part of a long text that is decoded at once. */
const slice = 64 * 1024

/** In lower case. A decoder makes flat strings; adding digits to a string makes an object for each byte. */
export const toHex = (bytes: Uint8Array): string => {
  if (bytes.length <= slice) return digitsOf(bytes)
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += slice) parts.push(digitsOf(bytes.subarray(at, at + slice)))
  return parts.join('')
}

const digitsOf = (bytes: Uint8Array): string => {
  const pairs = new Uint16Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) pairs[at] = digitPairs[bytes[at] ?? 0] ?? 0
  return digitDecoder.decode(pairs)
}

/** Strict: lower case, even length, at most `most` bytes. Null for any other text. */
export const fromHex = (text: string, most: number): Uint8Array | null => decoded(text, most, lower)

/** Accepts both cases, since other clients write upper case, too. */
export const readHex = (text: string, most: number): Uint8Array | null => decoded(text, most, either)

const decoded = (text: string, most: number, values: Uint8Array): Uint8Array | null => {
  if (text.length % 2 !== 0 || text.length > most * 2) return null
  const bytes = new Uint8Array(text.length / 2)
  for (let at = 0; at < bytes.length; at++) {
    const high = values[text.charCodeAt(at * 2)] ?? 255
    const low = values[text.charCodeAt(at * 2 + 1)] ?? 255
    if ((high | low) === 255) return null
    bytes[at] = (high << 4) | low
  }
  return bytes
}
