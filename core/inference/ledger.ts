import { one } from '../container.ts'
import { plugin } from '../plugin.ts'
import { type Alarm, Clock, Log } from '../ports/host.ts'
import { kind, MetadataStore } from '../ports/metadata-store.ts'

/** What one key used of one model on one day (UTC). */
export interface UsageRow {
  readonly organization: string
  readonly key: string
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly model: string
  readonly requests?: number
  readonly input?: number
  readonly output?: number
  readonly reasoning?: number
  readonly cached?: number
  readonly audio_seconds?: number
  /** Requests whose counts are partly our guess. */
  readonly estimated?: number
  /** Requests that no backend answered, or that were left before the first token. */
  readonly unanswered?: number
  /** Millionths of the price table's currency, over the requests whose price is known. */
  readonly cost_micros?: number
  /** Requests whose price is not known. */
  readonly unpriced?: number
}

export const usages = kind<UsageRow>('usage', [
  ['organization', 'day'],
  ['key', 'day'],
])

type Place = Pick<UsageRow, 'organization' | 'key' | 'day' | 'model'>
export type Counts = Omit<UsageRow, keyof Place>

/** Adds up in memory and writes now and then, so that no request waits for the store. */
export interface Ledger {
  add(place: Place, counts: Counts): void
  /** Writes what is left. */
  dispose(): Promise<void>
}

export const Ledger = one<Ledger>('Ledger')

const every = 1_000
/** Rows that wait while the store is down; beyond that counts are lost, and the log says so. */
const most = 10_000
const tries = 3

interface Sheet {
  readonly place: Place
  readonly deltas: Record<string, number>
}

export const ledger = plugin({
  port: Ledger,
  name: 'ledger',
  needs: { rows: MetadataStore, clock: Clock, log: Log },
  create: ({ rows, clock, log }): Ledger => {
    let sheets = new Map<string, Sheet>()
    let alarm: Alarm | null = null
    let writing: Promise<void> | null = null
    /** Rows that are known to be there. */
    const there = new Set<string>()

    const put = (id: string, place: Place, counts: Readonly<Record<string, number>>) => {
      let sheet = sheets.get(id)
      if (!sheet) {
        if (sheets.size >= most) return log.error('usage.lost', { model: place.model, day: place.day })
        sheets.set(id, (sheet = { place, deltas: {} }))
      }
      for (const name in counts) if (counts[name]) sheet.deltas[name] = (sheet.deltas[name] ?? 0) + counts[name]
    }

    const write = async (): Promise<void> => {
      const now = sheets
      sheets = new Map()
      for (const [id, { place, deltas }] of now) {
        try {
          if (!there.has(id)) {
            await rows.create(usages, id, place)
            if (there.size >= most) there.clear()
            there.add(id)
          }
          await rows.add(usages, id, deltas)
          now.delete(id)
        } catch (cause) {
          log.error('usage.unwritten', { rows: now.size }, cause)
          // The one that failed goes last, so that it cannot keep the others from being written.
          now.delete(id)
          for (const [other, sheet] of now) put(other, sheet.place, sheet.deltas)
          return put(id, place, deltas)
        }
      }
    }

    const flush = () => {
      alarm = null
      writing ??= write().finally(() => {
        writing = null
        if (sheets.size > 0) arm()
      })
    }
    const arm = () => {
      alarm ??= clock.alarm(every, flush)
    }

    return {
      add(place, counts) {
        put(`${place.key}/${place.day}/${place.model}`, place, counts as Readonly<Record<string, number>>)
        arm()
      },
      async dispose() {
        await writing
        for (let left = tries; sheets.size > 0 && left > 0; left--) await write()
        if (sheets.size > 0) log.error('usage.lost', { rows: sheets.size })
        alarm?.off()
      },
    }
  },
})
