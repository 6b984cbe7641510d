import { BadRequest } from '../errors.ts'

const strict = /^[0-9a-f]*$/

/** Decodes strict lower-case hex that comes in pieces of any length. `field` is what the error names. */
export const hexPieces = (field: string) => {
  let odd = ''
  const refuse = () =>
    new BadRequest('Validation failed', { validator: { [field]: 'Expected lower-case hex of even length' } })
  return {
    take(piece: Buffer): Buffer {
      const text = odd + piece.toString('latin1')
      if (!strict.test(text)) throw refuse()
      const even = text.length - (text.length % 2)
      odd = text.slice(even)
      return Buffer.from(even === text.length ? text : text.slice(0, even), 'hex')
    },
    end(): void {
      if (odd !== '') throw refuse()
    },
  }
}
