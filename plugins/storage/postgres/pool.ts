import pg from 'pg'
import { Unavailable } from '../../../core/errors.ts'
import type { Value } from './statement.ts'

/** What a statement gives. */
export interface Rows<R> {
  readonly rows: R[]
  /** Null for a command that touches no rows. */
  readonly rowCount: number | null
}

/** One connection, within a transaction. */
export interface Client {
  query<R extends object>(sql: string, values?: Value[]): Promise<Rows<R>>
}

/** Where the database is, and how long a connection to it may take. */
export interface Reach {
  readonly connectionString: string
  /** In ms. */
  readonly connectionTimeoutMillis: number
  readonly keepAlive: boolean
}

/** Connections to one database. A call beyond their number waits until a connection is free. */
export interface Pool {
  /** Runs one statement. Throws Unavailable. */
  run<R extends object>(sql: string, values: readonly Value[]): Promise<Rows<R>>
  /** Commits all of the work or nothing. A commit without the server's confirmation fails. */
  transaction<T>(work: (client: Client) => Promise<T>): Promise<T>
  /** Also waits for busy connections. */
  end(): Promise<void>
}

/** Rejects with Unavailable, with the driver's error as its cause. */
export const asUnavailable = (cause: unknown): Promise<never> => Promise.reject(new Unavailable(undefined, { cause }))

const diskFull = '53100'
/** Of a replica or a server that is set to read, and of a disk that fails. */
const shut: readonly unknown[] = ['25006', '58030']

/** What keeps rows from being written, by the driver's error; null for a fault that concerns only its write. */
export const writeObstacle = (fault: unknown): string | null => {
  const code = fault instanceof Error && 'code' in fault ? fault.code : null
  if (code === diskFull) return 'The disk of the row store is full'
  return shut.includes(code) ? 'The row store takes no writes' : null
}

/** `patience` in ms: the wait for a connection, and again for an answer. */
export const openPool = (reach: Reach, connections: number, patience: number): Pool => {
  const pool = new pg.Pool({
    ...reach,
    max: connections,
    statement_timeout: patience,
    idle_in_transaction_session_timeout: patience,
    // The server ends a late statement first, which leaves the connection whole.
    query_timeout: patience + 250,
  })
  /** The first statement of each connection: the driver takes no second one before its answer. */
  const begun = new WeakMap<pg.PoolClient, Promise<unknown>>()
  // The pool drops idle clients that fail; the next query of a busy client reports its error.
  pool
    .on('error', () => {})
    .on('connect', (client) => {
      client.on('error', () => {})
      // A database with a stricter default refuses changes of one row at once.
      const first = client.query('set session characteristics as transaction isolation level read committed')
      // The fault ends the call that takes the connection.
      first.catch(() => {})
      begun.set(client, first)
    })
  /** The connection is closed unless the work says at its end that it is whole. */
  const lent = async <T>(work: (client: pg.PoolClient, whole: () => void) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    let isWhole = false
    try {
      await begun.get(client)
      return await work(client, () => void (isWhole = true))
    } finally {
      client.release(!isWhole)
    }
  }
  return {
    run: <R extends object>(sql: string, values: readonly Value[]) =>
      lent(async (client, whole) => {
        const rows = await client.query<R>(sql, [...values])
        whole()
        return rows
      }).catch(asUnavailable),
    transaction: (work) =>
      lent(async (client, whole) => {
        await client.query('begin')
        const result = await work(client)
        // A transaction without a confirmed commit may still be open.
        if ((await client.query('commit')).command === 'COMMIT') whole()
        return result
      }),
    end: () => pool.end(),
  }
}
