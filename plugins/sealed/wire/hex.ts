const lowerDigits = '0123456789abcdef'

/** The two digits of each byte as they stand in memory, so that one write gives both in any order of bytes. */
const digitPairs = Uint16Array.from({ length: 256 }, (_, byte) => {
  const pair = [lowerDigits.charCodeAt(byte >> 4), lowerDigits.charCodeAt(byte & 15)]
  return new Uint16Array(Uint8Array.from(pair).buffer)[0] ?? 0
})
const decoder = new TextDecoder()

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
  return decoder.decode(pairs)
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
