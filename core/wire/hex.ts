const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const values = new Uint8Array(128).fill(255)
for (const [value, digit] of [...'0123456789abcdef'].entries()) values[digit.charCodeAt(0)] = value

export const toHex = (bytes: Uint8Array): string => {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 4096) {
    let part = ''
    for (const byte of bytes.subarray(at, at + 4096)) part += digits[byte]
    parts.push(part)
  }
  return parts.join('')
}

/** Strict: lower case, even, at most `most` bytes; null for anything else. */
export const fromHex = (text: string, most: number): Uint8Array | null => {
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
