import { contentCutter, type ContentLimits, fairShares } from '../shared/content-cutter.ts'
import type { Cell, Sheet, Sheets } from '../../../core/ports/file-content.ts'
import { lettersOf } from './column-letters.ts'
import { fillRows } from '../shared/tables-fill.ts'

/** The cells of one sheet, before they are fitted into the limits. */
export interface Grid {
  readonly name: string
  /** Rows and cells by their place, with holes for empty ones. The last cell of a row is not empty. */
  readonly rows: readonly (readonly Cell[])[]
  /** The full counts; `rows` may hold fewer. */
  readonly rowCount: number
  readonly columnCount: number
  /** The hidden parts of the sheet; absent when nothing is hidden. */
  readonly hidden?: Pick<Sheet, 'hidden' | 'hiddenRows' | 'hiddenColumns'>
  /** Whether rows that were asked for are not among the rows. */
  readonly cut: boolean
  /** The first column of the rows, from 1; absent where it is the first of the sheet. */
  readonly left?: number
}

/** Further sheets are left out, and the result counts as truncated. */
const mostSheets = 1_000

/** Fits all sheets into the limits. Small sheets are complete before large sheets get more. */
export const fitSheets = (format: string, all: readonly Grid[], most: ContentLimits): Sheets => {
  const grids = all.slice(0, mostSheets)
  const wants = grids.map(({ rows }) => wanted(rows, most))
  const wantedOf = (kind: keyof ContentLimits) => wants.map((want) => want[kind])
  const values = fairShares(most.values, wantedOf('values'))
  const characters = fairShares(most.characters, wantedOf('characters'))
  const sheets = grids.map(({ name, rows, rowCount, columnCount, hidden, cut, left = 1 }, at): Sheet => {
    const kept = fillRows<Cell>(packed(rows), { values: values[at]!, characters: characters[at]! }, contentCutter(most))
    const numbers = numbersOf(rows, kept.rows.length)
    return {
      name,
      rowCount,
      columnCount,
      truncated: !kept.whole || cut,
      ...hidden,
      ...(left > 1 && { firstColumn: lettersOf(left - 1) }),
      ...(numbers.some((number, place) => number !== place + 1) && { rowNumbers: numbers }),
      rows: kept.rows,
    }
  })
  return { format, truncated: grids.length < all.length || sheets.some(({ truncated }) => truncated), sheets }
}

// Wider than any allowance, and narrower than a file may claim.
const widest = 1_000_000

/** The rows with content. One empty row stands for every gap between them. */
function* packed(rows: Grid['rows']): Generator<readonly Cell[]> {
  let next: number | null = null
  // Iterating over keys skips a million missing rows in no time.
  for (const key of Object.keys(rows)) {
    const at = Number(key)
    const row = rows[at]!
    if (next !== null && at > next) yield []
    yield Array.from({ length: Math.min(row.length, widest) }, (_, column) => row[column] ?? null)
    next = at + 1
  }
}

/** The numbers of the first packed rows. */
const numbersOf = (rows: Grid['rows'], most: number): readonly number[] => {
  const numbers: number[] = []
  for (const key of Object.keys(rows)) {
    const number = Number(key) + 1
    const last = numbers.at(-1)
    if (last !== undefined && number > last + 1) numbers.push(last + 1)
    numbers.push(number)
    if (numbers.length >= most) break
  }
  return numbers.slice(0, most)
}

/** What a sheet would take in full. Counting ends when one sheet alone exceeds the limits. */
const wanted = (rows: Grid['rows'], most: ContentLimits): ContentLimits => {
  let values = 0
  let characters = 0
  for (const row of packed(rows)) {
    values += Math.max(1, row.length)
    for (const cell of row) characters += String(cell ?? '').length
    if (values > most.values || characters > most.characters) break
  }
  return { values, characters }
}
