import { readText } from '../shared/data-text.ts'
import type { Encoding } from '../../../core/ports/file-content.ts'
import type { CellRange, FileToRead } from '../../../core/ports/reader.ts'
import type { Grid } from './sheets-fit.ts'
import { cellOf, delimited, readCsv } from '../shared/tables-csv.ts'

/** The single sheet of a text with delimiters. Rows beyond the limit are counted and not kept. */
export const readDelimited = async (
  file: FileToRead,
  most: number,
  range?: CellRange,
): Promise<{ readonly format: string; readonly grid: Grid; readonly encoding: Encoding }> => {
  const { text: whole, encoding } = readText(file)
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
      done: () => ({ name: file.name, rows, rowCount, columnCount, cut }),
    }
  })
  return { format: delimiter === '\t' ? 'tsv' : 'csv', grid, encoding }
}
