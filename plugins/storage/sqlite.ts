import Database from 'libsql'
import * as v from 'valibot'
import { Unavailable } from '../../core/errors.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { MetadataStore, type Kind, type Query } from '../../core/ports/metadata-store.ts'
import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { openReader } from './sqlite/reader.ts'
import type { ReportConnection } from './sqlite/reports.ts'
import {
  type Clause,
  columns,
  createIndexes,
  createTable,
  from,
  insert,
  orderBy,
  place,
  rowOf,
  selectOne,
  where,
} from './sqlite/statement.ts'
import { fitting, searchOf } from './sqlite/search.ts'
import { openWriter, type Statement } from './sqlite/writer.ts'

const reporting = lazy(() => import('./sqlite/reports.ts'))

/** In ms: the wait for another process. */
const patienceMs = 5000

const rowsIn = ({ sql, values }: Clause): Clause => ({ sql: `select ${columns} ${sql}`, values })

/** Uses a write-ahead log, so that readers see every commit at once and never wait. */
const open = (file: string) => {
  let db: Database.Database | null = null
  try {
    db = new Database(privateFile(file, ['-wal', '-shm']), { timeout: patienceMs })
    db.pragma('journal_mode = wal')
    db.exec(`pragma cache_size = -65536; ${createTable}`)
    return {
      reader: openReader(db, file, patienceMs),
      writer: openWriter(file, patienceMs),
    }
  } catch (cause) {
    db?.close()
    const message = 'sqlite: the file cannot be opened; is its folder there, is it whole, and does nobody hold it?'
    throw new Error(message, { cause })
  }
}

/** Stores all kinds in one table of one file. */
export default plugin({
  port: MetadataStore,
  name: 'sqlite',
  settings: v.strictObject({ file: v.pipe(v.string(), v.minLength(1), v.notValue(':memory:')) }),
  create: (_, { file }): MetadataStore => {
    const { reader, writer } = open(file)
    /** Null until the first report. */
    let opened: ReportConnection | null = null
    let over = false
    const reports = async (): Promise<ReportConnection> => {
      const { openReports } = await reporting()
      if (over) throw new Unavailable()
      return (opened ??= openReports(file, patienceMs))
    }
    /** Indexes by kind, made or in the making. A failed making is forgotten, so that the next call tries again. */
    const indexed = new Map<string, Promise<unknown>>()

    const ensureIndexes = async <T>(kind: Kind<T>): Promise<void> => {
      const known = indexed.get(kind.name)
      if (known) return void (await known)
      const sql = createIndexes(kind).join(';')
      const indexing = sql ? writer.run(() => writer.exec(sql)) : Promise.resolve()
      indexed.set(kind.name, indexing)
      indexing.catch(() => indexed.delete(kind.name))
      await indexing
    }

    /** Rejects with Unavailable when the disk refuses the write or the store is closed. */
    const write = async <T, R>(kind: Kind<T>, sql: string, work: (statement: Statement) => R | Promise<R>) => {
      await ensureIndexes(kind)
      return writer.run(async () => work(await writer.prepare(sql)))
    }

    return {
      async get<T>(kind: Kind<T>, id: string) {
        return reader.one<T>(selectOne, [kind.name, id])
      },
      create(kind, id, row) {
        const values = [kind.name, id, JSON.stringify(row)]
        return write(kind, `${insert} on conflict do nothing`, (statement) => statement.run(values).changes === 1)
      },
      async update<T>(kind: Kind<T>, id: string, change: Partial<T>, when?: Partial<T>) {
        const changes = Object.entries(change).filter(([, value]) => value !== undefined)
        const set = changes.map(([name]) => `, ${place(name)}, json(?)`).join('')
        const held = where(when)
        const sql = `update rows set data = json_set(data${set}) where kind = ? and id = ?${held.sql} returning ${columns}`
        const values = [...changes.map(([, value]) => JSON.stringify(value)), kind.name, id, ...held.values]
        return write(kind, sql, (statement) => {
          const found = statement.get(values)
          return found ? rowOf<T>(found) : null
        })
      },
      add(kind, id, deltas, when) {
        const held = where(when)
        const replace = `${insert} on conflict do update set data = excluded.data`
        return write(kind, replace, async (statement) => {
          // The read and the write share one lock. The sum is made here, since SQLite prints fractions with 15 digits.
          const found = (await writer.prepare(selectOne + held.sql)).get([kind.name, id, ...held.values])
          if (when && !found) return null
          const row = found ? rowOf<Record<string, unknown>>(found) : {}
          const sum = (name: string, delta: number) => (Object.hasOwn(row, name) ? Number(row[name]) : 0) + delta
          const sums = Object.fromEntries(Object.entries(deltas).map(([name, delta]) => [name, sum(name, delta)]))
          statement.run([kind.name, id, JSON.stringify({ ...row, ...sums })])
          return sums
        })
      },
      async remove(kind, id, when) {
        const { sql, values } = where(when)
        const all = [kind.name, id, ...values]
        return write(
          kind,
          `delete from rows where kind = ? and id = ?${sql}`,
          (statement) => statement.run(all).changes === 1,
        )
      },
      async list<T>(kind: Kind<T>, query: Query<T>) {
        const { limit, offset = 0, countTo = -1 } = query
        const search = searchOf(query)
        const clause = from(kind, query)
        const sorting = orderBy(query)
        await ensureIndexes(kind)
        if (search === null) return reader.page<T>(clause, sorting, limit ?? -1, offset, countTo)
        const fits = fitting(search) as (row: T) => boolean
        const select = { sql: `select ${columns} ${clause.sql} ${sorting}`, values: clause.values }
        return reader.search(select, fits, offset, offset + (limit ?? Infinity))
      },
      reports: {
        async list<T>(kind: Kind<T>, query: Query<T>) {
          await ensureIndexes(kind)
          return (await reports()).list<T>(kind, query)
        },
        async group(kind, query, by, fields, part) {
          await ensureIndexes(kind)
          return (await reports()).sums({ work: 'group', ...rowsIn(from(kind, query)), by, fields, part })
        },
        async groups(kind, query, within, by, fields, part) {
          await ensureIndexes(kind)
          return (await reports()).groups({ work: 'groups', ...rowsIn(from(kind, query)), within, by, fields, part })
        },
        async tally(kind, query, field, length, part) {
          await ensureIndexes(kind)
          return (await reports()).sums({ work: 'tally', ...rowsIn(from(kind, query)), field, length, part })
        },
      },
      obstacle: () => writer.obstacle(),
      /** The reports end first, and writes that already wait still reach the disk. */
      async dispose() {
        over = true
        await opened?.close()
        reader.close()
        await writer.close()
      },
    }
  },
})

/** Others than the owner may do nothing with it. */
const tighten = (file: string): void => {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found !== undefined && (found.mode & 0o077) !== 0) chmodSync(file, found.mode & 0o700)
}

/**
 * Makes a file when it isn't there, and keeps it and those of the same name and one of these endings for its owner alone.
 * Throws the system's error.
 */
const privateFile = (file: string, endings: readonly string[]): string => {
  closeSync(openSync(file, 'a', 0o600))
  for (const each of [file, ...endings.map((ending) => file + ending)]) tighten(each)
  return file
}
