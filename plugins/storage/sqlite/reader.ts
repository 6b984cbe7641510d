import Database from 'libsql'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { Unavailable } from '../../../core/errors.ts'
import type { Row } from '../../../core/ports/metadata-store.ts'
import { type Clause, type Stored, type Value, columns, idOf, rowOf } from './statement.ts'
import { asUnavailable } from './writer.ts'

/** A part of a listing. `total` counts all matching rows, and may stop at `countTo`. */
export interface Page<T> {
  readonly rows: readonly Row<T>[]
  readonly total: number
}

/** All reads throw Unavailable when the file cannot be read or the reader is closed. */
export interface Reader {
  /** Null when no row matches. */
  one<T>(sql: string, values: readonly Value[]): T | null
  /** `limit` and `countTo` -1 mean no limit. */
  page<T>(from: Clause, sorting: string, limit: number, offset: number, countTo: number): Page<T>
  /** The matching rows from place `from` to before `to`, and the number of all matches. */
  search<T>(select: Clause, fits: (row: T) => boolean, from: number, to: number): Promise<Page<T>>
  close(): void
}

/** The rows that are examined before other work, and other searches, get a turn. */
const rowsPerTurn = 100

/** The reader keeps its statements for later calls; a report thread prepares each listing anew. */
export type Prepare = (sql: string) => Database.Statement

/** Counts the rows only where the page does not tell their number. `limit` and `countTo` -1 mean no limit. */
export const pageOf = <T>(
  prepare: Prepare,
  { sql, values }: Clause,
  sorting: string,
  limit: number,
  offset: number,
  countTo: number,
): Page<T> => {
  const found = prepare(`select ${columns} ${sql} ${sorting} limit ? offset ?`).all([...values, limit, offset])
  const rows = (found as Stored[]).map((stored): Row<T> => ({ id: idOf(stored), row: rowOf<T>(stored) }))
  // A page that is not full is the last page, so its end is the total.
  const isLast = rows.length < limit || limit < 0
  if (isLast && (rows.length > 0 || offset === 0)) return { rows, total: offset + rows.length }
  const counted =
    countTo < 0
      ? prepare(`select count(*) as total ${sql}`).get([...values])
      : prepare(`select count(*) as total from (select 1 ${sql} limit ?)`).get([...values, countTo])
  return { rows, total: (counted as { total: number }).total }
}

const searched = async <T>(
  all: Iterable<Stored>,
  fits: (row: T) => boolean,
  from: number,
  to: number,
): Promise<Page<T>> => {
  const rows: Row<T>[] = []
  let [seen, total] = [0, 0]
  for (const stored of all) {
    const row = rowOf<T>(stored)
    if (fits(row) && ++total > from && total <= to) rows.push({ id: idOf(stored), row })
    if (++seen % rowsPerTurn === 0) await freeTurn()
  }
  return { rows, total }
}

/**
 * The reading connection, on the main thread: one row takes microseconds. `patience` in ms is the wait for other
 * processes.
 */
export const openReader = (db: Database.Database, file: string, patience: number): Reader => {
  const statements = new Map<string, Database.Statement>()
  let isClosed = false

  const prepare: Prepare = (sql) => {
    const known = statements.get(sql)
    if (known) return known
    const statement = db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  const read = <R>(work: () => R): R => {
    if (isClosed) throw new Unavailable()
    try {
      return work()
    } catch (fault) {
      throw asUnavailable(fault)
    }
  }

  return {
    one: <T>(sql: string, values: readonly Value[]) =>
      read(() => {
        const found = prepare(sql).get([...values]) as Stored | undefined
        return found ? rowOf<T>(found) : null
      }),
    // One transaction, so that page and total belong to the same moment.
    page: (from, sorting, limit, offset, countTo) =>
      read(() => {
        db.exec('begin')
        try {
          return pageOf(prepare, from, sorting, limit, offset, countTo)
        } finally {
          db.exec('commit')
        }
      }),
    // A separate connection: a connection inside a listing does not see new commits.
    async search<T>({ sql, values }: Clause, fits: (row: T) => boolean, from: number, to: number) {
      await freeTurn()
      const own = read(() => new Database(file, { timeout: patience }))
      try {
        return await searched(own.prepare(sql).iterate([...values]) as Iterable<Stored>, fits, from, to)
      } catch (fault) {
        throw asUnavailable(fault)
      } finally {
        own.close()
      }
    },
    close() {
      isClosed = true
      db.close()
    },
  }
}
