import pg from 'pg'
import { Unavailable } from '../../../core/errors.ts'
import type { Value } from './statement.ts'

export interface Pool {
  /** The result of one statement; throws Unavailable. */
  run<R extends object>(sql: string, values: readonly Value[]): Promise<pg.QueryResult<R>>
  /** All of the work or nothing; a commit that the server does not confirm fails. */
  transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  /** Also waits for connections at work. */
  end(): Promise<void>
}

export const asUnavailable = (cause: unknown): Promise<never> => Promise.reject(new Unavailable(undefined, { cause }))

/** `patience` is the ms for a connection, and again for an answer. */
export const openPool = (reach: pg.ClientConfig, connections: number, patience: number): Pool => {
  const pool = new pg.Pool({
    ...reach,
    max: connections,
    statement_timeout: patience,
    idle_in_transaction_session_timeout: patience,
    query_timeout: patience + 250,
  })
  // The pool drops idle clients that fail; the next query of a busy one reports its fault.
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
