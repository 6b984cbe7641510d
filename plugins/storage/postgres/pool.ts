import pg from 'pg'
import { Unavailable } from '../../../core/errors.ts'
import type { Value } from './statement.ts'

export interface Pool {
  /** Runs one statement. Throws Unavailable. */
  run<R extends object>(sql: string, values: readonly Value[]): Promise<pg.QueryResult<R>>
  /** Commits all of the work or nothing. A commit without the server's confirmation fails. */
  transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  /** Also waits for busy connections. */
  end(): Promise<void>
}

export const asUnavailable = (cause: unknown): Promise<never> => Promise.reject(new Unavailable(undefined, { cause }))

/** `patience` in ms: the wait for a connection, and again for an answer. */
export const openPool = (reach: pg.ClientConfig, connections: number, patience: number): Pool => {
  const pool = new pg.Pool({
    ...reach,
    max: connections,
    statement_timeout: patience,
    idle_in_transaction_session_timeout: patience,
    query_timeout: patience + 250,
  })
  // The pool drops idle clients that fail; the next query of a busy client reports its error.
  pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}))
  return {
    run: <R extends object>(sql: string, values: readonly Value[]) =>
      pool.query<R>(sql, [...values]).catch(asUnavailable),
    async transaction(work) {
      const client = await pool.connect()
      let isDone = false
      try {
        await client.query('begin')
        const result = await work(client)
        isDone = (await client.query('commit')).command === 'COMMIT'
        return result
      } finally {
        client.release(!isDone)
      }
    },
    end: () => pool.end(),
  }
}
