import { rowSums } from '../../row-sums.ts'
import type { Alarm, Clock, Log, Random } from '../../ports/platform.ts'
import { kind, type Kind, type MetadataStore, type Reports, type Row, type Sum } from '../../ports/metadata-store.ts'
import { type LateDay, lates } from './late-days.ts'
import { dayAfter, endOfMonth, monthOf } from './spans.ts'
import {
  daySums,
  type Grouping,
  groupings,
  lengthOfSums,
  monthSums,
  sumTurns,
  tablePrefix,
  writeTable,
} from './sum-tables.ts'
import { countNames, shares, type SharedRow, usages, type UsageRow } from './usage-rows.ts'

/** How far the sums have come. */
interface Cursor {
  /** The last day that has sums. */
  readonly day: string
  /** The process that goes on with them, until this time in Unix ms. */
  readonly by: string
  readonly until: number
}

const cursors = kind<Cursor>('usage-fold')
const cursorId = 'cursor'

export const foldCursor = (rows: MetadataStore): Promise<Cursor | null> => rows.get(cursors, cursorId)

/** Makes the sums of days that are over, in the background. */
export interface Folding {
  dispose(): Promise<void>
}

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
/** Ms of rest after some organisations' day, so that the work leaves the machine to calls. */
const restMs = 20
/** Organisations whose day is summed at once. */
const atOnce = 8
const pageSize = 200
const latesAtOnce = 100

/** The cursor, when this process may move it. */
const leasedCursor = async (rows: MetadataStore, by: string, now: number): Promise<Cursor | null> => {
  const known = await foldCursor(rows)
  if (known === null) {
    const first = (await rows.list(usages, { order: { by: 'day' }, limit: 1, countTo: 1 })).rows[0]
    if (first === undefined) return null
    const cursor = { day: dayAfter(first.row.day, -1), by, until: now + leaseMs }
    return (await rows.create(cursors, cursorId, cursor)) ? cursor : null
  }
  if (known.by !== by && known.until > now) return null
  return rows.update(cursors, cursorId, { by, until: now + leaseMs }, { by: known.by, until: known.until })
}

export const usageFold = (needs: FoldNeeds): Folding => {
  const { rows, reports, clock, log, random } = needs
  const by = Buffer.from(random.bytes(6)).toString('hex')
  const closing = new AbortController()
  let working: Promise<void> | null = null
  let alarm: Alarm | null = null

  const rest = () => clock.sleep(restMs, closing.signal)

  const each = async (names: readonly string[], work: (organization: string) => Promise<void>): Promise<void> => {
    for (let at = 0; at < names.length; at += atOnce) {
      await Promise.all(names.slice(at, at + atOnce).map(work))
      await rest()
    }
  }

  /** Null when nothing is left to do, or another process goes on. */
  const foldNext = async (cursor: Cursor): Promise<Cursor | null> => {
    const day = dayAfter(cursor.day)
    if (clock.now() < Date.parse(dayAfter(day)) + grace) return null
    await each(await namesIn(reports, day), (organization) => foldDay(rows, reports, organization, day))
    const month = monthOf(day)
    if (day === endOfMonth(month))
      await each(await namesOfMonth(reports, month), (organization) => foldMonth(rows, reports, organization, month))
    return rows.update(cursors, cursorId, { day, until: clock.now() + leaseMs }, { day: cursor.day, by })
  }

  const work = async (): Promise<void> => {
    let cursor = await leasedCursor(rows, by, clock.now())
    if (cursor !== null) await foldLates(needs, cursor, rest)
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

/** Makes the sums of days anew that were written to afterwards. */
const foldLates = async (
  { rows, reports }: FoldNeeds,
  { day: folded }: Cursor,
  rest: () => Promise<void>,
): Promise<void> => {
  const found = (await rows.list(lates, { limit: latesAtOnce, countTo: 1 })).rows.filter(({ row }) => row.day <= folded)
  const days = new Map(found.map(({ row }) => [`${row.day}/${row.organization}`, row]))
  for (const { organization, day } of days.values()) {
    await foldDay(rows, reports, organization, day)
    if (endOfMonth(monthOf(day)) <= folded) await foldMonth(rows, reports, organization, monthOf(day))
    await rest()
  }
  // Marks that came meanwhile stay.
  for (const { id } of found) await rows.remove<LateDay>(lates, id)
}

/** Makes the sums of an organisation's day from its rows. However often it is made, the last reader's sums stay. */
const foldDay = async (rows: MetadataStore, reports: Reports, organization: string, day: string): Promise<void> => {
  const turn = await nextTurn(rows, `${organization}/${day}`)
  const sums = new Map(groupings.map((by) => [by, rowSums()] as const))
  const own: readonly Grouping[] = ['day', 'organization', 'team', 'user', 'key', 'model']
  for await (const row of rowsOf<UsageRow>(reports, usages, { where: { organization }, day }))
    for (const by of own) sums.get(by)?.group(row, by, countNames)
  for await (const row of rowsOf<SharedRow>(reports, shares, { prefix: `${day}/${organization}/`, day }))
    sums.get(row.by)?.group(row, 'name', countNames)
  const written = [...sums].map(([by, its]) =>
    writeTable(rows, daySums, { by, organization, period: day, turn }, its.part({ limit: Infinity })),
  )
  await Promise.all(written)
}

const foldMonth = async (rows: MetadataStore, reports: Reports, organization: string, month: string): Promise<void> => {
  const turn = await nextTurn(rows, `${organization}/${month}`)
  for (const by of groupings) {
    const all: Sum[] = []
    for await (const it of talliedIn(reports, by, organization, month)) all.push(it)
    await writeTable(rows, monthSums, { by, organization, period: month, turn }, all)
  }
}

const nextTurn = async (rows: MetadataStore, id: string): Promise<number> =>
  (await rows.add(sumTurns, id, { turn: 1 }))?.['turn'] ?? 0

async function* rowsOf<T extends { readonly day: string }>(
  reports: Reports,
  kind: Kind<T>,
  { day, ...query }: { readonly day: string; readonly where?: Partial<T>; readonly prefix?: string },
): AsyncGenerator<T> {
  const field = 'day' as keyof T & string
  let last: Row<T> | undefined
  do {
    const behind = last && { behind: { value: day, id: last.id } }
    const found = await reports.page(kind, {
      ...query,
      between: { field, from: day, to: day },
      by: field,
      limit: pageSize,
      ...behind,
    })
    for (const { row } of found) yield row
    last = found.length < pageSize ? undefined : found.at(-1)
  } while (last !== undefined)
}

/** The organisations of a day. */
const namesIn = async (reports: Reports, day: string): Promise<readonly string[]> => {
  const between = { field: 'day', from: day, to: day } as const
  const found = await reports.group(usages, { between }, 'organization', ['requests'], { limit: 1_000_000 })
  return found.map(({ name }) => name)
}

/** The organisations of a month. */
const namesOfMonth = async (reports: Reports, month: string): Promise<readonly string[]> => {
  const between = { field: 'period', from: `${month}-01`, to: endOfMonth(month) } as const
  const prefix = tablePrefix('organization', null)
  const found = await reports.tally(daySums, { prefix, between }, 'sums', 1, { limit: 1_000_000 })
  return found.map(({ name }) => name)
}

async function* talliedIn(reports: Reports, by: Grouping, organization: string, month: string): AsyncGenerator<Sum> {
  const prefix = tablePrefix(by, organization, `${month}-`)
  let after: string | undefined
  do {
    const part = { limit: pageSize, ...(after !== undefined && { after }) }
    const found = await reports.tally(daySums, { prefix }, 'sums', lengthOfSums, part)
    yield* found
    after = found.length < pageSize ? undefined : found.at(-1)?.name
  } while (after !== undefined)
}
