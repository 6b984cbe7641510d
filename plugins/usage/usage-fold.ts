import type { Alarm, Clock, Log, Random } from '../../core/ports/platform.ts'
import type { MetadataStore, Reports, Row } from '../../core/ports/metadata-store.ts'
import { lazy } from '../../core/plugin.ts'
import type { Tables } from './fold-tables.ts'
import { type Cursor, type LateDay, cursorId, cursors, fastMs, foldCursor, lates } from './late-days.ts'
import { dayAfter, endOfMonth, monthOf } from './spans.ts'
import { usages } from './usage-rows.ts'

const folding = lazy(() => import('./fold-tables.ts'))

/** Makes the sums of days that are over, in the background. */
export interface Folding {
  dispose(): Promise<void>
}

/** What the making of sums needs of the gateway. */
export interface FoldNeeds {
  readonly rows: MetadataStore
  readonly reports: Reports
  readonly clock: Clock
  readonly log: Log
  readonly random: Random
}

/** Ms between two looks for work. */
const every = 30_000
/** Ms after the end of a day, for counts on their way. */
const grace = 600_000
/** Ms for which one process alone makes sums. */
const leaseMs = 60_000
/** Ms of rest after some tables, so that the work leaves the machine to calls. */
const restMs = 20
/** Late days in one turn. Further ones wait for the next turn. */
const latesAtOnce = 100

/** The cursor with its next turn; null when another process has moved it. */
const moved = (rows: MetadataStore, cursor: Cursor, change: Partial<Cursor>): Promise<Cursor | null> => {
  const { day, by, turn } = cursor
  return rows.update(cursors, cursorId, { ...change, turn: turn + 1 }, { day, by, turn })
}

/** The cursor, when this process may move it; `known` is the cursor as it was read. */
const leasedCursor = async (
  rows: MetadataStore,
  known: Cursor | null,
  by: string,
  now: number,
): Promise<Cursor | null> => {
  if (known === null) {
    const first = (await rows.list(usages, { order: { by: 'day' }, limit: 1, countTo: 1 })).rows[0]
    if (first === undefined) return null
    const cursor = { day: dayAfter(first.row.day, -1), by, until: now + leaseMs, turn: 1 }
    return (await rows.create(cursors, cursorId, cursor)) ? cursor : null
  }
  // A lease beyond is of a clock that runs faster than clocks may.
  if (known.by !== by && known.until > now && known.until < now + leaseMs + fastMs) return null
  return moved(rows, known, { by, until: now + leaseMs })
}

/**
 * One process of all makes the sums: a lease in the store keeps the others away. A fault is logged, and the
 * next turn tries again.
 */
export const usageFold = ({ rows, reports, clock, log, random }: FoldNeeds): Folding => {
  const by = Buffer.from(random.bytes(6)).toString('hex')
  const closing = new AbortController()
  let working: Promise<void> | null = null
  let alarm: Alarm | null = null

  let renewAt = 0
  /** Renews the lease, and rejects once another process has it. */
  const rest = async (): Promise<void> => {
    await clock.sleep(restMs, closing.signal)
    if (clock.now() < renewAt) return
    renewAt = clock.now() + leaseMs / 2
    const until = clock.now() + leaseMs
    if ((await rows.update(cursors, cursorId, { until }, { by })) === null) throw new Error('A lost lease')
  }
  const tables: Tables = { rows, reports, rest }
  /** Whether the day behind the cursor is over. */
  const isNextOver = ({ day }: Cursor): boolean => clock.now() >= Date.parse(dayAfter(day, 2)) + grace

  /** Null when nothing is left to do, or another process goes on. */
  const foldNext = async (cursor: Cursor): Promise<Cursor | null> => {
    if (!isNextOver(cursor)) return null
    const day = dayAfter(cursor.day)
    const all = { organization: null, turn: cursor.turn }
    const { foldDay, foldMonth } = await folding()
    await foldDay(tables, { ...all, day })
    const month = monthOf(day)
    if (day === endOfMonth(month)) await foldMonth(tables, { ...all, month })
    return moved(rows, cursor, { day, until: clock.now() + leaseMs })
  }

  const work = async (): Promise<void> => {
    const known = await foldCursor(rows)
    // A turn without work would make every reader forget its sums.
    if (known !== null && !isNextOver(known) && (await latesUntil(rows, known.day)).length === 0) return
    let cursor = await leasedCursor(rows, known, by, clock.now())
    // Another turn tells readers that sums have changed.
    if (cursor !== null && (await foldLates(tables, cursor))) cursor = await moved(rows, cursor, {})
    while (cursor !== null && !closing.signal.aborted) cursor = await foldNext(cursor)
  }
  const begin = (): void => {
    working = work()
      .catch((cause: unknown) => {
        if (!closing.signal.aborted) log.error('usage.sums', {}, cause)
      })
      .finally(() => {
        working = null
        if (!closing.signal.aborted) alarm = clock.alarm(every, begin)
      })
  }
  alarm = clock.alarm(every, begin)

  return {
    async dispose() {
      closing.abort(new Error('The gateway closes'))
      alarm?.off()
      await working
    },
  }
}

/** Days with sums that were written to afterwards. */
const latesUntil = async (rows: MetadataStore, folded: string): Promise<readonly Row<LateDay>[]> =>
  (await rows.list(lates, { limit: latesAtOnce, countTo: 1 })).rows.filter(({ row }) => row.day <= folded)

/** Makes the sums of days anew that were written to afterwards; whether there were any. */
const foldLates = async (tables: Tables, { day: folded, turn }: Cursor): Promise<boolean> => {
  const { rows } = tables
  const found = await latesUntil(rows, folded)
  const days = new Map(found.map(({ row }) => [`${row.day}/${row.organization}`, row]))
  if (days.size === 0) return false
  const { foldDay, foldMonth } = await folding()
  for (const { organization, day } of days.values()) {
    await foldDay(tables, { organization, day, turn })
    if (endOfMonth(monthOf(day)) <= folded) await foldMonth(tables, { organization, month: monthOf(day), turn })
  }
  // Marks that came meanwhile stay.
  for (const { id } of found) await rows.remove<LateDay>(lates, id)
  return true
}
