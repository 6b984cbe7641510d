import { createHash } from 'node:crypto'
import { unlessAborted } from '../../../core/abort.ts'

/** Bytes with the checksums that S3 compares. */
export interface Part {
  readonly bytes: Uint8Array
  readonly sha256: string
  readonly md5: Buffer
}

/** In bytes: the size of one request and of each part of a longer file. S3 demands at least 5 MiB. */
const maxPartBytes = 8 * 1024 * 1024
/** In bytes: the size of the first buffer. A small file needs no more. */
const firstRoomBytes = 64 * 1024

/** The checksums of bytes that need no cutting. */
export const partOf = (bytes: Uint8Array): Part => ({
  bytes,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  md5: createHash('md5').update(bytes).digest(),
})

/** A buffer for `needed` bytes that begins with the first `size` bytes of the old buffer. */
const enlarged = (room: Buffer, size: number, needed: number, isFirst: boolean): Buffer<ArrayBuffer> => {
  const bytes = isFirst ? Math.min(maxPartBytes, Math.max(needed, 4 * room.length, firstRoomBytes)) : maxPartBytes
  return Buffer.concat([room.subarray(0, size)], bytes)
}

/** Cuts a source into parts in two alternating buffers. A part is valid until the next but one is asked for. */
export const cutIntoParts = async function* (
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Part & { readonly isLast: boolean }> {
  const source = bytes[Symbol.asyncIterator]()
  let [room, nextRoom] = [Buffer.alloc(0), Buffer.alloc(0)]
  let rest: Uint8Array = new Uint8Array()
  let hasEnded = false
  try {
    for (let isFirst = true; !hasEnded; isFirst = !isFirst) {
      const [sha256, md5] = [createHash('sha256'), createHash('md5')]
      let size = 0
      for (;;) {
        const chunk = rest.subarray(0, maxPartBytes - size)
        if (size + chunk.length > room.length) room = enlarged(room, size, size + chunk.length, isFirst)
        room.set(chunk, size)
        sha256.update(chunk)
        md5.update(chunk)
        size += chunk.length
        rest = rest.subarray(chunk.length)
        if (rest.length > 0) break
        const step = await unlessAborted(source.next(), signal)
        hasEnded = step.done === true
        if (step.done === true) break
        rest = step.value
      }
      yield { bytes: room.subarray(0, size), sha256: sha256.digest('hex'), md5: md5.digest(), isLast: hasEnded }
      ;[room, nextRoom] = [nextRoom, room]
    }
  } finally {
    // The call is not awaited: a stuck source would never answer.
    if (!hasEnded) source.return?.().catch(() => {})
  }
}
