import { createHash } from 'node:crypto'
import pg from 'pg'
import * as v from 'valibot'
import { Unavailable } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Log } from '../../core/ports/platform.ts'
import { MetadataStore, type Kind, type Query, type Row } from '../../core/ports/metadata-store.ts'

interface Stored {
  readonly id: string
  readonly data: string
}

type Values = (string | number | null)[]

/** One for each thing that only one replica may do at a time. */
const locks = { migrating: 7_311_001, indexing: 7_311_002 }
/** Ms after which an index that could not be made is tried again. */
const later = 60_000
/** Characters of a text that count for order; an index has no room for longer ones. */
const most = 200

/**
 * A row is the JSON text that it was. `key` gives a field as text whose bytes sort as its values do (nothing before
 * numbers before text), so that one index serves whatever a field holds. Steps are only ever added, and what they
 * make is never changed: replicas of an older version run on.
 */
const steps = (schema: string): readonly string[] => [
  `create table ${schema}.rows (
    kind text collate "C" not null, id text collate "C" not null, data json not null, primary key (kind, id)
  );
  create function ${schema}.key(data json, field text) returns text language sql immutable parallel safe as $$
    select case json_typeof(data -> field)
      when 'null' then null
      when 'string' then 's' || left(data ->> field, ${most})
      when 'number' then case
        when (data ->> field)::float8 < 0 then 'n0' ||
          translate(encode(float8send((data ->> field)::float8), 'hex'), '0123456789abcdef', 'fedcba9876543210')
        else 'n1' || encode(float8send((data ->> field)::float8), 'hex') end
      else 'j' || left((data -> field)::text, ${most}) end
  $$;
  create function ${schema}.merge(data json, change json) returns json language sql stable as $$
    select coalesce(json_object_agg(key, value order by place), '{}') from (
      select coalesce(o.key, n.key) as key, case when n.key is null then o.value else n.value end as value,
        coalesce(o.place, n.place + 1000000) as place
      from json_each(data) with ordinality as o(key, value, place)
      full join json_each(change) with ordinality as n(key, value, place) on o.key = n.key
    ) as fields
  $$;
  create function ${schema}.sum(data json, deltas json) returns json language sql stable as $$
    select ${schema}.merge(data, json_object_agg(key, value::text::float8 +
      case json_typeof(data -> key) when 'number' then (data ->> key)::float8 else 0 end order by place))
    from json_each(deltas) with ordinality as d(key, value, place)
  $$`,
]

/** The only text that gets into SQL, besides this file's own. */
const plain = (name: string): string => {
  if (!/^[\w.:/@+-]+$/.test(name)) throw new Error('A kind or field has a name that cannot be stored')
  return name
}

// PostgreSQL keeps neither U+0000 nor half a character: they go behind a U+0001, and so does that.
const written = (text: string) => text.replace(/[\0\u0001\p{Cs}]/gu, (it) => `\u0001${it.charCodeAt(0).toString(16)}`)
const read = (text: string) =>
  text.replace(/\u0001([01]|d[\da-f]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** The same in JSON, where they stand as escapes. */
const pack = (it: unknown) =>
  JSON.stringify(it).replace(/\\(?:u(000[01]|d[\da-f]{3})|.)/g, (all, code?: string) =>
    code ? `\\u0001${code.replace(/^000/, '')}` : all,
  )
const unmarked = (all: string, code?: string) => (code ? `\\u${code.padStart(4, '0')}` : all)
const unpack = <T>(json: string) => JSON.parse(json.replace(/\\(?:u0001([01]|d[\da-f]{3})|.)/g, unmarked)) as T

/** What `key` makes of a field with this value. */
const keyOf = (value: unknown): string => {
  const text = typeof value === 'string' ? `s${written(value)}` : `j${pack(value)}`
  if (typeof value !== 'number') return [...text].slice(0, 1 + most).join('')
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value || 0)
  return `n${value < 0 ? 0 : 1}${Buffer.from(value < 0 ? bytes.map((byte) => ~byte) : bytes).toString('hex')}`
}

/** Builds the SQL of one statement, and gathers its values. */
const statement = (schema: string, ...first: Values) => {
  const values: Values = [...first]
  const value = (it: string | number | null) => `$${values.push(it)}`
  const field = (name: string) => `${schema}.key(data, '${plain(name)}') collate "C"`

  const equals = ([name, it]: readonly [string, unknown]): string => {
    if (it === null || it === undefined) return `${field(name)} is null`
    const exact = typeof it === 'object' || (typeof it === 'string' && written(it).length >= most)
    return `${field(name)} = ${value(keyOf(it))}${exact ? ` and (data -> '${name}')::text = ${value(pack(it))}` : ''}`
  }
  const all = (fields: object = {}) => Object.entries(fields).reduce((sql, it) => `${sql} and ${equals(it)}`, '')

  /** Names its kind in the text, since PostgreSQL takes a partial index only for what it can read there. */
  const from = <T>(kind: Kind<T>, { where, between, contains, prefix }: Query<T>, folding: string): string => {
    const parts = [all(where)]
    if (between?.from !== undefined) parts.push(` and ${field(between.field)} >= ${value(keyOf(between.from))}`)
    if (between?.to !== undefined) parts.push(` and ${field(between.field)} <= ${value(keyOf(between.to))}`)
    if (prefix) parts.push(` and id >= ${value(written(prefix))} and id < ${value(`${written(prefix)}\u{10ffff}`)}`)
    if (contains) {
      const text = value(written(contains.text.toLowerCase()))
      const has = (name: string) =>
        `json_typeof(data -> '${plain(name)}') = 'string' and strpos(lower((data ->> '${name}')${folding}), ${text}) > 0`
      parts.push(` and (${contains.fields.map(has).join(' or ') || 'false'})`)
    }
    return `from ${schema}.rows where kind = '${plain(kind.name)}'${parts.join('')}`
  }
  return { values, value, all, from, field }
}

const indexed = (schema: string, { name, indexes }: Kind<any>) =>
  indexes.map((fields) => {
    const full = `${plain(name)}:${fields.map(plain).join()}`
    // PostgreSQL cuts longer names, and then two may be the same.
    const id =
      full.length < 64 ? full : `${full.slice(0, 46)}:${createHash('sha256').update(full).digest('hex').slice(0, 16)}`
    const { field } = statement(schema)
    const parts = fields.map((it) => `(${field(it)}) nulls first`).join(', ')
    return { index: `${schema}."${id}"`, make: `"${id}" on ${schema}.rows (${parts}, id) where kind = '${name}'` }
  })

const unreached = (cause: unknown) => Promise.reject(new Unavailable(undefined, { cause }))

/** All kinds in one table. An update, and an addition to a counter, is one statement. */
export default plugin({
  port: MetadataStore,
  name: 'postgres',
  settings: v.strictObject({
    url: v.pipe(v.string(), v.regex(/^postgres(ql)?:\/\//)),
    /** Where the table is; made when it is not there. */
    schema: v.optional(v.pipe(v.string(), v.regex(/^[a-z_][a-z0-9_]{0,62}$/)), 'sealgate'),
    connections: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 10),
    /** Ms to wait for a connection, and again for an answer. */
    patience: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 5_000),
  }),
  needs: { clock: Clock, log: Log },
  create: ({ clock, log }, { url, schema: bare, connections, patience }): MetadataStore => {
    const schema = `"${bare}"`
    const table = `${schema}.rows`
    const reach = { connectionString: url, connectionTimeoutMillis: patience, keepAlive: true }
    const pool = new pg.Pool({
      ...reach,
      max: connections,
      statement_timeout: patience,
      idle_in_transaction_session_timeout: patience,
      query_timeout: patience + 250,
    })
    const closing = new AbortController()
    const due = new Map<string, number>()
    let indexing: Promise<void> = Promise.resolve()
    let ready: Promise<string> | null = null
    // One that breaks while nobody uses it, or between two steps: the pool forgets it by itself, and the next step tells.
    pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}))

    /** All of it or nothing: what is not heard to its end is not done. */
    const whole = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
      const client = await pool.connect()
      let done = false
      try {
        await client.query('begin')
        const result = await work(client)
        done = (await client.query('commit')).command === 'COMMIT'
        return result
      } finally {
        client.release(!done)
      }
    }

    /** Gives how to name the case of letters beyond ASCII, which the database's own locale may not know. */
    const migrate = (): Promise<string> =>
      whole(async (client) => {
        await client.query('select pg_advisory_xact_lock($1)', [locks.migrating])
        const there = await client.query('select 1 from pg_namespace where nspname = $1', [bare])
        if (there.rowCount === 0) await client.query(`create schema ${schema}`)
        await client.query(`create table if not exists ${schema}.steps (step integer primary key)`)
        const done = await client.query<{ step: number }>(`select coalesce(max(step), 0) as step from ${schema}.steps`)
        for (const [i, sql] of steps(schema).entries()) {
          if (i < done.rows[0]!.step) continue
          await client.query(sql)
          await client.query(`insert into ${schema}.steps values ($1)`, [i + 1])
        }
        const known = await client.query(`select 1 from pg_collation where collname = 'und-x-icu'`)
        return known.rowCount === 0 ? '' : ' collate "und-x-icu"'
      })

    /** Beside all other work, which it neither stops nor waits for: an index makes listing faster, never different. */
    const index = async (wanted: ReturnType<typeof indexed>) => {
      const client = new pg.Client(reach)
      // Whatever is under way is told by itself.
      client.on('error', () => {})
      try {
        await client.connect()
        // One that waited in the server would itself be waited for by the one that makes the index.
        const lock = () => client.query('select pg_try_advisory_lock($1) as mine', [locks.indexing])
        while (!(await lock()).rows[0].mine) await clock.sleep(50, closing.signal)
        for (const { index, make } of wanted) {
          const valid = 'select indisvalid from pg_index where indexrelid = to_regclass($1)'
          const found = await client.query(valid, [index])
          if (found.rows[0]?.indisvalid) continue
          closing.signal.throwIfAborted()
          // One whose making was cut short.
          if (found.rows[0]) await client.query(`drop index concurrently if exists ${index}`)
          await client.query(`create index concurrently if not exists ${make}`)
        }
      } finally {
        await client.end()
      }
    }

    const prepare = async (kind: Kind<any>): Promise<string> => {
      const wanted = clock.now() >= (due.get(kind.name) ?? 0) ? indexed(schema, kind) : []
      ready ??= migrate().catch((cause) => {
        ready = null
        return unreached(cause)
      })
      const folding = await ready
      if (wanted.length > 0 && due.get(kind.name) !== Infinity) {
        due.set(kind.name, Infinity)
        const failed = (cause: unknown) => {
          due.set(kind.name, clock.now() + later)
          if (!closing.signal.aborted) log.error('postgres.index', {}, cause)
        }
        indexing = indexing.then(() => index(wanted)).catch(failed)
      }
      return folding
    }

    const run = <R extends object = Stored>(sql: string, values: Values) => pool.query<R>(sql, values).catch(unreached)

    /** Of a row that there may be. */
    const first = <T>(rows: readonly Stored[]) => (rows[0] ? unpack<T>(rows[0].data) : null)

    return {
      async get<T>(kind: Kind<T>, id: string) {
        await prepare(kind)
        const sql = `select data::text as data from ${table} where kind = $1 and id = $2`
        return first<T>((await run(sql, [kind.name, written(id)])).rows)
      },
      async create(kind, id, row) {
        await prepare(kind)
        const sql = `insert into ${table} values ($1, $2, $3) on conflict do nothing`
        return (await run(sql, [kind.name, written(id), pack(row)])).rowCount === 1
      },
      async update<T>(kind: Kind<T>, id: string, change: Partial<T>, when?: Partial<T>) {
        for (const name of Object.keys(change)) plain(name)
        const { values, all } = statement(schema, kind.name, written(id), pack(change))
        const set = `update ${table} set data = ${schema}.merge(data, $3) where kind = $1 and id = $2${all(when)}`
        await prepare(kind)
        return first<T>((await run(`${set} returning data::text as data`, values)).rows)
      },
      async add(kind, id, deltas, when) {
        const { values, all } = statement(schema, kind.name, written(id), pack(deltas))
        const upsert = `insert into ${table} values ($1, $2, $3) on conflict (kind, id) do update`
        const set = `set data = ${schema}.sum(rows.data, $3)`
        const only = `update ${table} ${set} where kind = $1 and id = $2${all(when)}`
        const sql = `${when ? only : `${upsert} ${set}`} returning data::text as data`
        await prepare(kind)
        const step = (client: pg.PoolClient) => client.query<Stored>(sql, values)
        // Final by a word of its own: a server that was silent would carry it out when nobody waits for it any more.
        const row = first<Record<string, number>>((await whole(step).catch(unreached)).rows)
        return row && Object.fromEntries(Object.keys(deltas).map((name) => [name, row[name]!]))
      },
      async remove(kind, id, when) {
        const { values, all } = statement(schema, kind.name, written(id))
        await prepare(kind)
        return (await run(`delete from ${table} where kind = $1 and id = $2${all(when)}`, values)).rowCount === 1
      },
      async list<T>(kind: Kind<T>, query: Query<T>) {
        const folding = await prepare(kind)
        const { values, value, from, field } = statement(schema)
        const { order, limit = null, offset = 0, countTo = null } = query
        const rest = from(kind, query, folding)
        const [way, nothing] = order?.descending ? ['desc', 'last'] : ['asc', 'first']
        const sorting = order ? `${field(order.by)} ${way} nulls ${nothing}, id ${way}` : 'id'
        const placed = `select id, data, row_number() over (order by ${sorting}) as place ${rest}`
        const page = `${placed} order by ${sorting} limit ${value(limit)} offset ${value(offset)}`
        // Page and total are of one moment.
        const sql = `select total, id, data::text as data from (select count(*)::int as total from (select 1 ${rest} limit ${value(countTo)}) as met) as counted
          left join (${page}) as page on true order by place`
        const found = (await run<{ total: number; id: string | null; data: string }>(sql, values)).rows
        const rows = found.flatMap(({ id, data }): Row<T>[] =>
          id === null ? [] : [{ id: read(id), row: unpack<T>(data) }],
        )
        return { rows, total: found[0]!.total }
      },
      async dispose() {
        closing.abort()
        const over = new AbortController()
        const closed = Promise.all([indexing, pool.end()])
        // A server that says nothing more does not say goodbye either.
        await Promise.race([closed, clock.sleep(patience, over.signal)])
        over.abort()
      },
    }
  },
})
