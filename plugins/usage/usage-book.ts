import type { Counts, Place } from '../../core/ports/ledger.ts'
import type { SharedRow } from './usage-rows.ts'

/** Amounts to add, by the name of the count. */
export type Deltas = Readonly<Record<string, number>>

/** The row of a sheet, without its counts. */
export type SheetRow =
  | Omit<Place, 'backend' | 'tags'>
  | (Pick<SharedRow, 'organization' | 'day' | 'by' | 'name'> & { readonly key?: undefined })

/** Counts on their way to one row of the store. */
export interface DaySheet {
  readonly row: SheetRow
  /** What waits to be sent. */
  readonly deltas: Record<string, number>
  /** What was sent and may be there, which is tried unchanged until that is known. */
  readonly sent: { readonly id: string; readonly turn: number; readonly deltas: Deltas } | null
}

/** A call whose counts are not known yet. */
interface OpenCall {
  readonly place: Place
  /** What counts for the call when its process is killed. */
  readonly guess: Counts
}

/** What a process has counted and not yet written. */
export interface UsageBook {
  /** The name under which the process counts its writes in rows. */
  readonly by: string
  /** How often its journal was begun anew. */
  edition: number
  readonly calls: Map<number, OpenCall>
  readonly sheets: Map<string, DaySheet>
}

/** What happens to a book. The same lines in the same order give the same book. */
export type BookLine =
  | readonly ['by', name: string, edition?: number]
  | readonly ['open', call: number, place: Place, guess: Counts]
  | readonly ['count', call: number | null, place: Place, counts: Counts]
  | readonly ['cancel', call: number]
  | readonly ['send', sheet: string, id: string, turn: number]
  | readonly ['sent', sheet: string]
  /** The row is gone, so what was sent waits again. */
  | readonly ['back', sheet: string]
  | readonly ['sheet', name: string, sheet: DaySheet]

/** Rows that wait while the store is down; beyond that counts are lost, and the log says so. */
export const mostWaitingRows = 10_000

/** An empty book of the process with this name. */
export const usageBook = (by: string, edition = 0): UsageBook => ({ by, edition, calls: new Map(), sheets: new Map() })

/** Enters a line. False when some of its counts found no room. */
export const enter = ({ calls, sheets }: UsageBook, line: BookLine): boolean => {
  switch (line[0]) {
    case 'by':
      return true
    case 'open':
      calls.set(line[1], { place: line[2], guess: line[3] })
      return true
    case 'cancel':
      calls.delete(line[1])
      return true
    case 'count':
      if (line[1] !== null) calls.delete(line[1])
      return counted(sheets, sheetsFor(line[2]), line[3])
    case 'sheet':
      sheets.set(line[1], line[2])
      return true
    default:
      return turned(sheets, line)
  }
}

/** Moves the counts of a sheet between its two places. */
const turned = (
  sheets: Map<string, DaySheet>,
  line: Extract<BookLine, readonly ['send' | 'sent' | 'back', ...unknown[]]>,
): boolean => {
  const sheet = sheets.get(line[1])
  if (sheet === undefined) return true
  const { row, deltas, sent } = sheet
  if (line[0] === 'send') sheets.set(line[1], { row, deltas: {}, sent: { id: line[2], turn: line[3], deltas } })
  else if (line[0] === 'back') {
    add(deltas, sent?.deltas ?? {})
    sheets.set(line[1], { row, deltas, sent: null })
  } else if (Object.keys(deltas).length === 0) sheets.delete(line[1])
  else sheets.set(line[1], { row, deltas, sent: null })
  return true
}

/** Lines that give the same book. */
export const linesOf = ({ by, edition, calls, sheets }: UsageBook): readonly BookLine[] => [
  ['by', by, edition],
  ...[...calls].map(([call, { place, guess }]): BookLine => ['open', call, place, guess]),
  ...[...sheets].map(([name, sheet]): BookLine => ['sheet', name, sheet]),
]

/** The book of these lines; null when none of them can be read. A line without an end counts for nothing. */
export const bookOf = (lines: readonly string[]): UsageBook | null => {
  const [first, ...rest] = lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as BookLine]
    } catch {
      return []
    }
  })
  if (first?.[0] !== 'by') return null
  const book = usageBook(first[1], first[2])
  for (const line of rest) enter(book, line)
  return book
}

const count = (sheets: Map<string, DaySheet>, name: string, row: SheetRow, counts: Counts): boolean => {
  let sheet = sheets.get(name)
  if (sheet === undefined) {
    if (sheets.size >= mostWaitingRows) return false
    sheets.set(name, (sheet = { row, deltas: {}, sent: null }))
  }
  add(sheet.deltas, counts as Deltas)
  return true
}

const counted = (
  sheets: Map<string, DaySheet>,
  sheetsToFill: readonly (readonly [string, SheetRow])[],
  counts: Counts,
): boolean => {
  let all = true
  for (const [name, row] of sheetsToFill) all = count(sheets, name, row, counts) && all
  return all
}

/** The rows of a place are worked out once. */
const known = new WeakMap<Place, readonly (readonly [string, SheetRow])[]>()
const sheetsFor = (place: Place) => {
  let named = known.get(place)
  if (named === undefined) known.set(place, (named = sheetsOf(place)))
  return named
}

const add = (sums: Record<string, number>, deltas: Deltas): void => {
  for (const name in deltas) if (deltas[name]) sums[name] = (sums[name] ?? 0) + deltas[name]
}

/** The model with the team that pays. A key that moves to another team counts in another row. */
export const billedTo = ({ model, team }: Pick<Place, 'model' | 'team'>): string =>
  team === undefined ? model : `${model}\n${team}`

/** Every row that counts a call, by the name of its sheet. */
const sheetsOf = ({ backend, tags = [], ...row }: Place): readonly (readonly [string, SheetRow])[] => {
  const { organization, day, key } = row
  const shared = (by: SharedRow['by'], name: string) =>
    [`${by}:${organization}/${day}/${name}`, { organization, day, by, name }] as const
  return [
    [`key:${key}/${day}/${billedTo(row)}`, row],
    ...(backend === undefined ? [] : [shared('backend', backend)]),
    ...tags.map((tag) => shared('tag', tag)),
  ]
}
