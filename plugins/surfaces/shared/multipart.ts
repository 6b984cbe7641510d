import { BadRequest } from '../../../core/errors.ts'
import { gatheredBytes } from '../../../core/gathered-bytes.ts'
import { type FlatPart, tooLong } from '../../shared/flat-json.ts'
import { hexPieces } from '../../shared/hex-pieces.ts'

/** Bytes of the head of one part. */
const longestHead = 8 * 1024

/**
 * Reads a multipart form as it comes in. The part `big` is given piece by piece and never held: as it is where it is a
 * file, decoded from hex where it is a text and `isHex` is true. All other fields are text, and together with their heads may take `most` bytes.
 * `core/http/form.ts` reads the forms whose files stand in memory as a whole.
 */
export async function* multipart(
  source: AsyncIterable<Uint8Array>,
  contentType: string,
  big: string,
  most = 256 * 1024,
  isHex = true,
): AsyncGenerator<FlatPart> {
  const delimiter = Buffer.from(`\r\n--${boundaryOf(contentType)}`, 'latin1')
  const reader = reading(source)
  const seen = new Set<string>()
  let small = 0
  const count = (bytes: number) => {
    small += bytes
    if (small > most) throw tooLong(most)
  }
  try {
    for await (const piece of reader.until(delimiter)) count(piece.length)
    for (;;) {
      const mark = await reader.take(2)
      if (mark.equals(dashes)) return
      if (!mark.equals(newline)) throw malformed()
      const head = await text(reader.until(blankLine), (size) => size > longestHead && refuse())
      count(head.length)
      const name = nameOf(head)
      if (seen.has(name))
        throw new BadRequest('Malformed form', { validator: { [name.slice(0, 100)]: 'Expected once' } })
      seen.add(name)
      if (name === big)
        for await (const piece of contentOf(isHex && !isFile(head), reader.until(delimiter), big)) yield { name, piece }
      else yield { name, value: await text(reader.until(delimiter), (_, more) => count(more)) }
    }
  } finally {
    await reader.close()
  }
}

const dashes = Buffer.from('--')
const newline = Buffer.from('\r\n')
const blankLine = Buffer.from('\r\n\r\n')

const malformed = () => new BadRequest('Malformed form')
const refuse = (): never => {
  throw malformed()
}

/** At most 70 characters (RFC 2046, 5.1.1). Throws BadRequest for a type without a boundary. */
const boundaryOf = (contentType: string): string => {
  const found = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType)
  return found?.[1] ?? found?.[2] ?? refuse()
}

/** The name of a field. Throws BadRequest for a part without one, and for a name over 100 characters. */
const nameOf = (head: string): string =>
  /(?:^|\r\n)content-disposition:\s*form-data\s*;(?:[^\r\n]*;)?\s*name="([^"\r\n]{1,100})"/i.exec(head)?.[1] ?? refuse()

/** A field of a form without a file name and a type is a text. */
const isFile = (head: string): boolean =>
  /(?:^|\r\n)content-disposition:[^\r\n]*;\s*filename\*?=/i.test(head) ||
  /(?:^|\r\n)content-type:\s*(?!text\/)/i.test(head)

async function* contentOf(isHex: boolean, pieces: AsyncIterable<Buffer>, field: string): AsyncGenerator<Buffer> {
  if (!isHex) return yield* pieces
  const hex = hexPieces(field)
  for await (const piece of pieces) yield hex.take(piece)
  hex.end()
}

/** A field as UTF-8. `told` learns the size before a piece is held, and stops the reading by its throw. */
const text = async (pieces: AsyncIterable<Buffer>, told: (size: number, more: number) => void): Promise<string> => {
  const held = gatheredBytes()
  for await (const piece of pieces) {
    told(held.length + piece.length, piece.length)
    held.add(piece)
  }
  return held.whole().toString('utf8')
}

/** A reader of the form, which holds no more than one part of the source and one mark. */
const reading = (source: AsyncIterable<Uint8Array>) => {
  const parts = source[Symbol.asyncIterator]()
  // The first delimiter need not stand on a line of its own.
  let held: Buffer = newline

  const next = async (): Promise<Buffer> => {
    const { done, value } = await parts.next()
    if (done) throw malformed()
    return Buffer.from(value.buffer, value.byteOffset, value.length)
  }

  return {
    async take(length: number): Promise<Buffer> {
      while (held.length < length) held = Buffer.concat([held, await next()])
      const taken = held.subarray(0, length)
      held = held.subarray(length)
      return taken
    },

    /** What stands before the mark, which is skipped. What comes in is not copied but where a mark may lie across two parts. */
    async *until(mark: Buffer): AsyncGenerator<Buffer> {
      for (;;) {
        const at = held.indexOf(mark)
        if (at >= 0) {
          if (at > 0) yield held.subarray(0, at)
          held = held.subarray(at + mark.length)
          return
        }
        const tail = held.indexOf(mark[0]!, Math.max(0, held.length - mark.length + 1))
        const sure = tail < 0 ? held.length : tail
        if (sure > 0) yield held.subarray(0, sure)
        held = sure === held.length ? await next() : Buffer.concat([held.subarray(sure), await next()])
      }
    },

    close: async () => void (await parts.return?.()),
  }
}
