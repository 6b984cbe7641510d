import { clock, fetch, log, random } from '../../adapters/production/platform.ts'
import { use } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'
import s3 from '../../plugins/storage/s3.ts'
import { fitted } from '../fitted.ts'

/** Bytes of an object in turn: of two parts, and of one request. */
export const replacedSizes = [9 * 2 ** 20, 300_000] as const

const block = 65_536

async function* bytesOf(letter: string, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += block) yield Buffer.alloc(Math.min(block, size - at), letter)
}

/** A process that replaces one object of one letter as often as it can, and prints each letter that S3 acknowledged. */
if (process.argv[1] === import.meta.filename) {
  const blobs = JSON.parse(process.argv[2] ?? '{}') as never
  const parts = [use(fetch), use(clock), use(random), use(log, { level: 'silent' }), use(s3, blobs)]
  const { store } = fitted(...parts).supply({ store: BlobStore })
  for (let turn = 0; ; turn++) {
    const letter = String.fromCharCode(97 + (turn % 26))
    await store.put('encrypted/one', bytesOf(letter, replacedSizes[turn % 2] ?? 0))
    process.stdout.write(letter)
  }
}
