import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { MetadataStore, type Kind, type Query, type Row } from '../../core/ports/metadata-store.ts'
import { Clock, Log, Random } from '../../core/ports/platform.ts'
import { timer } from '../../core/settings.ts'
import { connection, type Connection } from './redis/connection.ts'
import { encodeText, sortKey, decodeText } from './redis/encoding.ts'
import { indexStates, type IndexStates } from './redis/indexes.ts'
import { keysWith, type KeysOf } from './redis/keys.ts'
import { chooseRange, holds, matches, type RowFields, type IndexRange, memberOf } from './redis/query.ts'
import { get, page, swap } from './redis/scripts.ts'
import { redisAddress } from './shared/redis-address.ts'
import { Unavailable } from '../../core/errors.ts'

/** A counter that does not exist is 0. */
const numberAt = (row: RowFields | null, name: string): number =>
  row && Object.hasOwn(row, name) ? Number(row[name]) : 0

/** Sorts rows for a query that no index orders. */
const sorted = <T>(rows: readonly Row<RowFields>[], { order }: Query<T>): readonly Row<RowFields>[] => {
  const sign = order?.descending ? -1 : 1
  const place = ({ id, row }: Row<RowFields>) => `${order ? `${sortKey(row[order.by])}\0` : ''}${id}`
  return rows
    .map((row) => [place(row), row] as const)
    .sort(([a], [b]) => (a < b ? -sign : sign))
    .map(([, row]) => row)
}

/** Rows as JSON in Redis. The settings `appendonly` and `appendfsync` of Redis decide whether changes survive a crash. */
export default plugin({
  port: MetadataStore,
  name: 'redis',
  settings: v.strictObject({
    url: redisAddress,
    /** The prefix of all keys, in braces: a cluster keeps all keys in one place. */
    prefix: v.optional(v.pipe(v.string(), v.regex(/^[\w:.-]+$/, 'letters, digits and : . - _')), 'sealgate'),
    /** In ms: after this time without an answer, Redis counts as down. */
    patience: v.optional(timer(), 5_000),
  }),
  needs: { clock: Clock, log: Log, random: Random },
  create: ({ clock, log, random }, { url, prefix, patience }): MetadataStore => {
    const redis = connection(clock, url, patience)
    const keysOf = keysWith(prefix)
    const scan = scanning(redis, keysOf)
    let isClosed = false

    /** Swaps each row with itself, which gives the row its members in all indexes. */
    const fill = async <T>(kind: Kind<T>): Promise<void> => {
      for await (const { rows } of scan(kind, chooseRange({}, new Map()))) {
        for (const { id } of rows) await change(kind, id, (row) => row ?? undefined)
      }
    }
    const states = indexStates(redis, keysOf, fill, (cause) => {
      if (!isClosed) log.error('redis.index', {}, cause)
    })
    const { change, settled } = changing({ connection: redis, clock, random, patience, keysOf, states })

    return {
      get: async <T>(kind: Kind<T>, id: string) =>
        JSON.parse((await redis.ask<string | null>(get, [keysOf(kind).row + encodeText(id)])) ?? 'null') as T | null,
      /** The change assumes that the row does not exist, which saves a read. */
      create: async (kind, id, row) =>
        (await change(kind, id, (standing) => (standing ? undefined : (row as RowFields)), '')) !== undefined,
      async update<T>(kind: Kind<T>, id: string, fields: Partial<T>, when?: Partial<T>) {
        // Undefined fields vanish here, and stay unchanged in the row.
        const set = JSON.parse(JSON.stringify(fields)) as RowFields
        const row = await change(kind, id, (before) => (holds(before, when) ? { ...before, ...set } : undefined))
        return (row ?? null) as T | null
      },
      async add(kind, id, deltas, when) {
        const entries = Object.entries(deltas)
        const row = await change(kind, id, (before) => {
          if (when && !holds(before, when)) return undefined
          return {
            ...before,
            ...Object.fromEntries(entries.map(([name, sum]) => [name, sum + numberAt(before, name)])),
          }
        })
        return row ? Object.fromEntries(entries.map(([name]) => [name, row[name] as number])) : null
      },
      remove: async (kind, id, when) =>
        (await change(kind, id, (before) => (holds(before, when) ? null : undefined))) !== undefined,
      list: <T>(kind: Kind<T>, query: Query<T>) =>
        states.within(kind, async (indexes) => {
          const { order, limit = Infinity, offset = 0 } = query
          const range = chooseRange(query, indexes)
          const descending = range.isOrdered && order?.descending === true
          // Redis itself cuts the page when the range has exactly the wanted rows in the wanted order.
          const isDirect = range.isExact && range.isOrdered
          const rows: Row<RowFields>[] = []
          let total: number | null = null
          for await (const page of scan(kind, range, isDirect ? { descending, offset, limit } : { descending })) {
            total ??= page.total
            rows.push(...(isDirect ? page.rows : page.rows.filter(({ id, row }) => matches(id, row, query))))
          }
          if (isDirect) return { rows: rows as unknown as Row<T>[], total: total ?? 0 }
          const ordered = range.isOrdered ? rows : sorted(rows, query)
          return { rows: ordered.slice(offset, offset + limit) as unknown as Row<T>[], total: rows.length }
        }),
      /** Changes under way end first. The filling of an index ends with the connection. */
      async dispose() {
        await settled()
        isClosed = true
        redis.close()
        await states.settled()
      },
    }
  },
})

/** Computes the new row from the old row, or from null. Null removes the row; undefined leaves it unchanged. */
type Change = (row: RowFields | null) => RowFields | null | undefined

/** What one script gives of a range. */
interface ScanPage {
  /** Counts all rows of the range. */
  readonly total: number
  readonly rows: readonly Row<RowFields>[]
}

/** Absent options mean ascending order, from the first row to the last. */
interface ScanOptions {
  readonly descending?: boolean
  /** Rows before the first page. */
  readonly offset?: number
  /** Rows of all pages together. */
  readonly limit?: number
}

/** The rows of one script; Redis runs nothing else during a script. */
const rowsPerScript = 500

/** The rows of a range, page by page. */
const scanning = ({ ask }: Connection, keysOf: KeysOf) =>
  async function* <T>(kind: Kind<T>, range: IndexRange, options: ScanOptions = {}): AsyncGenerator<ScanPage> {
    const { descending = false, offset = 0, limit = Infinity } = options
    const { row, index, indexes } = keysOf(kind)
    const keys = [index + range.fields, indexes]
    let { first, last } = range
    for (let left = limit, skip = offset; ; skip = 0) {
      const bounds = [first, last, descending ? 'desc' : 'asc', `${skip}`, `${Math.min(rowsPerScript, left)}`]
      const args = [range.fields, `${range.depth}`, row, ...bounds]
      const [total, found, end] = await ask<[number, [string, string][], string]>(page, keys, args)
      const rows = found.map(([id, text]) => ({ id: decodeText(id), row: JSON.parse(text) as RowFields }))
      yield { total, rows }
      if ((left -= found.length) <= 0 || found.length < rowsPerScript) return
      if (descending) last = `(${end}`
      else first = `(${end}`
    }
  }

interface Changing {
  readonly connection: Connection
  readonly clock: Clock
  readonly random: Random
  /** In ms: after this time a change makes no further try. The wait in the queue counts. */
  readonly patience: number
  readonly keysOf: KeysOf
  readonly states: IndexStates
}

/** Changes rows. Changes of one row queue in this process, so that only other processes can interfere. */
const changing = ({ connection: { ask }, clock, random, patience, keysOf, states }: Changing) => {
  const turns = new Map<string, Promise<unknown>>()

  /** Reads, changes and swaps until no other process interferes. `assumed` is the expected current text, if known. */
  const swapUntilDone = async <T>(kind: Kind<T>, id: string, change: Change, assumed: string | null, until: number) => {
    const { row, index, indexes, done } = keysOf(kind)
    const key = row + encodeText(id)
    const keys = [key, indexes, done + Buffer.from(random.bytes(12)).toString('base64url')]
    const member = (fields: RowFields | null, name: string) => (fields ? memberOf(name, id, fields) : '')
    for (let standing = assumed; ;) {
      if (clock.now() >= until) throw new Unavailable()
      const text: string = standing ?? (await ask<string | null>(get, [key])) ?? ''
      const before = text ? (JSON.parse(text) as RowFields) : null
      const after = change(before)
      if (after === undefined) return undefined
      standing = await states.within(kind, (all) => {
        const members = [...all.keys()].flatMap((name) => [index + name, member(before, name), member(after, name)])
        const next = after ? JSON.stringify(after) : ''
        return ask<string | null>(swap, keys, [`${all.size}`, text, next, `${2 * patience}`, ...members])
        // The mark of a completed change outlives the second sending, which comes within `patience` ms.
      })
      // Null means that the change is done; a text is what another process stored in between, empty for no
      // row.
      if (standing === null) return after
    }
  }

  return {
    /** Returns the row after the change; null when the row is gone, undefined when it was left unchanged. */
    change<T>(kind: Kind<T>, id: string, change: Change, assumed: string | null = null) {
      const key = keysOf(kind).row + encodeText(id)
      // The time in the queue counts toward the patience of a change.
      const until = clock.now() + patience
      const work = () => swapUntilDone(kind, id, change, assumed, until)
      const turn = (turns.get(key) ?? Promise.resolve()).then(work, work)
      const over = () => turns.get(key) === turn && turns.delete(key)
      turns.set(key, turn)
      turn.then(over, over)
      return turn
    },
    /** Resolves when every change that was begun has ended, well or not. */
    settled: () => Promise.allSettled(turns.values()),
  }
}
