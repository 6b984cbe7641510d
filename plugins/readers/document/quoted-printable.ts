/**
 * Quoted-printable by RFC 2045, in one pass over the bytes: blanks at the end of a line are dropped, and a soft break
 * joins two lines.
 */
export const unquoted = (coded: Buffer): Buffer => {
  const plain = Buffer.allocUnsafe(coded.length)
  let end = 0
  for (let at = 0; at < coded.length;) {
    const byte = coded[at] ?? 0
    if (isBlank(byte)) {
      const from = at
      while (isBlank(coded[at])) at++
      if (breakAt(coded, at) === 0) end += coded.copy(plain, end, from, at)
      continue
    }
    const soft = byte === equals ? softBreakAt(coded, at) : 0
    const pair = byte === equals && soft === 0 ? hexAt(coded, at + 1) : -1
    if (soft > 0) at += soft
    else if (pair >= 0) {
      plain[end++] = pair
      at += 3
    } else {
      plain[end++] = byte
      at++
    }
  }
  return plain.subarray(0, end)
}

const equals = 0x3d
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09

/** The length of the line break that stands there; 0 where none does. */
const breakAt = (bytes: Buffer, at: number): number => {
  if (bytes[at] === 0x0a) return 1
  return bytes[at] === 0x0d && bytes[at + 1] === 0x0a ? 2 : 0
}

/** The length of an equals sign, its blanks and its line break; 0 for another equals sign. */
const softBreakAt = (bytes: Buffer, at: number): number => {
  let behind = at + 1
  while (isBlank(bytes[behind])) behind++
  const length = breakAt(bytes, behind)
  return length === 0 ? 0 : behind - at + length
}

/** The byte that two digits write; below zero for other characters. */
const hexAt = (bytes: Buffer, at: number): number => {
  const [high, low] = [digitAt(bytes[at]), digitAt(bytes[at + 1])]
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

const digitAt = (byte: number | undefined): number => {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
