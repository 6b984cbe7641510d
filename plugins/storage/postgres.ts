import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { MetadataStore, type Kind, type Query, type Row } from '../../core/ports/metadata-store.ts'
import { Clock, Log } from '../../core/ports/platform.ts'
import { timer } from '../../core/settings.ts'
import { postgresAddress } from './postgres/address.ts'
import { decodeJson, decodeText, encodeJson, encodeText } from './postgres/encoding.ts'
import { asUnavailable, openPool, type Pool, writeObstacle, type Client, type Reach } from './postgres/pool.ts'
import { postgresReports } from './postgres/reports.ts'
import { indexesOf, type Index, schemaSteps } from './postgres/schema.ts'
import { statement } from './postgres/statement.ts'
import { storedName } from './shared/stored-name.ts'
import pg from 'pg'

interface Stored {
  readonly id: string
  readonly data: string
}

/** In ms: the pause before a failed index is built again. */
const indexRetryMs = 60_000

/** Connections of reports, beside those of all other calls. */
const reportConnections = 2
/** In ms: the most that a report may take. */
const reportPatience = 10_000

/** Null when the statement gave no row. */
const firstOf = <T>([first]: readonly Stored[]): T | null => (first ? decodeJson<T>(first.data) : null)

/** Stores all kinds in one table. An update or an addition to a counter is one statement. */
export default plugin({
  port: MetadataStore,
  name: 'postgres',
  settings: v.strictObject({
    url: postgresAddress,
    /** The schema of the table; made when missing. */
    schema: v.optional(
      v.pipe(v.string(), v.regex(/^[a-z_][a-z0-9_]{0,62}$/, 'a name of lower-case letters, digits and _')),
      'sealgate',
    ),
    connections: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 10),
    /** In ms: the wait for a connection, and again for an answer. */
    patience: v.optional(timer(), 5_000),
  }),
  needs: { clock: Clock, log: Log },
  create: ({ clock, log }, { url, schema: bare, connections, patience }): MetadataStore => {
    const schema = `"${bare}"`
    const table = `${schema}.rows`
    const reach = { connectionString: url, connectionTimeoutMillis: patience, keepAlive: true }
    const pool = openPool(reach, connections, patience)
    const reportPool = openPool(
      { ...reach, connectionTimeoutMillis: reportPatience },
      reportConnections,
      reportPatience,
    )
    const closing = new AbortController()
    /** For each kind, the time of its next indexing; Infinity when the indexes exist or are being built. */
    const indexingDue = new Map<string, number>()
    let indexing: Promise<void> = Promise.resolve()
    let migrated: Promise<string> | null = null
    let obstacle: string | null = null

    /** Of the last write, what kept the write from the table. */
    const written = async <T>(work: Promise<T>): Promise<T> => {
      try {
        const result = await work
        obstacle = null
        return result
      } catch (fault) {
        obstacle = writeObstacle((fault as Error).cause)
        throw fault
      }
    }

    const startIndexing = <T>(kind: Kind<T>): void => {
      const indexes = indexesOf(schema, kind)
      if (indexes.length === 0) return
      indexingDue.set(kind.name, Infinity)
      const failed = (cause: unknown) => {
        indexingDue.set(kind.name, clock.now() + indexRetryMs)
        if (!closing.signal.aborted) log.error('postgres.index', {}, cause)
      }
      indexing = indexing.then(() => buildIndexes(reach, clock, indexes, closing.signal)).catch(failed)
    }

    /** Returns the collation that `contains` uses. */
    const prepare = async <T>(kind: Kind<T>): Promise<string> => {
      migrated ??= migrate(pool, bare).catch((cause) => {
        migrated = null
        return asUnavailable(cause)
      })
      const collation = await migrated
      if (clock.now() >= (indexingDue.get(kind.name) ?? 0)) startIndexing(kind)
      return collation
    }

    /** A page beyond the last row is empty, and its count is still right. */
    const listIn = async <T>(reading: Pool, kind: Kind<T>, query: Query<T>) => {
      const collation = await prepare(kind)
      const { values, value, from, field } = statement(schema)
      const { order, limit = null, offset = 0, countTo = null } = query
      const rest = from(kind, query, collation)
      const [way, nulls] = order?.descending ? ['desc', 'last'] : ['asc', 'first']
      const sorting = order ? `${field(order.by)} ${way} nulls ${nulls}, id ${way}` : 'id'
      const placed = `select id, data, row_number() over (order by ${sorting}) as place ${rest}`
      const page = `${placed} order by ${sorting} limit ${value(limit)} offset ${value(offset)}`
      const count = `select count(*)::int as total from (select 1 ${rest} limit ${value(countTo)}) as met`
      // One statement, so that page and total belong to the same moment.
      const sql = `select total, id, data::text as data from (${count}) as counted left join (${page}) as page on true order by place`
      const found = (await reading.run<{ total: number; id: string | null; data: string }>(sql, values)).rows
      const rows = found.flatMap(({ id, data }): Row<T>[] =>
        id === null ? [] : [{ id: decodeText(id), row: decodeJson<T>(data) }],
      )
      return { rows, total: found[0]?.total ?? 0 }
    }

    return {
      async get<T>(kind: Kind<T>, id: string) {
        await prepare(kind)
        const sql = `select data::text as data from ${table} where kind = $1 and id = $2`
        return firstOf<T>((await pool.run<Stored>(sql, [kind.name, encodeText(id)])).rows)
      },
      async create(kind, id, row) {
        await prepare(kind)
        const sql = `insert into ${table} values ($1, $2, $3) on conflict do nothing`
        return (await written(pool.run(sql, [kind.name, encodeText(id), encodeJson(row)]))).rowCount === 1
      },
      async update<T>(kind: Kind<T>, id: string, change: Partial<T>, when?: Partial<T>) {
        for (const name of Object.keys(change)) storedName(name)
        const { values, where } = statement(schema, kind.name, encodeText(id), encodeJson(change))
        const set = `update ${table} set data = ${schema}.merge(data, $3) where kind = $1 and id = $2${where(when)}`
        await prepare(kind)
        return firstOf<T>((await written(pool.run<Stored>(`${set} returning data::text as data`, values))).rows)
      },
      async add(kind, id, deltas, when) {
        const { values, where } = statement(schema, kind.name, encodeText(id), encodeJson(deltas))
        const upsert = `insert into ${table} values ($1, $2, $3) on conflict (kind, id) do update`
        const set = `set data = ${schema}.sum(rows.data, $3)`
        const only = `update ${table} ${set} where kind = $1 and id = $2${where(when)}`
        const sql = `${when ? only : `${upsert} ${set}`} returning data::text as data`
        await prepare(kind)
        // An explicit commit: otherwise a silent server could apply the addition after the call has failed.
        const added = pool.transaction((client) => client.query<Stored>(sql, [...values])).catch(asUnavailable)
        const row = firstOf<Record<string, number>>((await written(added)).rows)
        return row && Object.fromEntries(Object.keys(deltas).map((name) => [name, row[name] ?? 0]))
      },
      async remove(kind, id, when) {
        const { values, where } = statement(schema, kind.name, encodeText(id))
        await prepare(kind)
        const sql = `delete from ${table} where kind = $1 and id = $2${where(when)}`
        return (await written(pool.run(sql, values))).rowCount === 1
      },
      list: (kind, query) => listIn(pool, kind, query),
      reports: postgresReports(reportPool, schema, prepare, (kind, query) => listIn(reportPool, kind, query)),
      obstacle: () => obstacle,
      /** Waits at most `patience` ms. */
      async dispose() {
        closing.abort()
        const over = new AbortController()
        const closed = Promise.all([indexing, pool.end(), reportPool.end()])
        // A silent server does not confirm the end of a connection either.
        await Promise.race([closed, clock.sleep(patience, over.signal)])
        over.abort()
      },
    }
  },
})

/** The lock of indexing: PostgreSQL builds one index of a table at a time. */
const indexingLock = 7_311_002
/** In ms, between two tries of the lock. A client that waits inside the server would block the build. */
const lockPause = 50

/** Rows can be written during the build, which therefore cannot run inside a transaction. */
const build = async (client: Client, { name, definition }: Index): Promise<void> => {
  const validity = 'select indisvalid from pg_index where indexrelid = to_regclass($1)'
  const [found] = (await client.query<{ indisvalid: boolean }>(validity, [name])).rows
  if (found?.indisvalid) return
  // An interrupted build leaves an invalid index, which is dropped first.
  if (found) await client.query(`drop index concurrently if exists ${name}`)
  await client.query(`create index concurrently if not exists ${definition}`)
}

/** Builds the indexes while other work continues. An index changes the speed of a listing and never its result. */
const buildIndexes = async (
  reach: Reach,
  clock: Clock,
  indexes: readonly Index[],
  signal: AbortSignal,
): Promise<void> => {
  const client = new pg.Client(reach)
  // The running query reports the error.
  client.on('error', () => {})
  try {
    await client.connect()
    const lock = () => client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [indexingLock])
    while (!(await lock()).rows[0]?.mine) await clock.sleep(lockPause, signal)
    for (const index of indexes) {
      signal.throwIfAborted()
      await build(client, index)
    }
  } finally {
    await client.end()
  }
}

/** The lock of a migration: replicas that start together take turns. */
const migrationLock = 7_311_001

/**
 * Updates the schema and returns the collation for letters beyond ASCII. The database's own locale may not know their
 * case.
 */
const migrate = (pool: Pool, name: string): Promise<string> =>
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
