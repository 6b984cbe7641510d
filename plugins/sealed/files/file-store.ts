import * as v from 'valibot'
import { one } from '../../../core/container.ts'
import type { FlatPart } from '../../shared/flat-json.ts'
import { BadRequest, NotFound, Unavailable } from '../../../core/errors.ts'
import { checked } from '../../../core/validate.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import { plugin } from '../../../core/plugin.ts'
import { BlobStore, type Range } from '../../../core/ports/blob-store.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import { MetadataStore, type Query } from '../../../core/ports/metadata-store.ts'
import { Settings } from '../../../core/settings.ts'
import { type IndexKeys, UploadFields, receiveUpload, indexKeysOf } from './upload.ts'
import { deduplicating } from './deduplication.ts'
import { type Quota, type Stored, quotaOf, storage } from './quota.ts'
import {
  type FileRow,
  type Labels,
  type Owner,
  files,
  idOf,
  isOver,
  indexPrefixOf,
  isTimely,
  nameOf,
  pathOf,
} from './record.ts'
import { fileSettings } from './settings.ts'

/** A record with its id. */
export interface StoredFile {
  readonly id: string
  readonly row: FileRow
}

/** A key under another KEK, and what depends on that KEK. */
export interface Rewrapping {
  /** The KEK that the client expects in the record; another one refuses the change. */
  readonly old_kid: string
  readonly kid: string
  readonly wrapped_dek: string
  /** Hashed under the new KEK; null takes the file out of the search for duplicates. */
  readonly client_hash: string | null
  /** Absent when the client binds nothing; an earlier binding ends then. */
  readonly binding?: string | null | undefined
}

/**
 * Sealed files with their records. The bytes are durable before a record becomes visible, and are removed after the
 * record.
 */
export interface FileStore {
  /** Stores an upload. `keys` are present when the client wants the file indexed at once. */
  receive(
    owner: Owner,
    parts: AsyncIterable<FlatPart>,
    signal: AbortSignal,
  ): Promise<StoredFile & { readonly duplicate: boolean; readonly keys: IndexKeys | null }>
  /** Throws BadRequest when the id is no recent choice of a client or has a record. `field` names its place. */
  admit(id: string, field: string): Promise<void>
  /** Stores a tool's file under the caller's id or a new id. */
  keep(
    owner: Owner,
    id: string | null,
    labels: Labels,
    bytes: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<StoredFile>
  /** Throws NotFound when the file belongs to another owner or does not exist. */
  find(owner: Owner, id: string): Promise<FileRow>
  /** Never lists incognito files. `total` is exact up to 10,000. */
  list(owner: Owner, query: Query<FileRow>): Promise<{ readonly rows: readonly StoredFile[]; readonly total: number }>
  /** The sealed bytes. */
  content(row: FileRow, range: Range | null, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** A link to the store itself; null when the store offers no links. */
  link(row: FileRow): Promise<{ readonly url: string; readonly ttl: number } | null>
  /** What the owner's organisation stores, and how much it may store. */
  storage(owner: Owner): Promise<{ readonly stored: Stored; readonly quota: Quota }>
  /** Wraps the file's key with another key; the content stays. */
  rewrap(owner: Owner, id: string, change: Rewrapping): Promise<FileRow>
  /** Removes record, claim, bytes and index, in this order. Throws NotFound for a missing file. */
  remove(owner: Owner, id: string): Promise<void>
}

/** The word in quotes is the port's name of 1.0.0. */
export const FileStore = one<FileStore>('Cabinet')

/**
 * Removes the index of a file, and what an indexing under way has stored until now. Such an indexing removes by itself what
 * it stores later.
 */
export const removeIndexBytes = async (blobs: BlobStore, row: FileRow): Promise<void> => {
  if (row.rag_path !== null) await blobs.remove(row.rag_path)
  if (row.rag_until === null) return
  for await (const path of blobs.list(indexPrefixOf(row))) await blobs.remove(path)
}

export const fileStore = plugin({
  port: FileStore,
  name: 'fileStore',
  renewed: true,
  sections: [fileSettings],
  needs: { blobs: BlobStore, rows: MetadataStore, settings: Settings, clock: Clock, random: Random },
  create: ({ blobs, rows, settings, clock, random }): FileStore => {
    const claims = deduplicating(rows, clock)
    const stored = storage(rows)

    const find = async ({ organization, user }: Owner, id: string): Promise<FileRow> => {
      const row = await rows.get(files, id)
      const over = row !== null && isOver(row, clock.now())
      if (row === null || over || row.organization !== organization || row.user !== user) throw missing()
      return row
    }

    /** Writes the record of bytes that are already stored. */
    const enter = async (id: string, row: FileRow): Promise<StoredFile & { readonly duplicate: boolean }> => {
      const { client_hash: hash, organization, file_size, file_path } = row
      const other = hash === null ? null : await claims.take(row, hash, id)
      if (other !== null) {
        await blobs.remove(file_path)
        return { ...other, duplicate: true }
      }
      try {
        await stored.enter(organization, file_size, quotaOf(organization, settings))
      } catch (error) {
        if (hash !== null) await claims.release(row, hash, id)
        await blobs.remove(file_path)
        throw error
      }
      // After a failure the record may exist, so the bytes stay; the sweep decides.
      if (!(await rows.create(files, id, row))) throw new Unavailable()
      if (hash !== null) await claims.settle(row, hash, id)
      return { id, row, duplicate: false }
    }

    const admit = async (id: string, field: string): Promise<void> => {
      if (!isTimely(id, clock.now()) || (await rows.get(files, id)) !== null)
        throw unfit(field, 'Expected a new file id')
    }

    const rowOf = (owner: Owner, labels: Labels, name: string, size: number, incognito: boolean): FileRow => {
      const now = clock.now()
      return {
        ...labels,
        organization: owner.organization,
        user: owner.user,
        file_name: name,
        file_path: pathOf(owner, name),
        file_size: size,
        listed: !incognito,
        created_at: now,
        updated_at: null,
        expires_at: incognito ? now + fileSettings.of(settings).incognito : null,
        rag_status: 'none',
        rag_until: null,
        rag_path: null,
      }
    }

    return {
      find,
      admit,

      storage: async ({ organization }) => ({
        stored: await stored.of(organization),
        quota: quotaOf(organization, settings),
      }),

      async receive(owner, parts, signal) {
        const uuid = uuid7(clock, random)
        let chosen: string | null = null
        const path = () => pathOf(owner, nameOf(uuid, chosen))
        const known = async ({ file_id, client_hash, incognito }: Readonly<Record<string, unknown>>) => {
          if (file_id != null) {
            await admit(String(file_id), 'file_id')
            chosen = String(file_id)
          }
          // A duplicate that the client declares first saves the store a copy; the client still sends all bytes.
          return (
            v.is(UploadFields.entries.client_hash, client_hash) &&
            incognito === false &&
            (await claims.holder(owner, client_hash)) !== null
          )
        }
        const { fields, size } = await receiveUpload(
          parts,
          (bytes) => blobs.put(path(), bytes, signal),
          () => blobs.remove(path()),
          known,
          settings.bodies.file,
        )
        let given: UploadFields
        let keys: IndexKeys | null
        try {
          given = checked(UploadFields, fields)
          keys = indexKeysOf(given)
          // The stored bytes already carry the id.
          if ((given.file_id ?? null) !== chosen) throw unfit('file_id', 'Expected before the content')
        } catch (error) {
          if (size !== null) await blobs.remove(path())
          throw error
        }
        const hash = given.incognito ? null : given.client_hash
        if (size === null) {
          const other = hash === null ? null : await claims.holder(owner, hash)
          // The other file was removed after the first lookup.
          if (other === null) throw new Unavailable()
          return { ...other, duplicate: true, keys: null }
        }
        const labels: Labels = {
          version: String(given.version ?? 1),
          kid: given.kid,
          wrapped_dek: given.wrapped_dek,
          original_name: given.encrypted_name,
          mime_type: given.mime_type,
          client_hash: hash,
          name_tag: given.name_tag ?? null,
          type_hint: given.type_hint ?? 'general',
          binding: given.binding ?? null,
        }
        const row = rowOf(owner, labels, nameOf(uuid, chosen), size, given.incognito === true)
        const entered = await enter(chosen ?? idOf(uuid), row)
        return { ...entered, keys: entered.duplicate ? null : keys }
      },

      async keep(owner, id, labels, bytes, signal) {
        // The route passes a long request on without reading its id.
        if (id !== null) await admit(id, 'fileId')
        const uuid = uuid7(clock, random)
        const name = nameOf(uuid, id)
        const { size } = await blobs.put(pathOf(owner, name), bytes, signal)
        return enter(id ?? idOf(uuid), rowOf(owner, labels, name, size, false))
      },

      list: ({ organization, user }, query) =>
        rows.list(files, {
          ...query,
          where: { ...query.where, organization, user, listed: true },
          // The total is exact as far as people browse, and always covers one row beyond the page.
          countTo: Math.max(counted, (query.offset ?? 0) + (query.limit ?? 0) + 1),
        }),

      async content({ file_path, file_size }, range, signal) {
        const found = await blobs.get(file_path, range, signal)
        if (found === null) throw missing()
        if (found.size < file_size) {
          void found.bytes[Symbol.asyncIterator]().return?.()
          throw new Unavailable('The content of the file is not whole', { retryAfter: null })
        }
        return found.bytes
      },

      async link({ file_path }) {
        const ttl = fileSettings.of(settings).link
        return blobs.link === undefined ? null : { url: await blobs.link(file_path, ttl), ttl }
      },

      async rewrap(owner, id, { old_kid, kid, wrapped_dek, client_hash, binding = null }) {
        const row = await find(owner, id)
        if (row.kid === kid && row.wrapped_dek === wrapped_dek) {
          if (binding === null || binding === row.binding) return row
          const bound = await rows.update(files, id, { binding, updated_at: clock.now() }, { kid, wrapped_dek })
          if (bound === null) throw wrongKey()
          return bound
        }
        if (row.kid !== old_kid) throw wrongKey()
        // Two files may become equal under the new key. The second then leaves the search for duplicates.
        const other = client_hash === null ? null : await claims.take(owner, client_hash, id)
        const hash = other !== null && other.id !== id ? null : client_hash
        const change = { kid, wrapped_dek, client_hash: hash, binding, updated_at: clock.now() }
        const changed = await rows.update(files, id, change, { kid: old_kid })
        if (changed === null) {
          if (hash !== null && hash !== row.client_hash) await claims.release(owner, hash, id)
          throw wrongKey()
        }
        if (hash !== null) await claims.settle(owner, hash, id)
        if (row.client_hash !== null && row.client_hash !== hash) await claims.release(owner, row.client_hash, id)
        return changed
      },

      async remove(owner, id) {
        for (;;) {
          const row = await find(owner, id)
          // An index that was written meanwhile must be removed, too.
          const removed = await rows.remove(files, id, { rag_path: row.rag_path }).catch(async (error: unknown) => {
            // A full disk takes no line of a journal more: the content goes first, and makes room for it.
            if (!isFullDisk(error)) throw error
            await blobs.remove(row.file_path)
            return rows.remove(files, id, { rag_path: row.rag_path })
          })
          if (!removed) continue
          if (row.client_hash !== null) await claims.release(owner, row.client_hash, id)
          await stored.leave(row.organization, row.file_size)
          await blobs.remove(row.file_path)
          await removeIndexBytes(blobs, row)
          return
        }
      },
    }
  },
})

/** Totals are exact up to this number of files. */
const counted = 10_000

const unfit = (field: string, expected: string) =>
  new BadRequest('Validation failed', { validator: { [field]: expected } })
const missing = () => new NotFound('No such file')
const wrongKey = () =>
  new BadRequest('The file is wrapped under another key', { validator: { old_kid: 'Expected the key of the record' } })

/** How SQLite, the system and PostgreSQL say that there is no room on the disk. */
const fullDiskCodes: ReadonlySet<unknown> = new Set(['SQLITE_FULL', 'ENOSPC', '53100'])

/** Whether a disk without room is among the causes of an error. */
const isFullDisk = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if ('code' in error && fullDiskCodes.has(error.code)) return true
  return isFullDisk(error.cause) || (error instanceof AggregateError && error.errors.some(isFullDisk))
}
