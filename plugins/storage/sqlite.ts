import { setImmediate as turn } from 'node:timers/promises'
import Database from 'libsql'
import AsyncDatabase from 'libsql/promise'
import * as v from 'valibot'
import { Unavailable } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { MetadataStore, type Kind, type Query, type Row } from '../../core/ports/metadata-store.ts'

type Value = string | number
type Sums = Readonly<Record<string, number>>

interface Statement {
  get(values: readonly Value[]): Record<string, unknown> | undefined
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

const table = `create table if not exists rows (
  kind text not null, id text not null, data text not null, primary key (kind, id))`

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

const and = (clauses: readonly Clause[]): Clause => ({
  sql: clauses.map(({ sql }) => ` and ${sql}`).join(''),
  values: clauses.flatMap(({ values }) => values),
})

const holding = (fields: object = {}) => and(Object.entries(fields).map(equal))

/** Names its kind in the text, since SQLite takes a partial index only for what it can read there. */
const from = <T>(kind: Kind<T>, { where, between, prefix }: Query<T>): Clause => {
  const clauses = Object.entries(where ?? {}).map(equal)
  if (between?.from !== undefined) clauses.push({ sql: `${field(between.field)} >= ?`, values: [between.from] })
  if (between?.to !== undefined) clauses.push({ sql: `${field(between.field)} <= ?`, values: [between.to] })
  if (prefix) clauses.push({ sql: 'id >= ? and id < ?', values: [prefix, `${prefix}\u{10ffff}`] })
  const { sql, values } = and(clauses)
  return { sql: `from rows where kind = '${plain(kind.name)}'${sql}`, values }
}

const sorted = <T>({ order }: Query<T>) => {
  const way = order?.descending ? 'desc' : 'asc'
  return order ? `order by ${field(order.by)} ${way}, id ${way}` : 'order by id'
}

const indexed = ({ name, indexes }: Kind<any>) =>
  indexes.map((fields) => {
    const columns = [...fields.map(field), 'id'].join(', ')
    return `create index if not exists "${plain(name)}:${fields.join()}" on rows (${columns}) where kind = '${name}'`
  })

const asUnavailable = (cause: unknown) => new Unavailable(undefined, { cause })

/** One connection that writes. Its commits, and so the waiting for the disk and for other processes, are off this thread. */
const writing = (file: string) => {
  const db = new AsyncDatabase(file, { timeout: patience }) as AsyncDatabase & { readonly inTransaction: boolean }
  const statements = new Map<string, Statement>()
  const waiting: Write[] = []
  let ready = false
  let running: Promise<void> | null = null
  let closed = false

  const undo = async (fault: unknown) => {
    try {
      if (db.inTransaction) await db.exec('rollback')
      return fault
    } catch (second) {
      return new AggregateError([fault, second], 'A transaction could not be undone')
    }
  }

  const commit = async (writes: readonly Write[]) => {
    const outcomes: (() => void)[] = []
    try {
      if (!ready) await db.exec('pragma synchronous = full; pragma fullfsync = on')
      ready = true
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
      const cause = await undo(fault)
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

/** Connections that read see every commit at once, and wait for none. */
const reading = (file: string) => {
  const db = new Database(file, { timeout: patience })
  try {
    db.pragma('journal_mode = wal')
    db.exec(table)
    db.pragma('cache_size = -65536')
  } catch (fault) {
    db.close()
    throw fault
  }
  const statements = new Map<string, Database.Statement>()
  const prepare = (sql: string) => {
    let statement = statements.get(sql)
    if (!statement) statements.set(sql, (statement = db.prepare(sql)))
    return statement
  }
  return { db, prepare }
}

const open = (file: string) => {
  try {
    return { reader: reading(file), writer: writing(file) }
  } catch (cause) {
    throw new Error('sqlite: the file cannot be opened; is its folder there, is it whole, and does nobody hold it?', {
      cause,
    })
  }
}

/** All kinds in one table of one file. Point reads cost microseconds and are done here and now. */
export default plugin({
  port: MetadataStore,
  name: 'sqlite',
  settings: v.strictObject({ file: v.pipe(v.string(), v.minLength(1), v.notValue(':memory:')) }),
  create: (_, { file }): MetadataStore => {
    const { reader, writer } = open(file)
    const known = new Map<string, Promise<unknown>>()
    let closed = false

    const ready = async (kind: Kind<any>) => {
      let it = known.get(kind.name)
      if (!it) {
        const statements = indexed(kind)
        it = statements.length > 0 ? writer.run(() => writer.exec(statements.join(';'))) : Promise.resolve()
        known.set(kind.name, it)
        it.catch(() => known.delete(kind.name))
      }
      await it
    }

    const read = <R>(work: () => R): R => {
      if (closed) throw new Unavailable()
      try {
        return work()
      } catch (fault) {
        throw asUnavailable(fault)
      }
    }

    /** Page and total are of one moment. */
    const page = <T>(sql: string, total: string, values: readonly Value[], limit: number, offset: number) => {
      reader.db.exec('begin')
      try {
        const rows = (reader.prepare(sql).all([...values, limit, offset]) as { id: string; data: string }[]).map(
          ({ id, data }): Row<T> => ({ id, row: JSON.parse(data) as T }),
        )
        const last = rows.length < limit || limit < 0
        if (last && (rows.length > 0 || offset === 0)) return { rows, total: offset + rows.length }
        return { rows, total: (reader.prepare(total).get([...values]) as { total: number }).total }
      } finally {
        reader.db.exec('commit')
      }
    }

    /**
     * SQLite knows the case of ASCII only, so the text is looked for here, slice by slice. On a connection of its
     * own, since one that is in the middle of a listing does not see new commits.
     */
    const search = async <T>(sql: string, values: readonly Value[], has: (row: T) => boolean, limit: number, offset: number) => {
      const db = new Database(file, { timeout: patience })
      try {
        const rows: Row<T>[] = []
        let [seen, total] = [0, 0]
        for (const it of db.prepare(sql).iterate([...values]) as Iterable<{ id: string; data: string }>) {
          const row = JSON.parse(it.data) as T
          if (has(row) && ++total > offset && (limit < 0 || rows.length < limit)) rows.push({ id: it.id, row })
          if (++seen % slice === 0) await turn()
        }
        return { rows, total }
      } catch (fault) {
        throw asUnavailable(fault)
      } finally {
        db.close()
      }
    }

    return {
      async get<T>(kind: Kind<T>, id: string) {
        const found = read(() => reader.prepare('select data from rows where kind = ? and id = ?').get([kind.name, id]))
        return found ? (JSON.parse((found as { data: string }).data) as T) : null
      },
      async create(kind, id, row) {
        await ready(kind)
        const data = JSON.stringify(row)
        return writer.run(async () => {
          const insert = await writer.prepare('insert into rows values (?, ?, ?) on conflict do nothing')
          return insert.run([kind.name, id, data]).changes === 1
        })
      },
      async update<T>(kind: Kind<T>, id: string, change: Partial<T>, when?: Partial<T>) {
        await ready(kind)
        const changes = Object.entries(change).filter(([, value]) => value !== undefined)
        const set = changes.map(([name]) => `, ${place(name)}, json(?)`).join('')
        const held = holding(when)
        const sql = `update rows set data = json_set(data${set}) where kind = ? and id = ?${held.sql} returning data`
        const values = [...changes.map(([, value]) => JSON.stringify(value)), kind.name, id, ...held.values]
        const found = await writer.run(async () => (await writer.prepare(sql)).get(values))
        return found ? (JSON.parse(found.data as string) as T) : null
      },
      async add(kind, id, deltas) {
        await ready(kind)
        return writer.run(async () => {
          const find = await writer.prepare('select data from rows where kind = ? and id = ?')
          const replace = await writer.prepare(
            'insert into rows values (?, ?, ?) on conflict do update set data = excluded.data',
          )
          // Read and written under the one write lock; summed here, since SQLite writes numbers in 15 digits.
          const row = JSON.parse((find.get([kind.name, id])?.data as string | undefined) ?? '{}') as Sums
          const sums = Object.fromEntries(
            Object.entries(deltas).map(([name, delta]) => [name, Number(row[name] ?? 0) + delta]),
          )
          replace.run([kind.name, id, JSON.stringify({ ...row, ...sums })])
          return sums
        })
      },
      async remove(kind, id, when) {
        await ready(kind)
        const held = holding(when)
        const sql = `delete from rows where kind = ? and id = ?${held.sql}`
        const values = [kind.name, id, ...held.values]
        return writer.run(async () => (await writer.prepare(sql)).run(values).changes === 1)
      },
      async list<T>(kind: Kind<T>, query: Query<T>) {
        const { contains, limit = -1, offset = 0 } = query
        const { sql, values } = from(kind, query)
        const rows = `select id, data ${sql} ${sorted(query)}`
        await ready(kind)
        if (!contains) {
          return read(() => page<T>(`${rows} limit ? offset ?`, `select count(*) as total ${sql}`, values, limit, offset))
        }
        const text = contains.text.toLowerCase()
        const has = (row: T) =>
          contains.fields.some((name) => {
            const value = row[name]
            return typeof value === 'string' && value.toLowerCase().includes(text)
          })
        if (closed) throw new Unavailable()
        return search(rows, values, has, limit, offset)
      },
      async dispose() {
        closed = true
        await writer.close()
        reader.db.close()
      },
    }
  },
})
