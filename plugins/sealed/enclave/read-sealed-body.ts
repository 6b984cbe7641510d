import { setImmediate as turn } from 'node:timers/promises'
import { flatJson } from '../../shared/flat-json.ts'
import { hexPieces } from '../../shared/hex-pieces.ts'
import { BadRequest, TooLarge } from '../../../core/errors.ts'
import { gatheredBytes } from '../../../core/gathered-bytes.ts'
import type { Enclave } from '../../../core/ports/enclave.ts'
import type { OuterFields, Sealed } from './open.ts'

/** A body of JSON as bytes, whole or as a stream, perhaps of a known length. */
export type LongBody = Exclude<Parameters<Enclave['handle']>[1], Sealed>

/** In bytes: the amount decoded at once. Other calls run in between. */
const slice = 1024 * 1024

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += slice) {
    if (at > 0) await turn()
    yield bytes.subarray(at, at + slice)
  }
}

/**
 * Reads the outer fields as they arrive and decodes the large field on the way. Its hex and its JSON are never whole in
 * memory.
 */
export const readSealedBody = async (sealed: LongBody, { big }: OuterFields): Promise<Sealed> => {
  if (big === undefined) throw new BadRequest('Malformed JSON')
  const fields: Record<string, unknown> = Object.create(null)
  const hex = hexPieces(big.field)
  // Two digits are one byte; the other fields are short.
  const content = gatheredBytes(sealed.length === undefined ? null : Math.min(sealed.length >> 1, big.most))
  for await (const part of flatJson(sealed instanceof Uint8Array ? slices(sealed) : sealed, big.field)) {
    if ('value' in part) {
      fields[part.name] = part.value
      continue
    }
    const piece = hex.take(part.piece)
    if (content.length + piece.length > big.most) throw new TooLarge('The file is too large')
    content.add(piece)
  }
  hex.end()
  const whole = content.whole()
  if (whole.length > 0) fields[big.field] = new Uint8Array(whole.buffer, whole.byteOffset, whole.length)
  return fields
}
