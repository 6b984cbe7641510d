import { createClient } from '@keyv/redis'
import * as v from 'valibot'
import { Unavailable } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Log, Random } from '../../core/ports/platform.ts'
import { MetadataStore, type Kind, type Query, type Row } from '../../core/ports/metadata-store.ts'

type Fields = Readonly<Record<string, unknown>>
type Way = ReturnType<typeof choose>
/** Makes another row of one, or of none; null for none, undefined to leave it. */
type Change = (row: any) => Fields | null | undefined
/** By the fields, whether an index is whole; also those that only other replicas know. */
type Indexes = ReadonlyMap<string, string>

/** Rows that one script gives; Redis does nothing else meanwhile. */
const slice = 500
/** A refusal that says nothing about the connection. */
const refused = /^(?!READONLY|LOADING|MASTERDOWN)[A-Z]+\b/
const one = `return redis.call('GET', KEYS[1])`

/** Puts one text in the place of another, '' being none, with its members of the indexes; or gives what is there instead. Asked twice, it did it once. */
const swap = `
if redis.call('EXISTS', KEYS[3]) == 1 then return end
if redis.call('HLEN', KEYS[2]) ~= tonumber(ARGV[1]) then return redis.error_reply('STALE indexes') end
local is = redis.call('GET', KEYS[1]) or ''
if is ~= ARGV[2] then return is end
if ARGV[3] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[3]) end
for i = 5, #ARGV, 3 do
  if ARGV[i + 1] ~= '' then redis.call('ZREM', ARGV[i], ARGV[i + 1]) end
  if ARGV[i + 2] ~= '' then redis.call('ZADD', ARGV[i], 0, ARGV[i + 2]) end
end
redis.call('SET', KEYS[3], '', 'PX', ARGV[4])
return false`

/** Says that there are these indexes; where there are no rows, they are whole. Gives all, each with whether it is. */
const announce = `
local whole = ARGV[1] == 'whole' or redis.call('ZCARD', KEYS[1]) == 0
for i = 2, #ARGV do redis.call(whole and 'HSET' or 'HSETNX', KEYS[2], ARGV[i], whole and 'whole' or 'building') end
return redis.call('HGETALL', KEYS[2])`

/** Total, the rows of a page, and where it ended. */
const page = `
local fields, depth, rows, first, last, way = unpack(ARGV)
if redis.call('HGET', KEYS[2], fields) ~= 'whole' then return redis.error_reply('STALE indexes') end
local found, final = {}, ''
local total = redis.call('ZLEXCOUNT', KEYS[1], first, last)
local range = way == 'desc' and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX'
if way == 'desc' then first, last = last, first end
for i, member in ipairs(redis.call(range, KEYS[1], first, last, 'LIMIT', ARGV[7], ARGV[8])) do
  local at = 0
  for _ = 1, tonumber(depth) do at = string.find(member, '\\0', at + 1, true) end
  local id = string.sub(member, at + 1)
  found[i], final = {id, redis.call('GET', rows .. id)}, member
end
return {total, found, final}`

const plain = (name: string): string => {
  if (!/^[\w.:/@+-]+$/.test(name)) throw new Error('A kind or field has a name that cannot be stored')
  return name
}

// Half a character has no bytes of its own: in ids it goes behind a U+0001, and so does that.
const written = (text: string) => text.replace(/[\u0001\p{Cs}]/gu, (it) => `\u0001${it.charCodeAt(0).toString(16)}`)
const read = (text: string) =>
  text.replace(/\u0001(1|d[\da-f]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** A value as text that sorts as values do, nothing before numbers before text, and has no \0 in it. */
const keyOf = (it: unknown): string => {
  if (it === null || it === undefined) return '\u0001'
  if (typeof it === 'string') return `\u0004${written(it).replaceAll('\0', '\u00010')}`
  if (typeof it !== 'number') return `\u0002${JSON.stringify(it)}`
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(it || 0)
  return `\u0003${it < 0 ? 0 : 1}${Buffer.from(it < 0 ? bytes.map((byte) => ~byte) : bytes).toString('hex')}`
}

const holds = (row: Fields | null, fields: object = {}) =>
  row !== null && Object.entries(fields).every(([name, it]) => keyOf(row[name]) === keyOf(it))

/** An index of no fields has all rows by their ids. */
const namesOf = (index: string) => index.split(',').filter(Boolean)
const joined = (names: readonly string[], row: Fields) => names.map((name) => `${keyOf(row[name])}\0`).join('')

const matches = (id: string, row: Fields, { where, between, contains, prefix = '' }: Query<any>): boolean => {
  const at = between && keyOf(row[between.field])
  const text = contains?.text.toLowerCase() ?? ''
  const mentions = (it: unknown) => typeof it === 'string' && it.toLowerCase().includes(text)
  return (
    id.startsWith(prefix) &&
    holds(row, where) &&
    (!at || (at > keyOf(null) && at >= keyOf(between.from) && (between.to === undefined || at <= keyOf(between.to)))) &&
    (!contains || contains.fields.some((name) => mentions(row[name])))
  )
}

/** The index that leaves least to look at, if any; `exact` when all that it gives is wanted, `ordered` when as it is wanted. */
const choose = ({ where = {}, between, contains, prefix, order }: Query<any>, indexes: Indexes) => {
  const wanted = Object.keys(where)
  const [first, last] = prefix ? [`[${written(prefix)}`, `(${written(prefix)}\u{10ffff}`] : ['-', '+']
  const exact = wanted.length === 0 && !between && !contains
  let best = { rank: 0, fields: '', depth: 0, first, last, exact, ordered: !order }
  for (const [fields, state] of indexes) {
    if (state !== 'whole') continue
    const names = [...namesOf(fields), '']
    const held = names.findIndex((name) => !wanted.includes(name))
    const start = joined(names.slice(0, held), where as Fields)
    const range = between?.field === names[held] ? between : undefined
    const exact = wanted.length === held && !between === !range && !contains && !prefix
    const ordered = order ? order.by === names[held] && held === names.length - 2 : held === names.length - 1
    const rank = 2 * held + (range ? 1 : 0) + (exact && ordered ? 100 : 0)
    if (rank <= best.rank) continue
    const first = `[${start}${range ? (range.from === undefined ? '\u0002' : keyOf(range.from)) : ''}`
    const to = range?.to === undefined ? start.slice(0, -1) : `${start}${keyOf(range.to)}`
    best = { rank, fields, depth: names.length - 1, first, last: to ? `(${to}\u0001` : '+', exact, ordered }
  }
  return best
}

/** Rows as JSON in Redis. What was acknowledged outlives a crash of Redis as far as its own `appendonly` and `appendfsync` say. */
export default plugin({
  port: MetadataStore,
  name: 'redis',
  settings: v.strictObject({
    url: v.pipe(v.string(), v.url()),
    /** Before every key, in braces: a cluster keeps them all in one place. */
    prefix: v.optional(v.pipe(v.string(), v.regex(/^[\w:.-]+$/)), 'sealgate'),
    /** Ms without an answer after which Redis counts as down. */
    patience: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 5_000),
  }),
  needs: { clock: Clock, log: Log, random: Random },
  create: ({ clock, log, random }, { url, prefix, patience }): MetadataStore => {
    const known = new Map<string, Promise<Indexes>>()
    const turns = new Map<string, Promise<unknown>>()
    const socket = { connectTimeout: patience, reconnectStrategy: false } as const
    let line: ReturnType<typeof dial> | null = null
    let building: Promise<unknown> = Promise.resolve()
    let closed = false

    const keysOf = ({ name }: Kind<any>) => {
      const at = (what: string) => `{${prefix}}:${what} ${plain(name)}`
      return { row: `${at('row')} `, index: `${at('index')} `, indexes: at('indexes'), done: `${at('done')} ` }
    }
    const dial = () => {
      const client = createClient({ url, disableOfflineQueue: true, disableClientInfo: true, socket })
      const it = { client, up: client.connect() }
      client.on('error', () => hangUp(it))
      it.up.catch(() => hangUp(it))
      return it
    }
    const hangUp = (it: ReturnType<typeof dial>) => {
      if (line === it) line = null
      if (it.client.isOpen) it.client.destroy()
    }

    /** Over one connection for all, made anew when it broke or fell silent: then once more, while there is time. */
    const ask = async (script: string, keys: string[], args: string[] = []): Promise<any> => {
      const until = clock.now() + patience
      for (let again = false; ; again = true) {
        if (closed) throw new Unavailable()
        const it = (line ??= dial())
        try {
          return await new Promise((resolve, reject) => {
            const alarm = clock.alarm(until - clock.now(), () => reject(new Error('No answer in time')))
            const work = it.up.then(() => it.client.eval(script, { keys, arguments: args }))
            work.then(resolve, reject).finally(alarm.off)
          })
        } catch (cause) {
          const told = refused.test((cause as Error).message)
          if (!told) hangUp(it)
          if (told || again || clock.now() >= until) throw new Unavailable(undefined, { cause })
        }
      }
    }

    const prepare = (kind: Kind<any>): Promise<Indexes> => {
      const { index, indexes } = keysOf(kind)
      const names = ['', ...kind.indexes.map((fields) => fields.map(plain).join())]
      const found = known.get(kind.name)
      if (found) return found
      const told = (flat: string[]): Indexes =>
        new Map(flat.flatMap((it, i): [string, string][] => (i % 2 === 0 ? [[it, flat[i + 1]!]] : [])))
      const it = ask(announce, [index, indexes], ['', ...names]).then(told)
      const forget = () => known.delete(kind.name)
      known.set(kind.name, it)
      it.then((states) => {
        if (names.every((name) => states.get(name) === 'whole')) return
        building = build(kind)
          .then(() => ask(announce, [index, indexes], ['whole', ...names]))
          .catch((cause) => closed || log.error('redis.index', {}, cause))
          .finally(forget)
      }, forget)
      return it
    }

    /** A Redis that lost its rows, or a newer replica, has other indexes than are known here: then they are asked for again. */
    const fresh = async <R>(kind: Kind<any>, work: (indexes: Indexes) => Promise<R>): Promise<R> => {
      for (let again = false; ; again = true) {
        try {
          return await work(await prepare(kind))
        } catch (fault) {
          if (again || !((fault as Error).cause as Error)?.message.startsWith('STALE')) throw fault
          known.delete(kind.name)
        }
      }
    }

    /** Brings the rows that were there before an index into it, beside all other work; until then nobody rests on it. */
    const build = async (kind: Kind<any>) => {
      for await (const { rows } of scan(kind, choose({}, new Map()))) {
        for (const { id } of rows) await change(kind, id, (row) => row ?? undefined)
      }
    }

    /** Gives what is there then, undefined when all was left. One after the other here: only other processes come between. */
    const change = (kind: Kind<any>, id: string, next: Change, assumed: string | null = null) => {
      const { row, index, indexes, done } = keysOf(kind)
      const at = row + written(id)
      const keys = [at, indexes, done + Buffer.from(random.bytes(12)).toString('base64url')]
      const until = clock.now() + patience
      const member = (row: Fields | null, it: string) => (row ? joined(namesOf(it), row) + written(id) : '')
      const work = async (): Promise<Fields | null | undefined> => {
        for (let is = assumed; ;) {
          if (clock.now() >= until) throw new Unavailable()
          const now: string = is ?? (await ask(one, [at])) ?? ''
          const before = now ? (JSON.parse(now) as Fields) : null
          const after = next(before)
          if (after === undefined) return undefined
          is = await fresh(kind, (states): Promise<string | null> => {
            const members = [...states.keys()].flatMap((it) => [index + it, member(before, it), member(after, it)])
            const text = after ? JSON.stringify(after) : ''
            return ask(swap, keys, [`${states.size}`, now, text, `${2 * patience}`, ...members])
          })
          if (is === null) return after
        }
      }
      const it = (turns.get(at) ?? Promise.resolve()).then(work, work)
      const over = () => turns.get(at) === it && turns.delete(at)
      turns.set(at, it)
      it.then(over, over)
      return it
    }

    const scan = async function* (kind: Kind<any>, way: Way, back = false, skip = 0, most = Infinity) {
      const { row, index, indexes } = keysOf(kind)
      let { first, last } = way
      for (let left = most, from = skip; ; from = 0) {
        const bounds = [first, last, back ? 'desc' : 'asc', `${from}`, `${Math.min(slice, left)}`]
        const answer = await ask(page, [index + way.fields, indexes], [way.fields, `${way.depth}`, row, ...bounds])
        const [total, found, end] = answer as [number, [string, string][], string]
        yield { total, rows: found.map(([id, text]): Row<any> => ({ id: read(id), row: JSON.parse(text) })) }
        if ((left -= found.length) <= 0 || found.length < slice) return
        ;[first, last] = back ? [first, `(${end}`] : [`(${end}`, last]
      }
    }

    return {
      get: async <T>(kind: Kind<T>, id: string) =>
        JSON.parse((await ask(one, [keysOf(kind).row + written(id)])) ?? 'null') as T | null,
      create: async (kind, id, row) =>
        (await change(kind, id, (is) => (is ? undefined : (row as Fields)), '')) !== undefined,
      async update<T>(kind: Kind<T>, id: string, fields: Partial<T>, when?: Partial<T>) {
        const set = JSON.parse(JSON.stringify(fields)) as Fields
        return ((await change(kind, id, (is) => (holds(is, when) ? { ...is, ...set } : undefined))) ?? null) as T | null
      },
      async add(kind, id, deltas, when) {
        const sum = (is: any, name: string) => deltas[name]! + (is && Object.hasOwn(is, name) ? Number(is[name]) : 0)
        const sums = (is: any) => Object.fromEntries(Object.keys(deltas).map((name) => [name, sum(is, name)]))
        const row = await change(kind, id, (is) => (when && !holds(is, when) ? undefined : { ...is, ...sums(is) }))
        return row ? Object.fromEntries(Object.keys(deltas).map((name) => [name, row[name] as number])) : null
      },
      remove: async (kind, id, when) =>
        (await change(kind, id, (is) => (holds(is, when) ? null : undefined))) !== undefined,
      list: <T>(kind: Kind<T>, query: Query<T>) =>
        fresh(kind, async (indexes) => {
          const { order, limit = Infinity, offset = 0 } = query
          const way = choose(query, indexes)
          const back = way.ordered && order?.descending === true
          const direct = way.exact && way.ordered
          const rows: Row<T>[] = []
          let total = -1
          for await (const it of direct ? scan(kind, way, back, offset, limit) : scan(kind, way, back)) {
            if (total < 0) total = it.total
            rows.push(...(direct ? it.rows : it.rows.filter(({ id, row }) => matches(id, row, query))))
          }
          if (direct) return { rows, total }
          const sign = order?.descending ? -1 : 1
          const place = ({ id, row }: Row<any>) => `${order ? `${keyOf(row[order.by])}\0` : ''}${id}`
          const keyed = rows.map((it) => [place(it), it] as const)
          if (!way.ordered) keyed.sort(([a], [b]) => (a < b ? -sign : sign))
          return { rows: keyed.slice(offset, offset + limit).map(([, it]) => it), total: rows.length }
        }),
      async dispose() {
        await Promise.allSettled(turns.values())
        closed = true
        await building
        if (line) hangUp(line)
      },
    }
  },
})
