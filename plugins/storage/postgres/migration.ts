import type { Pool } from './pool.ts'
import { schemaSteps } from './schema.ts'

/** The lock of a migration: replicas that start together take turns. */
const migrationLock = 7_311_001

/**
 * Updates the schema and returns the collation for letters beyond ASCII. The database's own locale may not know their
 * case.
 */
export const migrate = (pool: Pool, name: string): Promise<string> =>
  pool.transaction(async (client) => {
    const schema = `"${name}"`
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock])
    const existing = await client.query('select 1 from pg_namespace where nspname = $1', [name])
    if (existing.rowCount === 0) await client.query(`create schema ${schema}`)
    await client.query(`create table if not exists ${schema}.steps (step integer primary key)`)
    const done = await client.query<{ step: number }>(`select coalesce(max(step), 0) as step from ${schema}.steps`)
    for (const [i, sql] of schemaSteps(schema).entries()) {
      if (i < (done.rows[0]?.step ?? 0)) continue
      await client.query(sql)
      await client.query(`insert into ${schema}.steps values ($1)`, [i + 1])
    }
    const collation = await client.query(`select 1 from pg_collation where collname = 'und-x-icu'`)
    return collation.rowCount === 0 ? '' : ' collate "und-x-icu"'
  })
