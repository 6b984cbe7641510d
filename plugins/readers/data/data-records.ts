import { type Survey, survey } from './data-columns.ts'
import { contentCutter, isContainer, type ContentLimits } from '../shared/content-cutter.ts'
import { outlineOf } from './data-outline.ts'
import type { Records, Table } from '../../../core/ports/file-content.ts'
import type { DataFormat } from './data-format.ts'
import { fillRows } from '../shared/tables-fill.ts'

/** Further columns are not described, and the result is no table. */
const mostColumns = 1_000

/** True when the value is a list of records. */
export const isRecords = (value: unknown): value is readonly object[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord)

/** All records are described and counted; the first records are kept. */
export const describeRecords = (
  format: DataFormat,
  records: Iterable<unknown>,
  most: ContentLimits,
  brokenLines: () => number = () => 0,
): Table | Records => {
  const cut = contentCutter(most)
  const surveys = new Map<string, Survey>()
  const kept: unknown[] = []
  let count = 0
  let cells = 0
  let characters = 0
  let plain = true
  for (const record of records) {
    count += 1
    const early = cells <= most.values && characters <= most.characters
    if (early) kept.push(record)
    if (!isRecord(record)) {
      plain = false
      characters += cut.cost(record)
      continue
    }
    for (const [key, value] of Object.entries(record)) {
      cells += 1
      if (early) characters += isContainer(value) ? cut.cost(value) : String(value).length
      if (!surveys.has(key) && surveys.size >= mostColumns) plain = false
      else if (!surveys.has(key)) surveys.set(key, survey())
      surveys.get(key)?.see(value)
    }
  }
  const columns = Array.from(surveys, ([name, survey]) => survey.column(name, count))
  const nested = [...surveys.values()].some((survey) => survey.nested())
  const broken = brokenLines()
  // A table cannot show that lines were left out.
  if (plain && !nested && broken === 0 && cells * 2 >= count * columns.length) {
    const rows = fillRows(rowsOf(kept, [...surveys.keys()]), most, cut)
    const truncated = !rows.whole || kept.length < count
    return { format, kind: 'table', rowCount: count, describedRows: count, columns, truncated, rows: rows.rows }
  }
  const filled = fillRows(
    kept.map((record) => [record]),
    most,
    cut,
  )
  return {
    format,
    kind: 'records',
    recordCount: count,
    brokenLines: broken,
    outline: outlineOf(kept.slice(0, 100)),
    columns,
    truncated: !filled.whole || kept.length < count || cut.cut() || surveys.size >= mostColumns,
    records: filled.rows.flat(),
  }
}

const isRecord = (value: unknown): value is object => isContainer(value) && !Array.isArray(value)

function* rowsOf(records: readonly unknown[], names: readonly string[]): Generator<readonly unknown[]> {
  for (const record of records as readonly Record<string, unknown>[])
    yield names.map((name) => (Object.hasOwn(record, name) ? record[name] : null))
}
