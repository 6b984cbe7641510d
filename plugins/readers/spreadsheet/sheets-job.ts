import { besideOdf } from '../shared/beside-odf.ts'
import { besideOoxml } from '../shared/beside-ooxml.ts'
import type { ContentLimits } from '../shared/content-cutter.ts'
import { fitSheets, type Grid } from './sheets-fit.ts'
import { readText } from '../shared/data-text.ts'
import { cellOf, delimited, readCsv } from '../shared/tables-csv.ts'
import { readMarkup } from './sheets-markup.ts'
import { readWorkbook } from './sheets-workbook.ts'
import type { Sheets, Cell } from '../../../core/ports/file-content.ts'
import type { FileToRead, SheetPart, CellRange } from '../../../core/ports/reader.ts'

/** What the process of the parser gets. */
export interface SheetsJob extends FileToRead {
  readonly most: ContentLimits
  readonly part: SheetPart
}

/** A file that is no workbook is read as text with delimiters. */
export default async ({ most, part, ...file }: SheetsJob): Promise<Sheets> => {
  const { sheet, range } = part
  const inPart = (grids: readonly Grid[]) => chosenSheets(grids, sheet).map((grid) => rangeOf(grid, range))
  const book = await readWorkbook(file.bytes)
  if (book) {
    const beside = book.format === 'ods' ? besideOdf : /^xls[xm]$/.test(book.format) ? besideOoxml : null
    return { ...fitSheets(book.format, inPart(book.grids), most), ...(await beside?.(file.bytes)) }
  }
  const { text, encoding } = readText(file)
  const marked = await readMarkup(file.bytes, text)
  if (marked) return { ...fitSheets(marked.format, inPart(marked.grids), most), encoding }
  const { format, grid } = await readDelimited(file.name, text, most.values, range)
  return { ...fitSheets(format, inPart([grid]), most), encoding }
}

/** The sheets of that name, in any case; else the one with that number from 1. */
const chosenSheets = (grids: readonly Grid[], sheet: string | undefined): readonly Grid[] => {
  if (sheet === undefined) return grids
  const name = sheet.trim().toLowerCase()
  const named = grids.filter((grid) => grid.name.trim().toLowerCase() === name)
  const exact = named.filter((grid) => grid.name === sheet)
  if (named.length > 0) return exact.length > 0 ? exact : named
  return /^\d{1,4}$/.test(name) ? grids.slice(Number(name) - 1, Number(name)) : []
}

/** A sheet with the cells of a range alone, which keep the numbers of their rows. */
const rangeOf = (grid: Grid, range: CellRange | undefined): Grid => {
  if (range === undefined) return grid
  const { top, bottom, left, right } = range
  const rows: Cell[][] = []
  // By their keys, since there may be millions of places between two rows.
  for (const key of Object.keys(grid.rows)) {
    const number = Number(key) + 1
    if (number < top || number > bottom) continue
    const cells = grid.rows[number - 1]?.slice(left - 1, right) ?? []
    const last = Object.keys(cells).at(-1)
    if (last !== undefined) rows[number - 1] = cells.slice(0, Number(last) + 1)
  }
  return { ...grid, rows, left }
}

/** The single sheet of a text with delimiters. Rows beyond the limit are counted and not kept. */
const readDelimited = async (
  name: string,
  whole: string,
  most: number,
  range?: CellRange,
): Promise<{ readonly format: string; readonly grid: Grid }> => {
  const { text, delimiter } = delimited(whole)
  const grid = await readCsv(text, delimiter, () => {
    const rows: (string | number | null)[][] = []
    let place = 0
    let rowCount = 0
    let columnCount = 0
    let cells = 0
    let cut = false
    return {
      record: (fields) => {
        place += 1
        const length = fields.findLastIndex((field) => field !== '') + 1
        if (length === 0) return
        columnCount = Math.max(columnCount, length)
        rowCount = place
        if (place < (range?.top ?? 1) || place > (range?.bottom ?? place)) return
        cut ||= cells > most
        if (cut) return
        rows[rowCount - 1] = fields.slice(0, length).map(cellOf)
        cells += length
      },
      done: () => ({ name, rows, rowCount, columnCount, cut }),
    }
  })
  return { format: delimiter === '\t' ? 'tsv' : 'csv', grid }
}
