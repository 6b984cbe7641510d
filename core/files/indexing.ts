import { one } from '../container.ts'
import { Expired, GatewayError, NotFound } from '../errors.ts'
import { uuid7 } from '../ids.ts'
import { Lifecycle } from '../lifecycle.ts'
import { plugin } from '../plugin.ts'
import { BlobStore } from '../ports/blob-store.ts'
import { Enclave, type Grant, type Shelf } from '../ports/enclave.ts'
import { Clock, Log, Random } from '../ports/host.ts'
import { MetadataStore } from '../ports/metadata-store.ts'
import { Settings } from '../settings.ts'
import type { IndexKeys } from './arrival.ts'
import { Cabinet } from './cabinet.ts'
import { type FileRow, type Owner, files, indexPathOf } from './record.ts'
import { shelfOf } from './shelf.ts'

export interface IndexItem extends IndexKeys {
  readonly file_id: string
  /** Must be the record's own. */
  readonly s3_r2_path: string
}

export interface IndexBegun {
  readonly file_id: string
  readonly rag_status: 'running' | 'failed'
  /** In a word, why not. */
  readonly code: string
}

/** Indexes files for retrieval. The work is the enclave's; what is kept here is its lease and where the index is. */
export interface Indexing {
  /** Resolves once the enclave has opened the keys, or refused; the record tells the end. */
  begin(grant: Grant, item: IndexItem): Promise<IndexBegun>
  /** Says of a record that it waits to be indexed. */
  announce(id: string): Promise<void>
  forget(owner: Owner, id: string): Promise<void>
  /** Resolves when nothing is under way any more. */
  dispose(): Promise<void>
}

export const Indexing = one<Indexing>('Indexing')

export const indexing = plugin({
  port: Indexing,
  name: 'indexing',
  needs: {
    cabinet: Cabinet,
    enclave: Enclave,
    blobs: BlobStore,
    rows: MetadataStore,
    settings: Settings,
    lifecycle: Lifecycle,
    clock: Clock,
    random: Random,
    log: Log,
  },
  create: ({ cabinet, enclave, blobs, rows, settings, lifecycle, clock, random, log }): Indexing => {
    const running = new Set<Promise<void>>()

    const lease = (status: 'pending' | 'running') => ({
      rag_status: status,
      rag_until: clock.now() + settings.files.indexing,
    })

    /** The end of an indexing, unless it was forgotten or begun anew since `until` was its lease; what it replaces goes after the record no longer names it. */
    const settle = async (id: string, until: number | null, path: string | null): Promise<void> => {
      const end =
        path === null ? ({ rag_status: 'failed' } as const) : ({ rag_status: 'completed', rag_path: path } as const)
      for (;;) {
        const before = await rows.get(files, id)
        if (before === null || before.rag_until !== until) break
        const { rag_path } = before
        if ((await rows.update(files, id, { ...end, rag_until: null }, { rag_until: until, rag_path })) === null)
          continue
        if (path !== null && rag_path !== null) await blobs.remove(rag_path)
        return
      }
      if (path !== null) await blobs.remove(path)
    }

    /** Gives back where the index is. */
    const work = async (grant: Grant, item: IndexItem, row: FileRow, began: () => Promise<void>): Promise<string> => {
      const path = indexPathOf(row, `${row.file_name.replace(/\.enc$/, '')}.${uuid7(clock, random)}.idx`)
      const whole = shelfOf(row, { cabinet, blobs, rows })
      let kept = false
      let keeping: Promise<void> = Promise.resolve()
      const shelf: Shelf = {
        ...whole,
        async file(id) {
          if (id !== item.file_id) return null
          await began()
          return whole.file(id)
        },
        content: async (id, signal) => (id === item.file_id ? whole.content(id, signal) : null),
        async keepIndex(id, bytes, signal) {
          if (id !== item.file_id) throw new NotFound('No such file')
          keeping = blobs.put(path, bytes, signal).then(() => void (kept = true))
          await keeping
        },
      }
      const { s3_r2_path: _, ...sealed } = item
      const signal = AbortSignal.any([lifecycle.closing, AbortSignal.timeout(settings.files.indexing)])
      try {
        const reply = await enclave.handle('files/encrypted/index', sealed, grant, signal, shelf)
        if (reply.kind !== 'body' || reply.failure !== null || !kept) throw new Refused()
        return path
      } catch (error) {
        // The enclave may be gone while its last bytes are on their way to the disk.
        await keeping.catch(() => undefined)
        if (kept) await blobs.remove(path)
        throw error
      }
    }

    return {
      async begin(grant, item) {
        const refused = (code: string): IndexBegun => ({ file_id: item.file_id, rag_status: 'failed', code })
        let row: FileRow
        try {
          row = await cabinet.find(grant, item.file_id)
        } catch (error) {
          if (error instanceof NotFound) return refused('unknown_file')
          throw error
        }
        if (row.file_path !== item.s3_r2_path) return refused('unknown_file')
        return new Promise<IndexBegun>((resolve) => {
          let { rag_until: until } = row
          let begun = false
          const began = async () => {
            const taken = lease('running')
            await rows.update(files, item.file_id, taken)
            until = taken.rag_until
            begun = true
            resolve({ file_id: item.file_id, rag_status: 'running', code: 'running' })
          }
          const it = work(grant, item, row, began)
            .then((path) => settle(item.file_id, until, path))
            .catch(async (error: unknown) => {
              if (!(error instanceof Refused))
                log.warn('index.failed', { request: grant.request, error: nameOf(error) })
              if (begun || row.rag_status === 'pending') await settle(item.file_id, until, null)
              resolve(refused(codeOf(error)))
            })
            .catch((cause: unknown) => {
              log.error('index.lost', { request: grant.request }, cause)
              resolve(refused('unavailable'))
            })
            .finally(() => running.delete(it))
          running.add(it)
        })
      },

      announce: async (id) => void (await rows.update(files, id, lease('pending'))),

      async forget(owner, id) {
        const row = await cabinet.find(owner, id)
        await rows.update(files, id, { rag_status: 'none', rag_until: null, rag_path: null })
        if (row.rag_path !== null) await blobs.remove(row.rag_path)
      },

      async dispose() {
        await Promise.all(running)
      },
    }
  },
})

/** The enclave refused after opening; why is between it and the caller. */
class Refused extends Error {}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')

const codeOf = (error: unknown): string => {
  if (error instanceof Refused) return 'refused'
  if (error instanceof Expired) return 'unknown_key'
  return error instanceof GatewayError && error.status === 400 ? 'undecryptable' : 'unavailable'
}
