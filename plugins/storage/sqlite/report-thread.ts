import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'libsql'
import { rowSums } from '../../../core/row-sums.ts'
import type { Part, Row, Sum } from '../../../core/ports/metadata-store.ts'
import { pageOf } from './reader.ts'
import type { Clause } from './statement.ts'
import type { Stored } from './writer.ts'

/** A report: its statement gives ids with data, or is the part of a listing behind `from`. */
export type Report = Clause &
  (
    | {
        readonly work: 'list'
        readonly sorting: string
        readonly limit: number
        readonly offset: number
        readonly countTo: number
      }
    | { readonly work: 'page' }
    | { readonly work: 'group'; readonly by: string; readonly fields: readonly string[]; readonly part: Part }
    | { readonly work: 'tally'; readonly field: string; readonly length: number; readonly part: Part }
  )

export type Reported =
  | { readonly kind: 'rows'; readonly rows: readonly Row<unknown>[]; readonly total: number }
  | { readonly kind: 'sums'; readonly sums: readonly Sum[] }
  | { readonly kind: 'overdue' }
  | { readonly kind: 'failed'; readonly code: string }

const { file, patience } = workerData as { readonly file: string; readonly patience: number }

// Linux has a priority for each thread: calls go first where the cores are few.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)

/** Rows between two looks at the clock. */
const rowsPerLook = 256

/** `ms` is the time that is left. */
const report = (asked: Report, ms: number): Reported => {
  const until = performance.now() + ms
  // A connection for each report: one in the midst of a listing sees no new commits.
  const db = new Database(file, { timeout: patience })
  try {
    if (asked.work === 'list') {
      const { sorting, limit, offset, countTo } = asked
      db.exec('begin')
      return { kind: 'rows', ...pageOf((sql) => db.prepare(sql), asked, sorting, limit, offset, countTo) }
    }
    const sums = rowSums()
    const rows: Row<unknown>[] = []
    let seen = 0
    for (const { id, data } of db.prepare(asked.sql).iterate([...asked.values]) as Iterable<Stored>) {
      if (++seen % rowsPerLook === 0 && performance.now() > until) return { kind: 'overdue' }
      const row = JSON.parse(data) as object
      if (asked.work === 'page') rows.push({ id, row })
      else if (asked.work === 'group') sums.group(row, asked.by, asked.fields)
      else sums.tally(row, asked.field, asked.length)
    }
    return asked.work === 'page'
      ? { kind: 'rows', rows, total: rows.length }
      : { kind: 'sums', sums: sums.part(asked.part) }
  } catch (fault) {
    return { kind: 'failed', code: String((fault as { readonly code?: unknown }).code ?? 'unknown') }
  } finally {
    db.close()
  }
}

parentPort?.on('message', ({ asked, ms }: { readonly asked: Report; readonly ms: number }) =>
  parentPort?.postMessage(report(asked, ms)),
)
