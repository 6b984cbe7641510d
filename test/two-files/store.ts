/** The two files of a new store, by their paths. */
export const store: Readonly<Record<string, string>> = {
  'plugins/storage/drawer.ts': `import { unlessAborted } from '../../core/abort.ts'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'

const check = (path: string): void => {
  if (!path.split('/').every((it) => /^(?!\\.\\.?$)[\\w.-]+$/.test(it))) throw new BadRequest('Invalid path')
}

const gathered = async (bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Buffer> => {
  const source = bytes[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  let ended = false
  try {
    for (;;) {
      const step = await unlessAborted(source.next(), signal)
      if ((ended = step.done === true)) return Buffer.concat(chunks)
      chunks.push(Buffer.from(step.value))
    }
  } finally {
    if (!ended) source.return?.().catch(() => {})
  }
}

/** Files in the memory of the process. */
export default plugin({
  port: BlobStore,
  name: 'drawer',
  create: (): BlobStore => {
    const files = new Map<string, Buffer>()
    return {
      async put(path, bytes, signal = new AbortController().signal) {
        check(path)
        signal.throwIfAborted()
        const whole = await gathered(bytes, signal)
        files.set(path, whole)
        return { size: whole.length }
      },
      async get(path, range, signal) {
        check(path)
        const whole = files.get(path)
        if (whole === undefined) return null
        const end = Math.min(whole.length, (range?.end ?? Infinity) + 1)
        const pieces = async function* () {
          for (let at = range?.start ?? 0; at < end; at += 65_536) {
            signal?.throwIfAborted()
            yield Uint8Array.from(whole.subarray(at, Math.min(at + 65_536, end)))
          }
        }
        return { size: whole.length, bytes: pieces() }
      },
      async remove(path) {
        check(path)
        files.delete(path)
      },
      async *list(prefix) {
        yield* [...files.keys()].filter((path) => path.startsWith(prefix)).sort()
      },
    }
  },
})
`,
  'test/plugins/storage/drawer.test.ts': `import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import drawer from '../../../plugins/storage/drawer.ts'
import { blobStore } from '../../contracts/blob-store.ts'
import { conform } from '../../contracts/contract.ts'
import { made } from '../../fitted.ts'

t.test('contract', (t) => conform(t, blobStore.contract, () => made(BlobStore, use(drawer))))
`,
}
