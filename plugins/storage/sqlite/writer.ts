import AsyncDatabase from 'libsql/promise'
import { Unavailable } from '../../../core/errors.ts'
import type { Stored, Value } from './statement.ts'

/** A prepared statement, whose calls answer without a promise. */
export interface Statement {
  /** Undefined when no row matches. */
  get(values: readonly Value[]): Stored | undefined
  run(values: readonly Value[]): { readonly changes: number }
}

/** A write that waits for its transaction. */
interface Write {
  work(): Promise<unknown>
  resolve(result: unknown): void
  reject(fault: unknown): void
}

export interface Writer {
  /** Only inside `run`: elsewhere the statements would join the transaction of other writes. */
  exec(sql: string): Promise<void>
  /** Only inside `run`. */
  prepare(sql: string): Promise<Statement>
  /** Resolves when the changes of the work are on the disk. */
  run<R>(work: () => Promise<R>): Promise<R>
  /** What kept the last write from the disk; null where nothing did. */
  obstacle(): string | null
  /** Resolves when the writes that already wait are settled; later writes reject with Unavailable. */
  close(): Promise<void>
}

/** The largest number of writes in one transaction. Later writes share the next transaction. */
const maxWrites = 256

type Connection = AsyncDatabase & { readonly inTransaction: boolean }

/** The fault of the database stays in the cause. */
export const asUnavailable = (cause: unknown): Unavailable => new Unavailable(undefined, { cause })

/**
 * Runs the writes in one transaction. Each write gets its own result, or all get the error of the transaction. Gives what
 * kept them from the disk.
 */
const commit = async (db: Connection, writes: readonly Write[]): Promise<string | null> => {
  const outcomes: (() => void)[] = []
  let obstacle: string | null = null
  try {
    await db.exec('begin immediate')
    for (const { work, resolve, reject } of writes) {
      try {
        const result = await work()
        outcomes.push(() => resolve(result))
      } catch (fault) {
        // A failed statement undoes only itself, unless the whole transaction is gone.
        if (!db.inTransaction) throw fault
        obstacle ??= writeObstacle(fault)
        outcomes.push(() => reject(asUnavailable(fault)))
      }
    }
    await db.exec('commit')
  } catch (fault) {
    let cause = fault
    const stuck = (second: unknown) => (cause = new AggregateError([fault, second], 'A transaction cannot be undone'))
    if (db.inTransaction) await db.exec('rollback').catch(stuck)
    for (const { reject } of writes) reject(asUnavailable(cause))
    return obstacle ?? writeObstacle(fault)
  }
  for (const settle of outcomes) settle()
  return obstacle
}

/** Of a disk that fails, and of a file that is damaged, gone or only read. */
const shut = /^SQLITE_(?:IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB)/

/** What keeps rows from the disk; null for a fault that concerns only its write. */
const writeObstacle = (fault: unknown): string | null => {
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : ''
  if (code === 'SQLITE_FULL') return 'The disk of the row store is full'
  return shut.test(code) ? 'The row store takes no writes' : null
}

/**
 * The driver leaves the log at its close, and SQLite would play an old log over a restored backup. Where another process
 * reads, the log stays, without a wait.
 */
const emptyLog = (db: Connection): Promise<void> => db.exec('pragma busy_timeout = 0; pragma wal_checkpoint(truncate)')

/**
 * The only writing connection. Commits wait for the disk on another thread. `patience` in ms is the wait for other
 * processes.
 */
export const openWriter = (file: string, patience: number): Writer => {
  const db = new AsyncDatabase(file, { timeout: patience }) as Connection
  const statements = new Map<string, Statement>()
  const waiting: Write[] = []
  let isDurable = false
  let running: Promise<void> | null = null
  let isClosed = false
  let obstacle: string | null = null

  /** Set once, before the first commit. `fullfsync` is for macOS, where `fsync` leaves bytes in the drive's cache. */
  const makeDurable = async (): Promise<void> => {
    if (isDurable) return
    await db.exec('pragma synchronous = full; pragma fullfsync = on')
    isDurable = true
  }

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const writes = waiting.splice(0, maxWrites)
      try {
        await makeDurable()
      } catch (fault) {
        for (const { reject } of writes) reject(asUnavailable(fault))
        obstacle = writeObstacle(fault)
        continue
      }
      obstacle = await commit(db, writes)
    }
    running = null
  }

  return {
    exec: (sql) => db.exec(sql),
    async prepare(sql) {
      const known = statements.get(sql)
      if (known) return known
      const statement = (await db.prepare(sql)) as Statement
      statements.set(sql, statement)
      return statement
    },
    run: <R>(work: () => Promise<R>) =>
      new Promise<R>((resolve, reject) => {
        if (isClosed) return reject(new Unavailable())
        waiting.push({ work, resolve: resolve as Write['resolve'], reject })
        running ??= drain()
      }),
    obstacle: () => obstacle,
    async close() {
      isClosed = true
      await running
      // The log that stays is as whole as the file, so a fault loses nothing.
      await makeDurable()
        .then(() => emptyLog(db))
        .catch(() => {})
      db.close()
    },
  }
}
