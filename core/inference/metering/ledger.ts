import { one } from '../../container.ts'
import { plugin } from '../../plugin.ts'
import { type Alarm, Clock, Log, Random } from '../../ports/platform.ts'
import { kind, MetadataStore } from '../../ports/metadata-store.ts'

/** What one key used of one model on one day (UTC). */
export interface UsageRow {
  readonly organization: string
  readonly key: string
  /** Of the key. Absent in rows of 1.0.0. */
  readonly user?: string
  /** Absent for none. */
  readonly team?: string
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
  /** Part of `cost_micros`, over the requests whose counts are partly our guess. */
  readonly estimated_cost_micros?: number
  /** Requests whose price is not known. */
  readonly unpriced?: number
  /** How often a process wrote here. */
  readonly [by: `by:${string}`]: number | null
}

export const usages = kind<UsageRow>('usage', [['organization', 'day'], ['key', 'day'], ['day']])

type Place = Pick<UsageRow, 'organization' | 'key' | 'user' | 'team' | 'day' | 'model'>
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
const mostWaitingRows = 10_000
const tries = 3

type Sums = Readonly<Record<string, number>>

interface DaySheet {
  readonly place: Place
  /** What waits to be sent. */
  deltas: Record<string, number>
  /** What was sent and may be there, which is tried unchanged until that is known. */
  sent: { readonly deltas: Sums; readonly turn: number } | null
}

export const ledger = plugin({
  port: Ledger,
  name: 'ledger',
  needs: { rows: MetadataStore, clock: Clock, random: Random, log: Log },
  create: ({ rows, clock, random, log }): Ledger => {
    const sheets = new Map<string, DaySheet>()
    /** How often this process wrote to a row, which the row says too: nobody else counts there. */
    const turns = new Map<string, number>()
    const by = `by:${Buffer.from(random.bytes(6)).toString('hex')}` as const
    let alarm: Alarm | null = null
    let writing: Promise<void> | null = null

    const sheetOf = (id: string, place: Place): DaySheet | null => {
      let sheet = sheets.get(id) ?? null
      if (!sheet && sheets.size < mostWaitingRows) sheets.set(id, (sheet = { place, deltas: {}, sent: null }))
      return sheet
    }

    const count = (sheet: DaySheet, counts: Sums) => {
      for (const name in counts) if (counts[name]) sheet.deltas[name] = (sheet.deltas[name] ?? 0) + counts[name]
    }

    const turnIn = async (id: string) => (await rows.get(usages, id))?.[by] ?? 0

    const turnOf = async (id: string, place: Place): Promise<number> => {
      const known = turns.get(id)
      if (known !== undefined) return known
      return (await rows.create(usages, id, place)) ? 0 : turnIn(id)
    }

    /** However often it is tried, and whenever a try arrives, it counts once. */
    const enter = async (id: string, sheet: DaySheet): Promise<void> => {
      if (!sheet.sent) {
        const turn = await turnOf(id, sheet.place)
        sheet.sent = { deltas: sheet.deltas, turn }
        sheet.deltas = {}
      }
      const { deltas, turn } = sheet.sent
      const sums = await rows.add(usages, id, { ...deltas, [by]: 1 }, { [by]: turn || null })
      const there = sums !== null || (await turnIn(id)) > turn
      sheet.sent = null
      if (turns.size >= mostWaitingRows) turns.clear()
      if (there) turns.set(id, turn + 1)
      else {
        // The row itself is gone, and is made anew the next time.
        turns.delete(id)
        count(sheet, deltas)
      }
    }

    const write = async (): Promise<void> => {
      for (const [id, sheet] of [...sheets]) {
        try {
          await enter(id, sheet)
          if (Object.keys(sheet.deltas).length === 0) sheets.delete(id)
        } catch (cause) {
          log.error('usage.unwritten', { rows: sheets.size }, cause)
          // The one that failed goes last, so that it cannot keep the others from being written.
          sheets.delete(id)
          sheets.set(id, sheet)
          return
        }
      }
    }

    const flush = (): Promise<void> => {
      alarm?.off()
      alarm = null
      return (writing ??= write().finally(() => {
        writing = null
        if (sheets.size > 0) arm()
      }))
    }
    const arm = () => {
      alarm ??= clock.alarm(every, () => void flush())
    }

    return {
      add(place, counts) {
        const sheet = sheetOf(`${place.key}/${place.day}/${place.model}`, place)
        if (!sheet) return log.error('usage.lost', { model: place.model, day: place.day })
        count(sheet, counts as Sums)
        arm()
      },
      async dispose() {
        await writing
        for (let left = tries; sheets.size > 0 && left > 0; left--) await flush()
        if (sheets.size > 0) log.error('usage.lost', { rows: sheets.size })
        alarm?.off()
      },
    }
  },
})
