import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { MetadataStore, type Kind, type Query, type Row } from '../../core/ports/metadata-store.ts'
import { Clock, Log, Random } from '../../core/ports/platform.ts'
import { timer } from '../../core/settings.ts'
import { connection } from './redis/connection.ts'
import { encodeText, sortKey } from './redis/encoding.ts'
import { indexStates } from './redis/indexes.ts'
import { keysWith } from './redis/keys.ts'
import { chooseRange, holds, matches, type RowFields } from './redis/query.ts'
import { changing, scanning } from './redis/rows.ts'
import { get } from './redis/scripts.ts'
import { redisAddress } from './shared/redis-address.ts'

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
