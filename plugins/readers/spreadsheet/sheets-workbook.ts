import type { CellObject, ParsingOptions, Range, WorkBook, WorkSheet } from '@e965/xlsx'
import { Unreadable } from '../../../core/errors.ts'
import { optionalPackage } from '../../shared/optional-package.ts'
import { isCompound } from '../../shared/unreadable-reason.ts'
import { decodedReferences } from '../shared/xml-elements.ts'
import type { Grid } from './sheets-fit.ts'
import { isUnworked, safePart, safeStream } from './sheets-guard.ts'
import { lettersOf } from './column-letters.ts'
import { momentOf, type Parts, saidMoment, showsDuration } from './sheet-dates.ts'
import type { Cell } from '../../../core/ports/file-content.ts'
import { isZip, unzip } from '../../shared/zip.ts'

/** The sheets of a file in the library's terms: the format, and the cells of each sheet. */
export interface Workbook {
  readonly format: string
  readonly grids: readonly Grid[]
}

/** The sheets of a workbook; null when the bytes are no workbook. */
export const readWorkbook = async (bytes: Uint8Array): Promise<Workbook | null> => {
  const read = isZip(bytes) ? readZipped : isCompound(bytes) ? readCompound : null
  if (!read) return null
  const { SSF } = await load()
  const book = await read(bytes)
  const { date1904 = false } = book.Workbook?.WBProps ?? {}
  const cell = cellReader(SSF as Formats, date1904)
  const grids = book.SheetNames.map((name, at): Grid => {
    const sheet = book.Sheets[name]
    // The library silently leaves out a sheet that it cannot read.
    if (!sheet) throw new Unreadable()
    // For an ods, the library leaves the sheet's name encoded.
    const decoded = book.bookType === 'ods' ? decodedReferences(name) : name
    const grid = gridOf(decoded, sheet['!data'] ?? [], sheet['!merges'] ?? [], cell)
    return { ...grid, ...hiddenIn(sheet, book.Workbook?.Sheets?.[at]?.Hidden) }
  })
  if (grids.length === 0) throw new Unreadable()
  return { format: book.bookType ?? 'xls', grids }
}

/** Rejects with Unconfigured when the package is not installed. */
const load = () => optionalPackage('@e965/xlsx', () => import('@e965/xlsx'))

/** What the library has without telling its types. */
interface Parsers {
  parse_zip(archive: unknown, how: ParsingOptions): WorkBook
  parse_xlscfb(stream: Buffer, how: ParsingOptions): WorkBook
  set_cptable(tables: unknown): void
}

// Dates stay numbers with their formats, so that the machine's time zone has no effect.
const options = { dense: true, cellNF: true, cellText: false, cellHTML: false, cellFormula: false } as const

/** The library gets the unpacked, bounded parts and never the archive. */
const readZipped = async (bytes: Uint8Array): Promise<WorkBook> => {
  const files = await unzip(bytes, (name) => /\.(xml|rels|bin)$/i.test(name) && !/\/media\//i.test(name))
  const { parse_zip } = (await load()) as unknown as Parsers
  const archive = {
    FullPaths: [...files.keys()],
    FileIndex: Array.from(files, ([name, file]) => ({ name, type: 2, content: safePart(name, file) })),
  }
  // For an ods, numbers of days would be wrong before 1900.
  return parse_zip(archive, { ...options, cellDates: files.has('content.xml'), cellStyles: hides(files) })
}

/** The library gets the stream of the cells alone: it would believe every number in the properties beside it. */
const readCompound = async (bytes: Uint8Array): Promise<WorkBook> => {
  const cells = safeStream(bytes)
  const { parse_xlscfb, set_cptable } = (await load()) as unknown as Parsers
  // Texts of old files use the code page of their country.
  set_cptable(await optionalPackage('@e965/xlsx', () => import('@e965/xlsx/dist/cpexcel.full')))
  try {
    // Some files write a cell twice: an empty one takes the place of the one before.
    const how = { ...options, cellStyles: true, sheetStubs: true, cellFormula: isUnworked(cells) }
    return parse_xlscfb(cells, { ...how, type: 'buffer' })
  } catch (cause) {
    throw /password|encrypt/i.test((cause as Error).message) ? new Unreadable({ flaw: 'password', cause }) : cause
  }
}

/**
 * True when a sheet of an xlsx hides rows or columns. The library reports them only together with all styles, which
 * cost memory.
 */
const hides = (files: ReadonlyMap<string, Uint8Array>): boolean =>
  Array.from(files).some(
    ([name, file]) =>
      /worksheets\/[^/]+\.xml$/i.test(name) && /\shidden="(1|true)"/.test(Buffer.from(file).toString('latin1')),
  )

/** The largest number of hidden rows and columns in a result. */
const mostHidden = 10_000

/** `visibility` is 1 for a hidden sheet and 2 for a sheet that only a program can show. */
const hiddenIn = (sheet: WorkSheet, visibility: number | undefined): Pick<Grid, 'hidden'> => {
  const rows = hiddenPlaces(sheet['!rows']).map((row) => row + 1)
  const columns = hiddenPlaces(sheet['!cols']).map(lettersOf)
  if (!visibility && rows.length === 0 && columns.length === 0) return {}
  return {
    hidden: {
      ...(visibility && { hidden: true as const }),
      ...(rows.length > 0 && { hiddenRows: rows }),
      ...(columns.length > 0 && { hiddenColumns: columns }),
    },
  }
}

/** Places from 0, in ascending order. */
const hiddenPlaces = (all: readonly ({ readonly hidden?: boolean } | undefined)[] = []): readonly number[] =>
  Object.keys(all)
    .map(Number)
    .filter((at) => all[at]?.hidden === true)
    .slice(0, mostHidden)

/** A merged range keeps its value in its first cell; the other cells count as empty. */
const gridOf = (
  name: string,
  data: readonly (readonly CellObject[])[],
  merges: readonly Range[],
  cell: (cell: CellObject) => Cell,
): Grid => {
  const across = mergesAcross(merges)
  const rows: Cell[][] = []
  let columnCount = 0
  // Iterating over keys skips millions of empty places between two cells.
  for (const at of Object.keys(data).map(Number)) {
    const here = across(at)
    const row: Cell[] = []
    for (const column of Object.keys(data[at]!).map(Number)) {
      const value = cell(data[at]![column]!)
      const covered = here.some(({ s, e }) => column >= s.c && column <= e.c && (at !== s.r || column !== s.c))
      if (value !== null && !covered) row[column] = value
    }
    if (row.length > 0) rows[at] = row
    columnCount = Math.max(columnCount, row.length)
  }
  return { name, rows, rowCount: rows.length, columnCount, cut: false }
}

/** The merged ranges that cross a row. Rows must be asked for in ascending order. */
const mergesAcross = (merges: readonly Range[]): ((row: number) => readonly Range[]) => {
  const later = [...merges].sort((one, other) => other.s.r - one.s.r)
  let here: Range[] = []
  return (row) => {
    while (later.length > 0 && later.at(-1)!.s.r <= row) here.push(later.pop()!)
    here = here.filter(({ e }) => e.r >= row)
    // A sheet has no more columns, and merged ranges do not overlap.
    if (here.length > 16_384) throw new Unreadable()
    return here
  }
}

/** What the library knows of formats of numbers. */
interface Formats {
  is_date(format: string): boolean
  /** Null when the number is no day of the calendar. */
  parse_date_code(days: number, options: { readonly date1904: boolean }): Parts | null
}

/** Null for an empty cell. An error is its text, and a date is ISO 8601. */
const cellReader = (formats: Formats, date1904: boolean) => {
  const known = new Map<string, boolean>()
  const isDate = (format: string): boolean => {
    const before = known.get(format)
    if (before === undefined) known.set(format, formats.is_date(format))
    return before ?? known.get(format)!
  }
  return ({ t, v, w, z, f }: CellObject): Cell => {
    if (v === '' && f !== undefined) return `=${f}`
    if (t === 'e') return w ?? errors.get(Number(v)) ?? '#ERROR!'
    const value = v instanceof Date ? saidMoment(v, String(z)) : v
    if (typeof value !== 'number') return value === undefined || value === '' ? null : value
    if (typeof z !== 'string' || !isDate(z)) return shown(value)
    const parts = formats.parse_date_code(showsDuration(z) ? Math.abs(value) : value, { date1904 })
    return parts ? momentOf(value, z, parts) : shown(value)
  }
}

/** Rounds as spreadsheets do: the sum of 0.1 and 0.2 is 0.3. */
const shown = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(15)))

/** Errors by the codes of binary workbooks. */
const errors: ReadonlyMap<number, string> = new Map([
  [0x00, '#NULL!'],
  [0x07, '#DIV/0!'],
  [0x0f, '#VALUE!'],
  [0x17, '#REF!'],
  [0x1d, '#NAME?'],
  [0x24, '#NUM!'],
  [0x2a, '#N/A'],
])
