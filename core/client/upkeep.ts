import type { Ask } from './ask.ts'
import { pathFor } from './ask.ts'
import { type FileAccess, type FileRecord, indexFields } from './files.ts'
import { type Keys, digesting, keysOf } from './keys.ts'
import type { SealParts } from './send.ts'

export interface IndexResult {
  readonly file_id: string
  readonly rag_status: string
  readonly success: boolean
}

export interface RotateOptions {
  /** Read every file again, so that equal files are still recognised under the new key. */
  readonly rehash?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number, total: number) => void
}

export interface Upkeep {
  /** Has files indexed inside the enclave; resolves when that has begun. The records tell the end. */
  index(ids: readonly string[], signal?: AbortSignal): Promise<readonly IndexResult[]>
  /** Removes what was indexed; the files stay. */
  forgetIndex(ids: readonly string[]): Promise<readonly IndexResult[]>
  /** Puts the keys of all files that are under this KEK under another one, and says how many. May be repeated after it was broken off. */
  rotateKek(kek: string, options?: RotateOptions): Promise<number>
}

const page = 100

export const upkeep = (ask: Ask, aside: Ask, keys: Keys, files: FileAccess, sealParts: SealParts): Upkeep => {
  const began = async (ids: readonly string[], fresh: boolean, signal?: AbortSignal) => {
    const items = []
    for (const id of ids) {
      const record = await files.record(id, signal)
      const sealed = await indexFields(
        (names, parts) => sealParts(names, parts, fresh),
        files.dekOf(record),
        keys.ragDek(),
        id,
      )
      items.push({ file_id: id, s3_r2_path: record.file_path, ...sealed })
      fresh = false
    }
    const asking = { json: { files: items }, ...(signal && { signal }) }
    return aside.data<{ results: IndexResult[]; enclave_response: { file_id: string; code: string }[] }>(
      'POST',
      'files/encrypted/index',
      asking,
    )
  }

  const everyFile = async (): Promise<readonly FileRecord[]> => {
    const all: FileRecord[] = []
    for (;;) {
      const query = `files/encrypted?limit=${page}&offset=${all.length}`
      const { files, pagination } = await ask.data<{ files: FileRecord[]; pagination: { has_more: boolean } }>(
        'GET',
        query,
      )
      all.push(...files)
      if (!pagination.has_more) return all
    }
  }

  return {
    async index(ids, signal) {
      const { results, enclave_response } = await began(ids, false, signal)
      // The enclave has other keys than those that this client knew: it is asked for them, once.
      const late = enclave_response.filter(({ code }) => code === 'unknown_key').map(({ file_id }) => file_id)
      if (late.length === 0) return results
      const again = await began(late, true, signal)
      return results.map((it) => again.results.find(({ file_id }) => file_id === it.file_id) ?? it)
    },

    async forgetIndex(ids) {
      const files = ids.map((file_id) => ({ file_id }))
      return (await aside.data<{ results: IndexResult[] }>('POST', 'files/encrypted/delete-index', { json: { files } }))
        .results
    },

    async rotateKek(kek, { rehash = false, signal, onProgress } = {}) {
      const next = keysOf(kek, undefined)
      const own = keys.kid
      const left = own === next.kid ? [] : (await everyFile()).filter(({ kid }) => kid === own)
      for (const [at, record] of left.entries()) {
        signal?.throwIfAborted()
        let hash: string | null = null
        if (rehash && record.client_hash !== null) {
          const digest = digesting()
          const { content } = await files.download(record.id, signal ? { signal } : {})
          for await (const part of content) digest.update(part)
          hash = next.hash(digest.digest())
        }
        const change = {
          old_kid: record.kid,
          kid: next.kid,
          wrapped_dek: next.wrap(files.dekOf(record)),
          client_hash: hash,
        }
        await ask.data('PATCH', pathFor`files/encrypted/${record.id}`, { json: change })
        onProgress?.(at + 1, left.length)
      }
      return left.length
    },
  }
}
