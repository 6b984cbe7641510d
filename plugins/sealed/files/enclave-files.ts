import { NotFound } from '../../../core/errors.ts'
import type { BlobStore } from '../../../core/ports/blob-store.ts'
import type { EnclaveFiles, IndexedRecord } from '../../../core/ports/enclave.ts'
import type { MetadataStore } from '../../../core/ports/metadata-store.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import type { FileStore } from './file-store.ts'
import { type FileRow, type FileType, type Owner, type RagStatus, files, isOver } from './record.ts'

interface StoredParts {
  readonly fileStore: FileStore
  readonly blobs: BlobStore
  readonly rows: MetadataStore
  readonly clock: Clock
}

/** The enclave's access to one owner's files. Only an indexing writes an index. `made` is the type of tools' files. */
export const enclaveFilesOf = (
  { organization, user }: Owner,
  { fileStore, blobs, rows, clock }: StoredParts,
  made: FileType = 'general',
): EnclaveFiles => {
  const owner = { organization, user }
  /** Null for a missing file and for one of another owner, which look the same. */
  const found = (id: string): Promise<FileRow | null> =>
    fileStore.find(owner, id).catch((error: unknown) => {
      if (error instanceof NotFound) return null
      throw error
    })

  return {
    async file(id) {
      const row = await found(id)
      return row && { version: row.version, name: row.original_name, mime: row.mime_type, size: row.file_size }
    },

    async content(id, signal) {
      const row = await found(id)
      return row && fileStore.content(row, null, signal)
    },

    async keep({ id: chosen = null, kid, wrappedDek, name, mime }, bytes, signal) {
      const labels = { version: '2', kid, wrapped_dek: wrappedDek, original_name: name, mime_type: mime }
      const unclaimed = { client_hash: null, name_tag: null, type_hint: made } as const
      const { id, row } = await fileStore.keep(owner, chosen, { ...labels, ...unclaimed }, bytes, signal)
      return { fileId: id, size: row.file_size, path: row.file_path }
    },

    async indexes(ids) {
      if (ids !== null) {
        const named = await Promise.all(ids.map(async (id) => ({ id, row: await found(id) })))
        return named.flatMap(({ id, row }) => (row === null ? [] : indexedAs(id, row)))
      }
      // During a new indexing, and after one that failed, search still uses the old index.
      const listed = (rag_status: RagStatus) => rows.list(files, { where: { ...owner, rag_status } })
      const all = await Promise.all((['completed', 'running', 'failed'] as const).map(listed))
      const now = clock.now()
      // The record of a file whose time is over stays until the sweep.
      return all.flatMap(({ rows }) => rows.flatMap(({ id, row }) => (isOver(row, now) ? [] : indexedAs(id, row))))
    },

    async index(id, signal) {
      const path = (await found(id))?.rag_path
      return path == null ? null : ((await blobs.get(path, null, signal))?.bytes ?? null)
    },

    /** Throws NotFound: `indexing.ts` gives each indexing a method of its own. */
    async keepIndex() {
      throw new NotFound('No such file')
    },
  }
}

/** Empty when the file has no index. */
const indexedAs = (id: string, { rag_path, created_at }: FileRow): readonly IndexedRecord[] =>
  rag_path === null ? [] : [{ id, version: rag_path, created: created_at }]
