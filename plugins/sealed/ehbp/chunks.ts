import { concat, number, numberOf } from '../wire/bytes.ts'

/** The name of chats by this protocol between gateway and enclave. */
export const ehbpRoute = 'ehbp/chat/completions'

/** In bytes: the length before each chunk. */
const head = 4
/** In bytes: the longest chunk of an answer. */
const mostChunk = 64 * 1024 * 1024

/** What stands before a chunk: its length. */
export const chunkHead = (cipherText: Uint8Array): Uint8Array => number(cipherText.length, head)

/** A chunk after its length. */
export const printChunk = (cipherText: Uint8Array): Uint8Array => concat(chunkHead(cipherText), cipherText)

/** The chunks of a whole body without empty ones; null when the last is cut, or when chunks are tiny without need. */
export const splitChunks = (body: Uint8Array): readonly Uint8Array[] | null => {
  const chunks: Uint8Array[] = []
  const most = 16 + body.length / 1024
  let count = 0
  for (let at = 0; at < body.length;) {
    const size = Number(numberOf(body.subarray(at, at + head)))
    const end = at + head + size
    if (body.length - at < head || end > body.length || ++count > most) return null
    if (size > 0) chunks.push(body.subarray(at + head, end))
    at = end
  }
  return chunks
}

/** Chunks as they come. Throws for a chunk that is cut or too long. */
export async function* chunksIn(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let held = 0
  let wanted = head
  let isHead = true
  for await (const part of bytes) {
    parts.push(part)
    held += part.length
    while (held >= wanted) {
      const whole: Uint8Array = parts.length === 1 ? parts[0]! : concat(...parts)
      const piece = whole.subarray(0, wanted)
      parts = [whole.subarray(wanted)]
      held -= wanted
      if (isHead) {
        wanted = Number(numberOf(piece))
        if (wanted > mostChunk) throw new Error('A chunk is too long')
      } else {
        yield piece.slice()
        wanted = head
      }
      isHead = !isHead
      if (!isHead && wanted === 0) [isHead, wanted] = [true, head]
    }
  }
  if (held > 0 || !isHead) throw new Error('The last chunk is cut')
}
