import { UpstreamFailed } from '../../../core/errors.ts'
import type { Chunk } from '../../../core/ports/upstream.ts'
import { piecesOf } from '../../shared/guards/texts.ts'

/** Bytes of a chunk that one frame carries: a frame of 1 MiB has a nonce, a tag and padding, too. */
export const mostChunkBytes = 1024 * 1024 - 1024

/** Characters of one piece of a text. JSON needs up to six bytes for a character. */
const pieceLength = 128 * 1024

/**
 * A chunk that no frame carries, in pieces that frames carry. Members beyond the common format are left out, and a long
 * text comes apart. Throws UpstreamFailed for a chunk that is long by anything else.
 */
export const shortChunks = ({ id, object, created, model, choices, usage = null }: Chunk): readonly Chunk[] => {
  const head = { id, object, created, model }
  const known = { ...head, choices, usage }
  if (fits(known)) return [known]
  const [choice] = choices
  const text = choices.length === 1 ? choice?.delta.content : null
  if (choice === undefined || typeof text !== 'string') throw tooLong()
  const { index, delta } = choice
  const chunks = [...piecesOf(text, pieceLength)].map((content, at): Chunk => {
    if (at === 0) return { ...known, choices: [{ ...choice, delta: { ...delta, content } }] }
    return { ...head, choices: [{ index, delta: { content }, finish_reason: null }] }
  })
  if (!chunks.every(fits)) throw tooLong()
  return chunks
}

const fits = (chunk: Chunk): boolean => Buffer.byteLength(JSON.stringify(chunk)) <= mostChunkBytes

const tooLong = () => new UpstreamFailed(undefined, { cause: new Error('A chunk is longer than a frame') })
