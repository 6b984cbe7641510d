import { type Survey, survey } from './data-columns.ts'
import { contentCutter, type ContentLimits } from '../shared/content-cutter.ts'
import type { Table } from '../../../core/ports/file-content.ts'
import { cellOf, delimited, readCsv } from '../shared/tables-csv.ts'
import { fillRows } from '../shared/tables-fill.ts'

/** Further columns are left out, and the result counts as truncated. */
const mostColumns = 1_000

/** A text with delimiters as a table. The first line names the columns when its fields look like names. */
export const readTable = (whole: string, most: ContentLimits): Promise<Table> => {
  const { text, delimiter } = delimited(whole)
  return readCsv(text, delimiter, (): { record(fields: readonly string[]): void; done(): Table } => {
    const surveys: Survey[] = []
    const rows: (readonly (string | number | null)[])[] = []
    let names: readonly string[] | null = null
    let cells = 0
    let rowCount = 0
    let wide = false
    return {
      record: (fields) => {
        if (fields.every((field) => field === '')) return
        if (names === null) {
          names = areNames(fields) ? fields : []
          if (names.length > 0) return
        }
        rowCount += 1
        wide ||= fields.length > mostColumns
        for (const [at, field] of fields.slice(0, mostColumns).entries()) (surveys[at] ??= survey()).see(meant(field))
        if (cells > most.values) return
        rows.push(fields.slice(0, mostColumns).map(cellOf))
        cells += fields.length
      },
      done: () => {
        const width = Math.min(mostColumns, Math.max(surveys.length, names?.length ?? 0))
        const columns = Array.from({ length: width }, (_, at) =>
          (surveys[at] ?? survey()).column(names?.[at] || `column ${at + 1}`, rowCount),
        )
        const filled = fillRows<string | number | null>(rows, most, contentCutter(most))
        return {
          format: delimiter === '\t' ? 'tsv' : 'csv',
          kind: 'table',
          rowCount,
          describedRows: rowCount,
          columns,
          truncated: wide || !filled.whole || rows.length < rowCount,
          rows: filled.rows,
        }
      },
    }
  })
}

/** Names are mostly filled, mostly different, short, and never numbers. */
const areNames = (fields: readonly string[]): boolean => {
  const filled = fields.filter((field) => field !== '')
  return (
    filled.length * 2 > fields.length &&
    new Set(filled).size * 2 > filled.length &&
    filled.every((field) => field.length <= 200 && typeof meant(field) === 'string')
  )
}

/** The value of a field, for the description of its column. The cell keeps its text. */
const meant = (field: string): string | number | bigint | boolean | null => {
  if (field === '') return null
  if (/^(true|false)$/i.test(field)) return true
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(field)) return field
  return /^-?\d{16,40}$/.test(field) ? BigInt(field) : Number(field)
}
