/** All 256 pairs of digits: a lookup is faster than printing each byte. */
const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const tableOf = (digits: string): Uint8Array => {
  const values = new Uint8Array(128).fill(255)
  for (const [value, digit] of [...digits].entries()) values[digit.charCodeAt(0)] = value % 16
  return values
}

const lower = tableOf('0123456789abcdef')
const either = tableOf('0123456789abcdef0123456789ABCDEF')

/** In lower case. Slices of 4096 bytes keep the strings in between short. */
export const toHex = (bytes: Uint8Array): string => {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 4096) {
    let part = ''
    for (const byte of bytes.subarray(at, at + 4096)) part += digits[byte]
    parts.push(part)
  }
  return parts.join('')
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
