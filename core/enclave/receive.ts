import { flatJson } from '../dialects/flat-json.ts'
import { hexPieces } from '../dialects/hex-pieces.ts'
import { BadRequest, TooLarge } from '../errors.ts'
import type { Outer, Sealed } from './open.ts'

/** The outer fields as they come in, the big one decoded on the way: neither its hex nor its JSON is ever held whole. */
export const receive = async (bytes: AsyncIterable<Uint8Array>, { big }: Outer): Promise<Sealed> => {
  if (big === undefined) throw new BadRequest('Malformed JSON')
  const fields: Record<string, unknown> = Object.create(null)
  const hex = hexPieces(big.field)
  const parts: Buffer[] = []
  let size = 0
  for await (const part of flatJson(bytes, big.field)) {
    if ('value' in part) {
      fields[part.name] = part.value
      continue
    }
    const piece = hex.take(part.piece)
    size += piece.length
    if (size > big.most) throw new TooLarge('The file is too large')
    parts.push(piece)
  }
  hex.end()
  const whole = Buffer.concat(parts, size)
  if (size > 0) fields[big.field] = new Uint8Array(whole.buffer, whole.byteOffset, size)
  return fields
}
