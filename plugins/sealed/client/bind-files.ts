import { fromHex } from '../wire/hex.ts'
import { pathFor } from './http-request.ts'
import { openedContent, storedContent } from './content.ts'
import { SealgateError } from './error.ts'
import type { FileRecord } from './file-shapes.ts'
import type { FileAccess } from './files.ts'
import type { FileContext } from './file-context.ts'
import { digesting } from './keys.ts'

/** Reads the whole file and then binds it to its current record. False when the file is already bound. */
export const binder =
  ({ ask, keys, memory, checks }: FileContext, files: FileAccess) =>
  async (id: string, signal: AbortSignal | undefined): Promise<boolean> => {
    const record = await files.record(id, signal)
    if (record.id !== id) throw new SealgateError('damaged')
    if (record.binding != null) {
      await checks.check(record)
      return false
    }
    const { version, kid, wrapped_dek } = record
    const [stored, plain] = [digesting(), digesting()]
    let size = 0
    async function* told(parts: AsyncIterable<Uint8Array>) {
      for await (const part of parts) {
        stored.update(part)
        size += part.length
        yield part
      }
    }
    const sealed = told(await storedContent(ask, id, signal))
    for await (const part of openedContent(version, keys.unwrap(wrapped_dek, kid), sealed, signal ?? null))
      plain.update(part)
    const hash = keys.hash(plain.digest())
    // A literal client computes its hash in another way.
    const known = record.client_hash === hash
    const revision = (await memory.revisionOf(id)) + 1
    const facts = { id, version, file_size: size, kid, wrapped_dek }
    const clientHash = known ? fromHex(hash, 32) : null
    const binding = keys.bind(facts, { revision, hash: stored.digest(), clientHash })
    const json = { old_kid: kid, kid, wrapped_dek, binding, client_hash: record.client_hash }
    const bound = await ask.data<FileRecord>('PATCH', pathFor`files/encrypted/${id}`, {
      json,
      ...(signal && { signal }),
    })
    if (bound.id !== id || bound.binding !== binding) throw new SealgateError('damaged')
    await checks.check(bound)
    return true
  }
