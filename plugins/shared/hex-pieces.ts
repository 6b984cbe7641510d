import { BadRequest } from '../../core/errors.ts'

const digits = [...'0123456789abcdef0123456789ABCDEF'].map((digit) => digit.charCodeAt(0))

/** The byte of two digits that stand together in memory; below zero for all others. Half the look-ups, and no text is made. */
const pairs = new Int16Array(65_536).fill(-1)
for (const [high, first] of digits.entries())
  for (const [low, second] of digits.entries()) {
    const [pair] = new Uint16Array(Uint8Array.of(first, second).buffer)
    pairs[pair!] = (high % 16) * 16 + (low % 16)
  }

/** Decodes hex, in either case, that comes in pieces of any length. `field` is what the error names. */
export const hexPieces = (field: string) => {
  let odd: number | null = null
  const refuse = () =>
    new BadRequest('Validation failed', { validator: { [field]: 'Expected lower-case hex of even length' } })
  return {
    take(piece: Uint8Array): Buffer {
      const digits = odd === null ? piece : Buffer.concat([Uint8Array.of(odd), piece])
      const length = digits.length >> 1
      odd = digits.length % 2 === 0 ? null : digits[digits.length - 1]!
      // Two digits are read as one number, which has to stand at an even place.
      const even = digits.byteOffset % 2 === 0 ? digits : Uint8Array.from(digits)
      const words = new Uint16Array(even.buffer, even.byteOffset, length)
      const bytes = Buffer.allocUnsafe(length)
      let flaw = 0
      for (let at = 0; at < length; at++) {
        const byte = pairs[words[at]!]!
        flaw |= byte
        bytes[at] = byte
      }
      if (flaw < 0) throw refuse()
      return bytes
    },
    end(): void {
      if (odd !== null) throw refuse()
    },
  }
}
