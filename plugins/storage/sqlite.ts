import { setImmediate as turn } from 'node:timers/promises'
import Database from 'libsql'
import AsyncDatabase from 'libsql/promise'
import * as v from 'valibot'
import { Unavailable } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { MetadataStore, type Kind, type Query, type Row } from '../../core/ports/metadata-store.ts'
import { privateFile } from '../../core/private-file.ts'

type Value = string | number
type Stored = Readonly<Record<'id' | 'data', string>>

interface Statement {
  get(values: readonly Value[]): Stored | undefined
  run(values: readonly Value[]): { readonly changes: number }
}

interface Clause {
  readonly sql: string
  readonly values: readonly Value[]
}

interface Write {
  work(): Promise<unknown>
  resolve(result: unknown): void
  reject(fault: unknown): void
}

/** Ms to wait for another process. */
const patience = 5000
/** Writes that share one transaction; what comes meanwhile shares the next. */
const together = 256
/** Rows that are looked at before others have a turn. */
const slice = 500

const columns = 'kind text not null, id text not null, data text not null, primary key (kind, id)'
const one = 'select id, data from rows where kind = ? and id = ?'
const insert = 'insert into rows values (?, ?, ?)'

/** The only text that gets into SQL, besides this file's own. */
const plain = (name: string): string => {
  if (!/^[\w.:/@+-]+$/.test(name)) throw new Error('A kind or field has a name that cannot be stored')
  return name
}

const place = (name: string) => `'$."${plain(name)}"'`
const field = (name: string) => `json_extract(data, ${place(name)})`

const equal = ([name, value]: readonly [string, unknown]): Clause => {
  if (value === null || value === undefined) return { sql: `${field(name)} is null`, values: [] }
  if (typeof value === 'string' || typeof value === 'number') return { sql: `${field(name)} = ?`, values: [value] }
  // SQLite has no booleans, and the driver takes none.
  if (typeof value === 'boolean') return { sql: `${field(name)} = ${Number(value)}`, values: [] }
  return { sql: `data -> ${place(name)} = ?`, values: [JSON.stringify(value)] }
}

const both = (fields: object = {}, more: readonly Clause[] = []): Clause => {
  const clauses = [...Object.entries(fields).map(equal), ...more]
  return { sql: clauses.map(({ sql }) => ` and ${sql}`).join(''), values: clauses.flatMap(({ values }) => values) }
}

/** Names its kind in the text, since SQLite takes a partial index only for what it can read there. */
const from = <T>(kind: Kind<T>, { where, between, prefix }: Query<T>): Clause => {
  const more: Clause[] = []
  if (between?.from !== undefined) more.push({ sql: `${field(between.field)} >= ?`, values: [between.from] })
  if (between?.to !== undefined) more.push({ sql: `${field(between.field)} <= ?`, values: [between.to] })
  if (prefix) more.push({ sql: 'id >= ? and id < ?', values: [prefix, `${prefix}\u{10ffff}`] })
  const { sql, values } = both(where, more)
  return { sql: `from rows where kind = '${plain(kind.name)}'${sql}`, values }
}

const sorted = <T>({ order }: Query<T>) => {
  const way = order?.descending ? 'desc' : 'asc'
  return order ? `order by ${field(order.by)} ${way}, id ${way}` : 'order by id'
}

const indexed = ({ name, indexes }: Kind<any>) =>
  indexes.map((fields) => {
    const parts = [...fields.map(field), 'id'].join(', ')
    return `create index if not exists "${plain(name)}:${fields.join()}" on rows (${parts}) where kind = '${name}'`
  })

const rowOf = <T>(found: Stored | undefined) => (found ? (JSON.parse(found.data) as T) : null)
const mentions = (it: unknown, text: string) => typeof it === 'string' && it.toLowerCase().includes(text)

const asUnavailable = (cause: unknown) => new Unavailable(undefined, { cause })

/** One connection that writes. Its commits, and so the waiting for the disk and for other processes, are off this thread. */
const writing = (file: string) => {
  const db = new AsyncDatabase(file, { timeout: patience }) as AsyncDatabase & { readonly inTransaction: boolean }
  const statements = new Map<string, Statement>()
  const waiting: Write[] = []
  let durable = false
  let running: Promise<void> | null = null
  let closed = false

  const commit = async (writes: readonly Write[]) => {
    const outcomes: (() => void)[] = []
    try {
      if (!durable) await db.exec('pragma synchronous = full; pragma fullfsync = on')
      durable = true
      await db.exec('begin immediate')
      for (const { work, resolve, reject } of writes) {
        try {
          const result = await work()
          outcomes.push(() => resolve(result))
        } catch (fault) {
          // A statement that fails undoes only itself, unless the whole transaction is gone.
          if (!db.inTransaction) throw fault
          outcomes.push(() => reject(asUnavailable(fault)))
        }
      }
      await db.exec('commit')
    } catch (fault) {
      let cause = fault
      const stuck = (second: unknown) => (cause = new AggregateError([fault, second], 'A transaction cannot be undone'))
      if (db.inTransaction) await db.exec('rollback').catch(stuck)
      for (const { reject } of writes) reject(asUnavailable(cause))
      return
    }
    for (const tell of outcomes) tell()
  }

  const drain = async () => {
    while (waiting.length > 0) await commit(waiting.splice(0, together))
    running = null
  }

  return {
    exec: (sql: string): Promise<void> => db.exec(sql),
    /** Only within `run`. */
    async prepare(sql: string): Promise<Statement> {
      let statement = statements.get(sql)
      if (!statement) statements.set(sql, (statement = (await db.prepare(sql)) as Statement))
      return statement
    },
    /** Resolves when it is on the disk. */
    run: <R>(work: () => Promise<R>) =>
      new Promise<R>((resolve, reject) => {
        if (closed) return reject(new Unavailable())
        waiting.push({ work, resolve: resolve as Write['resolve'], reject })
        running ??= drain()
      }),
    async close() {
      closed = true
      await running
      db.close()
    },
  }
}

/** Where reading sees every commit at once and waits for none. */
const open = (file: string) => {
  let db: Database.Database | null = null
  try {
    db = new Database(privateFile(file, ['-wal', '-shm']), { timeout: patience })
    db.pragma('journal_mode = wal')
    db.exec(`pragma cache_size = -65536; create table if not exists rows (${columns})`)
    return { db, writer: writing(file) }
  } catch (cause) {
    db?.close()
    const message = 'sqlite: the file cannot be opened; is its folder there, is it whole, and does nobody hold it?'
    throw new Error(message, { cause })
  }
}

/** All kinds in one table of one file. Reading one row costs microseconds, so it is done on the main thread. */
export default plugin({
  port: MetadataStore,
  name: 'sqlite',
  settings: v.strictObject({ file: v.pipe(v.string(), v.minLength(1), v.notValue(':memory:')) }),
  create: (_, { file }): MetadataStore => {
    const { db, writer } = open(file)
    const statements = new Map<string, Database.Statement>()
    const known = new Map<string, Promise<unknown>>()
    let closed = false

    const prepare = (sql: string) => {
      let statement = statements.get(sql)
      if (!statement) statements.set(sql, (statement = db.prepare(sql)))
      return statement
    }

    const read = <R>(work: () => R): R => {
      if (closed) throw new Unavailable()
      try {
        return work()
      } catch (fault) {
        throw asUnavailable(fault)
      }
    }

    const ready = async (kind: Kind<any>) => {
      let it = known.get(kind.name)
      if (!it) {
        const indexes = indexed(kind).join(';')
        it = indexes ? writer.run(() => writer.exec(indexes)) : Promise.resolve()
        known.set(kind.name, it)
        it.catch(() => known.delete(kind.name))
      }
      await it
    }

    const write = async <R>(kind: Kind<any>, sql: string, work: (statement: Statement) => R | Promise<R>) => {
      await ready(kind)
      return writer.run(async () => work(await writer.prepare(sql)))
    }

    /** Page and total are of one moment. */
    const page = <T>(rest: string, sorting: string, values: readonly Value[], limit: number, offset: number) => {
      db.exec('begin')
      try {
        const found = prepare(`select id, data ${rest} ${sorting} limit ? offset ?`).all([...values, limit, offset])
        const rows = (found as Stored[]).map(({ id, data }): Row<T> => ({ id, row: JSON.parse(data) as T }))
        // A page that is not full ends where all end.
        const last = rows.length < limit || limit < 0
        if (last && (rows.length > 0 || offset === 0)) return { rows, total: offset + rows.length }
        const counted = prepare(`select count(*) as total ${rest}`).get([...values])
        return { rows, total: (counted as { total: number }).total }
      } finally {
        db.exec('commit')
      }
    }

    /**
     * SQLite knows the case of ASCII only, so the text is looked for here, slice by slice. On a connection of its
     * own, since one that is in the middle of a listing does not see new commits.
     */
    const search = async <T>({ sql, values }: Clause, has: (row: T) => boolean, from: number, to: number) => {
      const own = read(() => new Database(file, { timeout: patience }))
      try {
        const rows: Row<T>[] = []
        let [seen, total] = [0, 0]
        for (const { id, data } of own.prepare(sql).iterate([...values]) as Iterable<Stored>) {
          const row = JSON.parse(data) as T
          if (has(row) && ++total > from && total <= to) rows.push({ id, row })
          if (++seen % slice === 0) await turn()
        }
        return { rows, total }
      } catch (fault) {
        throw asUnavailable(fault)
      } finally {
        own.close()
      }
    }

    return {
      async get<T>(kind: Kind<T>, id: string) {
        return rowOf<T>(read(() => prepare(one).get([kind.name, id]) as Stored | undefined))
      },
      create(kind, id, row) {
        const values = [kind.name, id, JSON.stringify(row)]
        return write(kind, `${insert} on conflict do nothing`, (it) => it.run(values).changes === 1)
      },
      async update<T>(kind: Kind<T>, id: string, change: Partial<T>, when?: Partial<T>) {
        const changes = Object.entries(change).filter(([, value]) => value !== undefined)
        const set = changes.map(([name]) => `, ${place(name)}, json(?)`).join('')
        const held = both(when)
        const sql = `update rows set data = json_set(data${set}) where kind = ? and id = ?${held.sql} returning data`
        const values = [...changes.map(([, value]) => JSON.stringify(value)), kind.name, id, ...held.values]
        return rowOf<T>(await write(kind, sql, (it) => it.get(values)))
      },
      add(kind, id, deltas, when) {
        const held = both(when)
        const replace = `${insert} on conflict do update set data = excluded.data`
        return write(kind, replace, async (it) => {
          // Read and written under one lock; summed here, since SQLite writes fractions in 15 digits.
          const found = (await writer.prepare(one + held.sql)).get([kind.name, id, ...held.values])
          if (when && !found) return null
          const row = JSON.parse(found?.data ?? '{}') as Record<string, unknown>
          const sum = (name: string, delta: number) => (Object.hasOwn(row, name) ? Number(row[name]) : 0) + delta
          const sums = Object.fromEntries(Object.entries(deltas).map(([name, it]) => [name, sum(name, it)]))
          it.run([kind.name, id, JSON.stringify({ ...row, ...sums })])
          return sums
        })
      },
      async remove(kind, id, when) {
        const { sql, values } = both(when)
        const all = [kind.name, id, ...values]
        return write(kind, `delete from rows where kind = ? and id = ?${sql}`, (it) => it.run(all).changes === 1)
      },
      async list<T>(kind: Kind<T>, query: Query<T>) {
        const { contains, limit, offset = 0 } = query
        const { sql, values } = from(kind, query)
        const sorting = sorted(query)
        await ready(kind)
        if (!contains) return read(() => page<T>(sql, sorting, values, limit ?? -1, offset))
        const text = contains.text.toLowerCase()
        const has = (row: T) => contains.fields.some((name) => mentions(row[name], text))
        const searched = { sql: `select id, data ${sql} ${sorting}`, values }
        return search(searched, has, offset, offset + (limit ?? Infinity))
      },
      async dispose() {
        closed = true
        await writer.close()
        db.close()
      },
    }
  },
})
