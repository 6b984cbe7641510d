import type { IncomingHttpHeaders } from 'node:http'
import { type FlatPart, flatJson } from '../../shared/flat-json.ts'
import { hexPieces } from '../../shared/hex-pieces.ts'
import { multipart } from '../shared/multipart.ts'
import { BadRequest } from '../../../core/errors.ts'

/** JSON with the content in hex, or a form with it as it is. */
export const partsOf = (
  headers: IncomingHttpHeaders,
  body: AsyncIterable<Uint8Array>,
  big: string,
): AsyncIterable<FlatPart> => {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  if (encoding !== 'identity') throw new BadRequest('The body may not be compressed')
  return /^multipart\//i.test(type) ? multipart(body, type, big) : decoded(flatJson(body, big), big)
}

async function* decoded(parts: AsyncIterable<FlatPart>, big: string): AsyncGenerator<FlatPart> {
  const hex = hexPieces(big)
  for await (const part of parts) {
    if ('piece' in part) yield { name: part.name, piece: hex.take(part.piece) }
    else {
      hex.end()
      yield part
    }
  }
  hex.end()
}
