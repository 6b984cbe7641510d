import { fromHex } from '../wire/hex.ts'
import type { ClearRequests } from './http-request.ts'
import { pathFor } from './http-request.ts'
import { SealgateError } from './error.ts'
import type { FileRecord } from './file-shapes.ts'
import type { FileAccess } from './files.ts'
import type { FileContext } from './file-context.ts'
import { digesting, keysOf } from './keys.ts'
import { type MemoryStore, memoryOf } from './memory.ts'
import type { CheckedRecord } from './record-checks.ts'
import type { SealParts } from './send-sealed.ts'
import { indexFields } from './upload.ts'
import { binder } from './bind-files.ts'

export interface IndexResult {
  readonly file_id: string
  readonly rag_status: string
  readonly success: boolean
}

export interface RotateOptions {
  /** Reads every file again, so that the client still finds equal files under the new key. */
  readonly rehash?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number, total: number) => void
}

export interface IndexAndRotate {
  /** Asks the enclave to index files. Resolves when the indexing has begun; the records show how it ends. */
  index(ids: readonly string[], signal?: AbortSignal): Promise<readonly IndexResult[]>
  /** Removes indexes; the files stay. */
  forgetIndex(ids: readonly string[]): Promise<readonly IndexResult[]>
  /**
   * Binds unbound files to their current records: files of literal and older clients, and files made by a tool for a
   * caller that left. Returns the number of bound files.
   */
  bind(ids: readonly string[], signal?: AbortSignal): Promise<number>
  /** Wraps the keys of all files with another KEK and returns their number. An interrupted rotation can be repeated. */
  rotateKek(kek: string, options?: RotateOptions): Promise<number>
}

const page = 100

const hashOf = (hex: string | null): Uint8Array | null => (hex === null ? null : fromHex(hex, 32))

export const indexAndRotate = (
  footing: FileContext,
  aside: ClearRequests,
  files: FileAccess,
  sealParts: SealParts,
  store: MemoryStore | undefined,
): IndexAndRotate => {
  const { ask, keys, memory, checks } = footing
  const vouch = binder(footing, files)

  const began = async (ids: readonly string[], fresh: boolean, signal?: AbortSignal) => {
    const items = []
    for (const id of ids) {
      const { record, dek, proof } = await files.checked(id, signal)
      const stored = proof && { size: record.file_size, hash: proof.hash }
      const seal: SealParts = (names, parts) => sealParts(names, parts, fresh)
      const sealed = await indexFields(seal, dek, keys.ragDek(), id, stored)
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

  const digestOf = async (id: string, signal: AbortSignal | undefined): Promise<Uint8Array> => {
    const digest = digesting()
    const { content } = await files.download(id, signal ? { signal } : {})
    for await (const part of content) digest.update(part)
    return digest.digest()
  }

  return {
    async index(ids, signal) {
      const { results, enclave_response } = await began(ids, false, signal)
      // The enclave has new keys; the client fetches them once.
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

    async bind(ids, signal) {
      let count = 0
      for (const id of ids) if (await vouch(id, signal)) count++
      return count
    },

    async rotateKek(kek, { rehash = false, signal, onProgress } = {}) {
      const next = keysOf(kek, undefined)
      const own = keys.kid
      const left = own === next.kid ? [] : (await everyFile()).filter(({ kid }) => kid === own)
      const later = memoryOf(store, next)
      await later.inherit(memory)
      const faults: SealgateError[] = []
      let turned: { id: string; revision: number }[] = []
      const remember = async () => {
        await later.meet(turned)
        turned = []
      }

      const turn = async ({ record, dek, proof }: CheckedRecord): Promise<void> => {
        const known = rehash && (proof === null ? record.client_hash : proof.clientHash) !== null
        const hash = known ? next.hash(await digestOf(record.id, signal)) : null
        const wrapped = { id: record.id, version: record.version, file_size: record.file_size, kid: next.kid }
        const wrapped_dek = next.wrap(dek)
        const revision = (proof?.revision ?? 0) + 1
        const binding =
          proof && next.bind({ ...wrapped, wrapped_dek }, { revision, hash: proof.hash, clientHash: hashOf(hash) })
        const change = { old_kid: own, kid: next.kid, wrapped_dek, client_hash: hash, ...(binding && { binding }) }
        await ask.data('PATCH', pathFor`files/encrypted/${record.id}`, { json: change })
        if (proof !== null) turned.push({ id: record.id, revision })
      }

      for (let at = 0; at < left.length; at += page) {
        for (const [place, it] of (await checks.checkAll(left.slice(at, at + page))).entries()) {
          signal?.throwIfAborted()
          // A record that does not hold is not bound again, and the other files go on.
          if (it instanceof SealgateError) faults.push(it)
          else await turn(it)
          onProgress?.(at + place + 1, left.length)
        }
        await remember()
      }
      if (faults.length > 0) throw faults[0]
      return left.length
    },
  }
}
