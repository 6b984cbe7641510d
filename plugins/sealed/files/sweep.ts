import { one } from '../../../core/container.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { Clock, Log, Random } from '../../../core/ports/platform.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Started } from '../../../core/ports/started.ts'
import { Settings } from '../../../core/settings.ts'
import { deduplicating } from './deduplication.ts'
import { storage } from './quota.ts'
import { belonging, files } from './record.ts'
import { fileSettings } from './settings.ts'

/** What one sweep removed. */
export interface Swept {
  /** The number of stored files without a record. */
  readonly orphans: number
  /** The number of expired files. */
  readonly expired: number
}

/** Removes the remains of killed processes. Safe beside all other work, in any number of processes. */
export interface Sweep {
  /** `grace` in ms: younger bytes without a record are no orphans. */
  now(grace?: number): Promise<Swept>
  dispose(): void
}

/** A sweep runs by itself at random times; a command can run one at once. */
export const Sweep = one<Sweep>('Sweep')

const owning = lazy(() => import('./blob-owner.ts'))

/** The blobs belong to another row store, which has left this mark; null where nothing but the blobs tells so. */
class OtherRows extends Error {
  readonly mark: string | null

  constructor(mark: string | null) {
    super(
      'Nothing without a record is removed: the sealed files belong to another row store, beside which each of them ' +
        'is an orphan. Do storage.metadata and SEALGATE_DATA name the row store of these files?' +
        (mark === null ? '' : ` If they do, remove ${mark} from the blob store.`),
    )
    this.mark = mark
  }
}

export const sweep = plugin({
  port: Sweep,
  name: 'sweep',
  needs: { blobs: BlobStore, rows: MetadataStore, settings: Settings, clock: Clock, random: Random, log: Log },
  create: ({ blobs, rows, settings, clock, random, log }): Sweep => {
    const claims = deduplicating(rows, clock)
    const stored = storage(rows)

    /** The record is removed first, so that no caller sees a file without bytes. */
    const expired = async (): Promise<number> => {
      let count = 0
      for (;;) {
        const over = { between: { field: 'expires_at', to: clock.now() }, order: { by: 'expires_at' } } as const
        const { rows: page } = await rows.list(files, { ...over, limit: 200, countTo: 1 })
        for (const { id, row } of page) {
          if (!(await rows.remove(files, id, { rag_path: row.rag_path }))) continue
          await stored.leave(row.organization, row.file_size)
          await blobs.remove(row.file_path)
          if (row.rag_path !== null) await blobs.remove(row.rag_path)
          count++
        }
        if (page.length === 0) return count
      }
    }

    /** Bytes whose record does not name them. Young bytes may belong to an upload whose record comes later. */
    const orphans = async (prefix: string, grace: number): Promise<number> => {
      let count = 0
      for await (const path of blobs.list(prefix)) {
        const own = belonging(path)
        if (own === null || own.since > clock.now() - grace) continue
        const row = await rows.get(files, own.id)
        if (row?.file_path === path || row?.rag_path === path) continue
        await blobs.remove(path)
        count++
      }
      return count
    }

    const now = async (grace: number = fileSettings.of(settings).grace): Promise<Swept> => {
      const removed = await expired()
      await claims.sweep()
      await stored.recount()
      const other = await (await owning()).blobOwner(blobs, rows, clock, random).other()
      if (other !== null) throw new OtherRows(other.mark)
      return { expired: removed, orphans: (await orphans('encrypted/', grace)) + (await orphans('index/', grace)) }
    }

    // Random pauses keep replicas from sweeping together.
    const next = () => fileSettings.of(settings).sweep * (0.5 + random.fraction())
    const ring = () =>
      now()
        .then((swept) => log.info('files.swept', { ...swept }))
        .catch((cause: unknown) => {
          if (cause instanceof OtherRows) log.error('files.foreign', { mark: cause.mark })
          else log.error('files.sweep', {}, cause)
        })
        .finally(() => {
          if (!over) alarm = clock.alarm(next(), ring)
        })
    let over = false
    let alarm = clock.alarm(next(), () => void ring())

    return {
      now,
      dispose() {
        over = true
        alarm.off()
      },
    }
  },
})

/** Sweeps by itself from the start of the gateway on. */
export const sweepStart = plugin({ port: Started, name: 'sweep', needs: { sweep: Sweep }, create: (): Started => ({}) })
