import Database from 'libsql'
import pg from 'pg'
import { log, random, clock } from '../../../adapters/memory/platform.ts'
import type { Fitting } from '../../../core/container.ts'
import { usages } from '../../../plugins/usage/usage-rows.ts'
import { use } from '../../../core/plugin.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { createTable } from '../../../plugins/storage/sqlite/statement.ts'
import { fitted } from '../../fitted.ts'

export const organizations = 50
const days = Number(process.env['SEALGATE_DAYS'] ?? 365)
const models = 10

const keysFor = (rows: number): number => Math.max(organizations, Math.round(rows / days / models))

/** A year of rows, one for each key, day and model, as the gateway would have written them. */
export const fillSqlite = async (file: string, rows: number): Promise<void> => {
  const db = new Database(file)
  const series = (name: string, below: number) =>
    `${name}(n) as (select 0 union all select n + 1 from ${name} where n + 1 < ${below})`
  db.pragma('journal_mode = wal')
  db.exec(`pragma synchronous = off; pragma cache_size = -262144; ${createTable}`)
  db.exec(`
    with recursive ${series('keys', keysFor(rows))}, ${series('days', days)}, ${series('models', models)},
    dated as (select n, date('now', '-' || (${days - 1} - n) || ' days') as day from days)
    insert into rows
    select 'usage', 'key_' || printf('%05d', keys.n) || '/' || day || '/model-' || models.n, json_object(
      'organization', 'org-' || (keys.n % ${organizations}), 'key', 'key_' || printf('%05d', keys.n),
      'user', 'user-' || (keys.n % 400), 'team', 'team-' || (keys.n % 7), 'day', day, 'model', 'model-' || models.n,
      'requests', 10, 'input', 3400, 'output', 820, 'cached', 100, 'cost_micros', 420000, 'by:0123456789ab', 4)
    from keys, dated, models`)
  db.exec(`
    with recursive ${series('orgs', organizations)}, ${series('days', days)}, ${series('names', 10)},
    dated as (select n, date('now', '-' || (${days - 1} - n) || ' days') as day from days)
    insert into rows
    select 'usage-share', day || '/org-' || orgs.n || '/tag/' || names.n, json_object(
      'organization', 'org-' || orgs.n, 'day', day, 'by', 'tag', 'name', 'feature=' || names.n, 'requests', 70, 'input', 100)
    from orgs, dated, names`)
  db.close()
}

/** The same; the store makes its schema and its indexes. */
export const fillPostgres = async (url: string, store: Fitting<MetadataStore>, rows: number): Promise<void> => {
  const parts = fitted(store, use(clock), use(log), use(random))
  const made = parts.supply({ rows: MetadataStore }).rows
  await made.get(usages, 'none')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const day = `to_char(now() at time zone 'utc' - make_interval(days => ${days - 1} - d), 'YYYY-MM-DD')`
  await client.query(`
    insert into sealgate.rows
    select 'usage', 'key_' || lpad(k::text, 5, '0') || '/' || day || '/model-' || m, json_build_object(
      'organization', 'org-' || (k % ${organizations}), 'key', 'key_' || lpad(k::text, 5, '0'),
      'user', 'user-' || (k % 400), 'team', 'team-' || (k % 7), 'day', day, 'model', 'model-' || m,
      'requests', 10, 'input', 3400, 'output', 820, 'cached', 100, 'cost_micros', 420000, 'by:0123456789ab', 4)
    from generate_series(0, ${keysFor(rows) - 1}) as k, generate_series(0, ${days - 1}) as d, lateral (select ${day} as day) as dated,
      generate_series(0, ${models - 1}) as m`)
  await client.query(`
    insert into sealgate.rows
    select 'usage-share', day || '/org-' || o || '/tag/' || n, json_build_object(
      'organization', 'org-' || o, 'day', day, 'by', 'tag', 'name', 'feature=' || n, 'requests', 70, 'input', 100)
    from generate_series(0, ${organizations - 1}) as o, generate_series(0, ${days - 1}) as d, lateral (select ${day} as day) as dated,
      generate_series(0, 9) as n`)
  await client.query('analyze sealgate.rows')
  await client.end()
  await parts.dispose()
}
