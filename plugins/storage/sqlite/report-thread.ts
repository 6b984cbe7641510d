import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'libsql'
import { groupedSums, rowSums } from '../../shared/row-sums.ts'
import type { Part, Row, Sum, SumGroup } from '../../../core/ports/metadata-store.ts'
import { type Page, pageOf } from './reader.ts'
import { type Search, fitting } from './search.ts'
import { type Clause, type Stored, columns, idOf, rowOf } from './statement.ts'

/** A report: its statement gives ids with data, or is the part of a listing behind `from`. */
export type Report = Clause &
  (
    | {
        readonly work: 'list'
        readonly sorting: string
        readonly limit: number
        readonly offset: number
        readonly countTo: number
        readonly search: Search | null
      }
    | { readonly work: 'group'; readonly by: string; readonly fields: readonly string[]; readonly part: Part }
    | {
        readonly work: 'groups'
        readonly within: string
        readonly by: readonly string[]
        readonly fields: readonly string[]
        readonly part: Part
      }
    | { readonly work: 'tally'; readonly field: string; readonly length: number; readonly part: Part }
  )

/** What the thread answers. A fault travels as its code, since an error loses its class between threads. */
export type Reported =
  | { readonly kind: 'rows'; readonly rows: readonly Row<unknown>[]; readonly total: number }
  | { readonly kind: 'sums'; readonly sums: readonly Sum[] }
  | { readonly kind: 'groups'; readonly groups: readonly SumGroup[] }
  | { readonly kind: 'overdue' }
  | { readonly kind: 'failed'; readonly code: string }

const { file, patience } = workerData as { readonly file: string; readonly patience: number }

// Linux has a priority for each thread: calls go first where the cores are few.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

/** Rows between two looks at the clock. */
const rowsPerLook = 256

let db: Database.Database | null = null

const opened = (): Database.Database => {
  const connection = new Database(file, { timeout: patience })
  connection.pragma('cache_size = -65536')
  return connection
}

/** A listing that ends early leaves its connection in the midst of it, where it sees no new commits. */
const forget = (): void => {
  db?.close()
  db = null
}

interface Adding {
  add(row: object): void
  result(): Reported
}

/** What a report does with each row. */
const adding = (question: Exclude<Report, { readonly work: 'list' }>): Adding => {
  if (question.work === 'groups') {
    const { within, by, fields, part } = question
    const groups = groupedSums(within, by, fields)
    return { add: (row) => groups.add(row), result: () => ({ kind: 'groups', groups: groups.part(part) }) }
  }
  const sums = rowSums()
  const add = (row: object): void =>
    question.work === 'group'
      ? sums.group(row, question.by, question.fields)
      : sums.tally(row, question.field, question.length)
  return { add, result: () => ({ kind: 'sums', sums: sums.part(question.part) }) }
}

/** The page of a search, which looks at each row; null where the time is over. */
const searched = (
  connection: Database.Database,
  { sql, values, sorting, limit, offset }: Extract<Report, { readonly work: 'list' }>,
  search: Search,
  until: number,
): Page<unknown> | null => {
  const fits = fitting(search)
  const rows: Row<unknown>[] = []
  const end = limit < 0 ? Infinity : offset + limit
  let [seen, total] = [0, 0]
  const all = connection.prepare(`select ${columns} ${sql} ${sorting}`).iterate([...values]) as Iterable<Stored>
  for (const stored of all) {
    if (++seen % rowsPerLook === 0 && performance.now() > until) return null
    const row = rowOf<object>(stored)
    if (fits(row) && ++total > offset && total <= end) rows.push({ id: idOf(stored), row })
  }
  return { rows, total }
}

/** `ms` is the time that is left. */
const report = (question: Report, ms: number): Reported => {
  const until = performance.now() + ms
  try {
    const connection = (db ??= opened())
    if (question.work === 'list') {
      const { sorting, limit, offset, countTo } = question
      if (question.search !== null) {
        const page = searched(connection, question, question.search, until)
        if (page === null) forget()
        return page === null ? { kind: 'overdue' } : { kind: 'rows', ...page }
      }
      connection.exec('begin')
      const page = pageOf((sql) => connection.prepare(sql), question, sorting, limit, offset, countTo)
      connection.exec('commit')
      return { kind: 'rows', ...page }
    }
    const { add, result } = adding(question)
    let seen = 0
    for (const stored of connection.prepare(question.sql).iterate([...question.values]) as Iterable<Stored>) {
      if (++seen % rowsPerLook === 0 && performance.now() > until) {
        forget()
        return { kind: 'overdue' }
      }
      add(rowOf<object>(stored))
    }
    return result()
  } catch (fault) {
    forget()
    return { kind: 'failed', code: String((fault as { readonly code?: unknown }).code ?? 'unknown') }
  }
}

parentPort?.on('message', ({ question, ms }: { readonly question: Report; readonly ms: number }) =>
  parentPort?.postMessage(report(question, ms)),
)
