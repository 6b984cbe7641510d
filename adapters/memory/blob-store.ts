import { setImmediate as turn } from 'node:timers/promises'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'

/** Names and slashes; no part may be `.` or `..`, and no path begins or ends with a slash. */
const plain = /^(?!(?:.*\/)?\.\.?(?:\/|$))[\w.-]+(?:\/[\w.-]+)*$/
/** Bytes that a reader gets at once. */
const piece = 64 * 1024

const check = (path: string) => {
  if (!plain.test(path)) throw new BadRequest('Invalid path')
}

/** Yields copies, piece by piece. */
const pieces = async function* (bytes: Uint8Array, start: number, end: number, signal?: AbortSignal) {
  for (let at = start; at < end; at += piece) {
    signal?.throwIfAborted()
    yield bytes.slice(at, Math.min(at + piece, end))
    await turn()
  }
}

/** Rejects with the signal's reason as soon as it fires, even while the source is stuck. */
const gather = async (bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Uint8Array> => {
  signal?.throwIfAborted()
  const source = bytes[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let leave = () => {}
  let ended = false
  const left = new Promise<never>((_, reject) => (leave = () => reject(signal?.reason)))
  signal?.addEventListener('abort', leave)
  try {
    for (;;) {
      const step = await Promise.race([source.next(), left])
      if ((ended = step.done === true)) return new Uint8Array(Buffer.concat(chunks))
      chunks.push(new Uint8Array(step.value))
    }
  } finally {
    signal?.removeEventListener('abort', leave)
    // The call is not awaited: a stuck source would never answer.
    if (!ended) source.return?.().catch(() => {})
  }
}

/** Holds every file whole in memory, for tests and first steps. */
export default plugin({
  port: BlobStore,
  name: 'memory',
  create: (): BlobStore => {
    const blobs = new Map<string, Uint8Array>()
    return {
      async put(path, bytes, signal) {
        check(path)
        const whole = await gather(bytes, signal)
        blobs.set(path, whole)
        return { size: whole.length }
      },
      async get(path, range, signal) {
        check(path)
        const whole = blobs.get(path)
        if (!whole) return null
        const end = Math.min(whole.length, (range?.end ?? Infinity) + 1)
        return { size: whole.length, bytes: pieces(whole, range?.start ?? 0, end, signal) }
      },
      async remove(path) {
        check(path)
        blobs.delete(path)
      },
      async *list(prefix) {
        yield* [...blobs.keys()].filter((path) => path.startsWith(prefix)).sort()
      },
    }
  },
})
