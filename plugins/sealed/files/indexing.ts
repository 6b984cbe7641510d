import { one } from '../../../core/container.ts'
import { Expired, GatewayError, NotFound } from '../../../core/errors.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { plugin } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { Enclave, type Grant, type EnclaveFiles } from '../../../core/ports/enclave.ts'
import { Clock, Log, Random } from '../../../core/ports/platform.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Settings } from '../../../core/settings.ts'
import { withDeadline } from '../../shared/stop-with.ts'
import type { IndexKeys } from './upload.ts'
import { FileStore, removeIndexBytes } from './file-store.ts'
import { type FileRow, type Owner, type RagStatus, files, indexPrefixOf } from './record.ts'
import { enclaveFilesOf } from './enclave-files.ts'
import { fileSettings } from './settings.ts'

/** One file with its sealed keys, as the request names it. */
export interface IndexItem extends IndexKeys {
  readonly file_id: string
  /** Must be the record's own path. */
  readonly s3_r2_path: string
}

/** How the indexing of one file began; the record shows how it ends. */
export interface IndexBegun {
  readonly file_id: string
  readonly rag_status: 'running' | 'failed'
  /** The reason of a failure, as one word. */
  readonly code: string
}

/** Indexes files for retrieval. The enclave does the work; the gateway keeps the lease and the path of the index. */
export interface Indexing {
  /** Begins files of one encapsulation to one key. Resolves once the enclave opened or refused the keys; records tell the rest. */
  begin(grant: Grant, items: readonly IndexItem[]): Promise<readonly IndexBegun[]>
  /** Marks a record as waiting for its indexing. */
  announce(id: string): Promise<void>
  /** Removes the index with its bytes; an indexing under way is dropped. Throws NotFound for a missing file. */
  forget(owner: Owner, id: string): Promise<void>
  /** Resolves when no indexing is in progress. */
  dispose(): Promise<void>
}

/** One file of an indexing in progress. */
interface Task {
  readonly item: IndexItem
  /** False for a file that is to be indexed no more. */
  began(): Promise<boolean>
  keep(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
  /** Any code except `completed` is a failure. */
  end(code: string): Promise<void>
  /** Reports the failure only to the caller. */
  lost(): void
}

export const Indexing = one<Indexing>('Indexing')

export const indexing = plugin({
  port: Indexing,
  name: 'indexing',
  renewed: true,
  needs: {
    fileStore: FileStore,
    enclave: Enclave,
    blobs: BlobStore,
    rows: MetadataStore,
    settings: Settings,
    lifecycle: Lifecycle,
    clock: Clock,
    random: Random,
    log: Log,
  },
  create: ({ fileStore, enclave, blobs, rows, settings, lifecycle, clock, random, log }): Indexing => {
    const running = new Set<Promise<void>>()

    const lease = (status: 'pending' | 'running') => ({
      rag_status: status,
      rag_until: clock.now() + fileSettings.of(settings).indexing,
    })

    /** The end of the lease with which an indexing begins; null for a file that is gone, or was forgotten meanwhile. */
    const leased = async (id: string, waited: RagStatus): Promise<number | null> => {
      for (;;) {
        const before = await rows.get(files, id)
        if (before === null || (before.rag_status === 'none' && waited !== 'none')) return null
        const taken = lease('running')
        const { rag_status } = before
        if ((await rows.update(files, id, taken, { rag_status })) !== null) return taken.rag_until
      }
    }

    /**
     * Records the end of an indexing. Does nothing when the file was forgotten or its indexing began again after
     * `until`. A replaced index is removed after its record has changed.
     */
    const settle = async (
      id: string,
      until: number | null,
      ending: { readonly path: string } | { readonly code: string },
    ): Promise<void> => {
      const path = 'path' in ending ? ending.path : null
      const end: Partial<FileRow> =
        'path' in ending
          ? { rag_status: 'completed', rag_path: ending.path, rag_error: null }
          : { rag_status: 'failed', rag_error: ending.code }
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

    /** One file of an indexing. Its lease begins when the enclave asks for the file, and its index gets a new path. */
    const taskOf = (item: IndexItem, row: FileRow, resolve: (begun: IndexBegun) => void): Task => {
      const id = item.file_id
      const path = `${indexPrefixOf(row)}${uuid7(clock, random)}.idx`
      let { rag_until: until } = row
      let begun = false
      let kept = false
      let keeping: Promise<void> = Promise.resolve()
      return {
        item,
        async began() {
          const taken = await leased(id, row.rag_status)
          if (taken === null) return false
          until = taken
          begun = true
          resolve({ file_id: id, rag_status: 'running', code: 'running' })
          return true
        },
        async keep(bytes, signal) {
          keeping = blobs.put(path, bytes, signal).then(() => void (kept = true))
          await keeping
        },
        async end(code) {
          // The enclave may be gone while its last bytes are still being written.
          await keeping.catch(() => undefined)
          const stored = kept
          // Where the record may name the index, a failure leaves the bytes, and the sweep decides.
          kept = false
          if (code === 'completed' && stored) return settle(id, until, { path })
          if (stored) await blobs.remove(path)
          const reason = code === 'completed' ? 'refused' : code
          if (begun || row.rag_status === 'pending') await settle(id, until, { code: reason })
          resolve({ file_id: id, rag_status: 'failed', code: reason })
        },
        lost: () => resolve({ file_id: id, rag_status: 'failed', code: 'unavailable' }),
      }
    }

    const work = async (grant: Grant, tasks: readonly Task[]): Promise<void> => {
      const whole = enclaveFilesOf(grant, { fileStore, blobs, rows, clock })
      const taskFor = (id: string) => tasks.find(({ item }) => item.file_id === id) ?? null
      const enclaveFiles: EnclaveFiles = {
        ...whole,
        async file(id) {
          const task = taskFor(id)
          return task !== null && (await task.began()) ? whole.file(id) : null
        },
        content: async (id, signal) => (taskFor(id) === null ? null : whole.content(id, signal)),
        async keepIndex(id, bytes, signal) {
          const task = taskFor(id)
          if (task === null) throw new NotFound('No such file')
          await task.keep(bytes, signal)
        },
      }
      const late = () => new DOMException('The indexing took too long', 'TimeoutError')
      const { signal, off } = withDeadline(clock, fileSettings.of(settings).indexing, lifecycle.closing, late)
      try {
        const reply = await enclave.handle('files/encrypted/index', sealedOf(tasks), grant, signal, enclaveFiles)
        if (reply.kind !== 'body' || reply.failure !== null) throw new Refused()
        const codes = codesOf(reply.body)
        for (const task of tasks) await task.end(codes.get(task.item.file_id) ?? 'refused')
      } finally {
        off()
      }
    }

    const failed = async (grant: Grant, tasks: readonly Task[], error: unknown): Promise<void> => {
      if (!(error instanceof Refused)) log.warn('index.failed', { request: grant.request, error: nameOf(error) })
      for (const task of tasks) await task.end(codeOf(error))
    }

    /** The record of an item; null when the caller has no such file. */
    const found = async (grant: Grant, item: IndexItem): Promise<FileRow | null> => {
      try {
        const row = await fileStore.find(grant, item.file_id)
        return row.file_path === item.s3_r2_path ? row : null
      } catch (error) {
        if (error instanceof NotFound) return null
        throw error
      }
    }

    return {
      async begin(grant, items) {
        const rows = await Promise.all(items.map((item) => found(grant, item)))
        const tasks: Task[] = []
        const begun = items.map((item, at) => {
          const row = rows[at]
          if (row == null) return { file_id: item.file_id, rag_status: 'failed', code: 'unknown_file' } as const
          return new Promise<IndexBegun>((resolve) => void tasks.push(taskOf(item, row, resolve)))
        })
        if (tasks.length > 0) {
          const working = work(grant, tasks)
            .catch((error: unknown) => failed(grant, tasks, error))
            .catch((cause: unknown) => {
              log.error('index.lost', { request: grant.request }, cause)
              for (const task of tasks) task.lost()
            })
            .finally(() => running.delete(working))
          running.add(working)
        }
        return Promise.all(begun)
      },

      announce: async (id) => void (await rows.update(files, id, lease('pending'))),

      async forget(owner, id) {
        const nothing = { rag_status: 'none', rag_error: null, rag_until: null, rag_path: null } as const
        for (;;) {
          const row = await fileStore.find(owner, id)
          // The record names its index until the bytes are gone, so a failure can be tried again.
          await removeIndexBytes(blobs, row)
          // An index that came in meanwhile must go, too.
          if ((await rows.update(files, id, nothing, { rag_path: row.rag_path })) !== null) return
        }
      },

      async dispose() {
        await Promise.all(running)
      },
    }
  },
})

/** The enclave refused after opening; the reason is sealed for the caller. */
class Refused extends Error {}

/** The class of an error alone: its message may quote what the enclave said. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')

/** The word for the caller. `unknown_key` asks the client to seal again under new keys. */
const codeOf = (error: unknown): string => {
  if (error instanceof Refused) return 'refused'
  if (error instanceof Expired) return 'unknown_key'
  return error instanceof GatewayError && error.status === 400 ? 'undecryptable' : 'unavailable'
}

/** The enclave's input: a list under one encapsulation, so that each file has a code of its own. */
const sealedOf = (tasks: readonly Task[]): Readonly<Record<string, unknown>> => {
  const files = tasks.map(({ item: { s3_r2_path: _, ...sealed } }) => sealed)
  const named = files.find(({ enclave_kid }) => enclave_kid != null)
  return { cipher_text: files[0]?.cipher_text, enclave_kid: named?.enclave_kid, files }
}

/** The result code of each file, by its id. */
const codesOf = (body: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> => {
  const ends = body['files'] as readonly { file_id: string; code: string }[]
  return new Map(ends.map(({ file_id, code }) => [file_id, code]))
}
