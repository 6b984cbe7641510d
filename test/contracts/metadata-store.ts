import { deepEqual, equal, ok } from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import memory from '../../adapters/memory/metadata-store.ts'
import { use } from '../../core/plugin.ts'
import { reportsOf } from '../../plugins/usage/listed-reports.ts'
import { kind, MetadataStore, type Kind, type Part, type Query, type Sum } from '../../core/ports/metadata-store.ts'
import { made } from '../fitted.ts'
import { proof } from './contract.ts'

interface File {
  organization: string
  user?: string | null
  created: number
  name: string
  size?: number
  done?: boolean
  tags?: string[]
}

const files = kind<File>('files', [
  ['organization', 'user', 'created'],
  ['organization', 'name'],
])
const counts = kind<Record<string, number | string>>('counts')

const file = (change: Partial<File> = {}): File => ({ organization: 'o', user: 'u', created: 1, name: 'n', ...change })

const filled = async (fresh: () => Promise<MetadataStore>, rows: Readonly<Record<string, Partial<File>>>) => {
  const store = await fresh()
  for (const [id, row] of Object.entries(rows)) equal(await store.create(files, id, file(row)), true)
  return store
}

const ids = async (store: MetadataStore, query: Query<File>): Promise<string[]> =>
  (await store.list(files, query)).rows.map(({ id }) => id)

/** The ids that match, in whatever order. */
const found = async (store: MetadataStore, query: Query<File>): Promise<string> => {
  const { rows, total } = await store.list(files, query)
  equal(total, rows.length)
  return rows
    .map(({ id }) => id)
    .sort()
    .join(' ')
}

/** Text that some store might read as something else. */
const odd = `ä\u{1F642}'"\\;--%_\n\t\u2028 \${x} null`

const tables = kind<File & { readonly lists: object }>('tables')

/** Eight files of three names. */
const many = Object.fromEntries(
  Array.from({ length: 8 }, (_, at) => {
    const name = at === 0 || at === 2 ? 'n0' : at % 2 === 1 ? 'n2' : 'n1'
    return [`f${at}`, { name, size: at, created: at === 0 ? 2 : at } as Partial<File>] as const
  }),
)

/** Own `__proto__` keys, as JSON.parse makes them. */
const proto = JSON.parse(
  `{"organization":"o","created":1,"name":"n","__proto__":{"a":1},"constructor":2,"ключ":["\u{1F642}"],"":0}`,
) as File

const shown =
  (change: (rows: any[], total: number, query: any) => object) =>
  (right: MetadataStore): Partial<MetadataStore> => ({
    async list<T>(kind: Kind<T>, query: Query<T>) {
      const { rows, total } = await right.list(kind, query)
      return { rows, total, ...change([...rows], total, query) }
    },
  })

/** Patterns as SQL reads them. */
const like = (text: string) =>
  new RegExp(
    text
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('%', '.*')
      .replaceAll('_', '.'),
    'iu',
  )

export const metadataStore = proof({
  contract: {
    'gives back exactly what was created': async (fresh: () => Promise<MetadataStore>) => {
      const row = file({ user: null, size: 0.1, done: false, tags: ['a', 'b'] })
      const store = await filled(fresh, { a: row })
      deepEqual(await store.get(files, 'a'), row)
      deepEqual(await store.list(files, {}), { rows: [{ id: 'a', row }], total: 1 })
    },
    'says null for what is not there': async (fresh) => {
      const store = await filled(fresh, { a: {} })
      for (const id of ['', 'A', 'a ', 'b']) equal(await store.get(files, id), null)
    },
    'kinds are apart': async (fresh) => {
      const store = await filled(fresh, { a: {} })
      equal(await store.get(counts, 'a'), null)
      equal((await store.list(counts, {})).total, 0)
      equal(await store.create(counts, 'a', { n: 1 }), true)
      equal(await store.remove(counts, 'a'), true)
      deepEqual(await store.get(files, 'a'), file())
    },
    'creates nothing where an id is taken': async (fresh) => {
      const store = await filled(fresh, { a: {} })
      equal(await store.create(files, 'a', file({ name: 'other' })), false)
      deepEqual(await store.get(files, 'a'), file())
    },
    'of creates at once, one wins': async (fresh) => {
      const store = await fresh()
      const won = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.create(files, 'a', file({ created: i }))),
      )
      equal(won.filter(Boolean).length, 1)
      equal((await store.get(files, 'a'))?.created, won.indexOf(true))
    },
    'updates the named fields and gives the row': async (fresh) => {
      const store = await filled(fresh, { a: { size: 1, tags: ['x'] }, b: {} })
      const row = file({ size: 9_007_199_254_740_991, tags: ['x'], done: true, user: null })
      deepEqual(await store.update(files, 'a', { size: row.size!, done: true, user: null }), row)
      deepEqual(await store.get(files, 'a'), row)
      deepEqual(await store.get(files, 'b'), file())
      deepEqual(await store.update(files, 'a', {}), row)
    },
    'updates nothing that is not there': async (fresh) => {
      const store = await fresh()
      equal(await store.update(files, 'a', { size: 1 }), null)
      equal(await store.get(files, 'a'), null)
    },
    'updates only while the named fields hold': async (fresh) => {
      const store = await filled(fresh, { a: { size: 1, done: false } })
      for (const when of [{ size: 2 }, { name: '1' }, { done: true }, { size: 1, name: 'm' }, { user: null }]) {
        equal(await store.update(files, 'a', { name: 'no' }, when), null)
      }
      deepEqual(await store.get(files, 'a'), file({ size: 1, done: false }))
      const held = { size: 1, done: false, name: 'n' }
      equal((await store.update(files, 'a', { name: 'yes' }, held))?.name, 'yes')
      equal(await store.update(files, 'a', { name: 'again' }, held), null)
    },
    'null holds where nothing or null is': async (fresh) => {
      const store = await filled(fresh, { a: { user: null }, b: { size: 0 } })
      equal((await store.update(files, 'a', { name: 'x' }, { user: null, size: null } as never))?.name, 'x')
      equal(await store.update(files, 'b', { name: 'x' }, { size: null } as never), null)
      equal(await found(store, { where: { size: null } as never }), 'a')
      equal(await found(store, { where: { user: null } }), 'a')
    },
    'of conditional updates at once, one wins': async (fresh) => {
      const store = await filled(fresh, { a: { size: 0 } })
      const won = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.update(files, 'a', { size: i + 1 }, { size: 0 })),
      )
      const winners = won.filter((row) => row !== null)
      equal(winners.length, 1)
      deepEqual(await store.get(files, 'a'), winners[0])
    },
    'adds, makes the row, and gives the sums': async (fresh) => {
      const store = await fresh()
      deepEqual(await store.add(counts, 'a', { calls: 1, tokens: 2.5 }), { calls: 1, tokens: 2.5 })
      deepEqual(await store.add(counts, 'a', { tokens: -0.25, other: 3 }), { tokens: 2.25, other: 3 })
      deepEqual(await store.get(counts, 'a'), { calls: 1, tokens: 2.25, other: 3 })
      equal(await store.create(counts, 'b', { name: odd }), true)
      deepEqual(await store.add(counts, 'b', { big: 9_007_199_254_740_990 }), { big: 9_007_199_254_740_990 })
      deepEqual(await store.add(counts, 'b', { big: 1 }), { big: 9_007_199_254_740_991 })
      deepEqual(await store.get(counts, 'b'), { name: odd, big: 9_007_199_254_740_991 })
      deepEqual(await store.add(counts, 'c', { constructor: 1 } as never), { constructor: 1 })
    },
    'loses none of what is added at once': async (fresh) => {
      const store = await fresh()
      const sums = await Promise.all(Array.from({ length: 50 }, () => store.add(counts, 'a', { n: 1, m: 2 })))
      deepEqual(await store.get(counts, 'a'), { n: 50, m: 100 })
      deepEqual(
        sums.map((sum) => sum!['n']!).sort((a, b) => a - b),
        Array.from({ length: 50 }, (_, i) => i + 1),
      )
    },
    'adds only while the named fields hold': async (fresh) => {
      const store = await fresh()
      equal(await store.add(counts, 'a', { n: 1 }, { turn: null } as never), null)
      equal(await store.get(counts, 'a'), null)
      deepEqual(await store.add(counts, 'a', { n: 1 }), { n: 1 })
      deepEqual(await store.add(counts, 'a', { n: 1, turn: 1 }, { turn: null } as never), { n: 2, turn: 1 })
      for (const when of [{ turn: null }, { turn: '1' }, { turn: 1, n: 1 }, { turn: 2 }]) {
        equal(await store.add(counts, 'a', { n: 1, turn: 1 }, when as never), null)
      }
      deepEqual(await store.get(counts, 'a'), { n: 2, turn: 1 })
      deepEqual(await store.add(counts, 'a', { n: 0.5, turn: 1 }, { turn: 1, n: 2 }), { n: 2.5, turn: 2 })
    },
    'of conditional additions at once, one wins': async (fresh) => {
      const store = await fresh()
      equal(await store.create(counts, 'a', { n: 0 }), true)
      const sums = await Promise.all(
        Array.from({ length: 20 }, () => store.add(counts, 'a', { n: 1, turn: 1 }, { n: 0 })),
      )
      deepEqual(sums.filter(Boolean), [{ n: 1, turn: 1 }])
      deepEqual(await store.get(counts, 'a'), { n: 1, turn: 1 })
    },
    'removes, and tells whether': async (fresh) => {
      const store = await filled(fresh, { a: {}, b: {} })
      equal(await store.remove(files, 'a'), true)
      equal(await store.remove(files, 'a'), false)
      equal(await found(store, {}), 'b')
      equal(await store.create(files, 'a', file()), true)
    },
    'removes only while the named fields hold': async (fresh) => {
      const store = await filled(fresh, { a: { size: 1 } })
      equal(await store.remove(files, 'a', { size: 2 }), false)
      equal(await store.remove(files, 'a', { size: 1, user: null }), false)
      equal(await store.remove(files, 'b', {}), false)
      equal(await found(store, {}), 'a')
      equal(await store.remove(files, 'a', { size: 1, user: 'u' }), true)
      equal(await found(store, {}), '')
    },
    'lists rows whose fields are equal': async (fresh) => {
      const store = await filled(fresh, {
        a: {},
        b: { user: 'v' },
        c: { organization: 'p' },
        d: { name: '1', size: 1, done: true },
        e: { name: 'N', done: false },
      })
      equal(await found(store, { where: {} }), 'a b c d e')
      equal(await found(store, { where: { organization: 'o', user: 'u' } }), 'a d e')
      equal(await found(store, { where: { name: 'n', organization: 'p' } }), 'c')
      equal(await found(store, { where: { size: 1 } }), 'd')
      equal(await found(store, { where: { name: 1 } as never }), '')
      equal(await found(store, { where: { done: true } }), 'd')
      equal(await found(store, { where: { done: false } }), 'e')
      equal(await found(store, { where: { name: "n' or '1'='1" } }), '')
    },
    'lists between two values, both included': async (fresh) => {
      const store = await filled(fresh, {
        a: { created: 2, name: '2026-01-02' },
        b: { created: 9, name: '2026-01-09' },
        c: { created: 10, name: '2026-01-10' },
        d: { created: 100.5, name: '2026-02', size: 1 },
      })
      equal(await found(store, { between: { field: 'created', from: 9, to: 10 } }), 'b c')
      equal(await found(store, { between: { field: 'created', from: 9.5 } }), 'c d')
      equal(await found(store, { between: { field: 'created', to: 2 } }), 'a')
      equal(await found(store, { between: { field: 'created', from: 11, to: 100 } }), '')
      equal(await found(store, { between: { field: 'name', from: '2026-01-09', to: '2026-02' } }), 'b c d')
      equal(await found(store, { between: { field: 'size', from: 0 } }), 'd')
      equal(await found(store, { between: { field: 'size', to: 5 } }), 'd')
    },
    'finds text in any case, and reads nothing in it as a pattern': async (fresh) => {
      const store = await filled(fresh, {
        a: { name: 'Annual Report' },
        b: { name: '100% sure', user: 'REPORT' },
        c: { name: '100 percent' },
        d: { name: 'snake_case' },
        e: { name: 'snakeXcase' },
        f: { name: `O'Brien "quoted" back\\slash` },
        g: { name: 'ÜBER Жук Ωmega' },
        h: { name: '[a-z]*?' },
      })
      const search = (text: string, ...fields: ('name' | 'user' | 'size')[]) =>
        found(store, { contains: { text, fields: fields.length ? fields : ['name'] } })
      equal(await search('rEPORT'), 'a')
      equal(await search('report', 'name', 'user'), 'a b')
      equal(await search('report', 'user'), 'b')
      equal(await search('00%'), 'b')
      equal(await search('%'), 'b')
      equal(await search('e_c'), 'd')
      equal(await search("o'b"), 'f')
      equal(await search('"QUOTED"'), 'f')
      equal(await search('k\\s'), 'f')
      equal(await search('über жУК ωM'), 'g')
      equal(await search('[A-Z]*?'), 'h')
      equal(await search('.*'), '')
      equal(await search('n', 'size'), '')
      equal(await search(''), 'a b c d e f g h')
    },
    'finds text among the rows that the rest of the query names, page by page': async (fresh) => {
      const rows = Array.from({ length: 30 }, (_, i) => [
        `f${String(i).padStart(2, '0')}`,
        { created: 100 - i, name: i % 2 ? 'Needle' : 'hay', user: i < 20 ? 'u' : 'v' },
      ])
      const store = await filled(fresh, Object.fromEntries(rows) as Record<string, Partial<File>>)
      const query: Query<File> = {
        where: { organization: 'o', user: 'u' },
        contains: { text: 'needle', fields: ['name'] },
        order: { by: 'created' },
      }
      deepEqual(await ids(store, { ...query, limit: 3 }), ['f19', 'f17', 'f15'])
      deepEqual(await ids(store, { ...query, limit: 3, offset: 8 }), ['f03', 'f01'])
      equal((await store.list(files, { ...query, limit: 3, offset: 8 })).total, 10)
    },
    'lists ids that begin so': async (fresh) => {
      const store = await filled(fresh, { a: {}, 'a:1': {}, 'a:2': {}, 'a%': {}, 'A:3': {}, b: {}, 'a:\u{1F642}': {} })
      equal(await found(store, { prefix: 'a:' }), 'a:1 a:2 a:\u{1F642}')
      equal(await found(store, { prefix: 'a%' }), 'a%')
      equal(await found(store, { prefix: '_' }), '')
      equal((await store.list(files, { prefix: '' })).total, 7)
    },
    'lists ids behind another one': async (fresh) => {
      const store = await filled(fresh, {
        a: { user: 'v' },
        'a:1': {},
        'a:2': { user: 'v' },
        B: {},
        '\u{1F642}': { user: 'v' },
      })
      equal(await found(store, { after: '' }), 'B a a:1 a:2 \u{1F642}')
      equal(await found(store, { after: 'a' }), 'a:1 a:2 \u{1F642}')
      deepEqual(await ids(store, { after: 'a:1', limit: 1 }), ['a:2'])
      equal(await found(store, { after: 'a:1', prefix: 'a' }), 'a:2')
      equal(await found(store, { after: 'B', prefix: 'a:' }), 'a:1 a:2')
      equal(await found(store, { after: 'a', where: { user: 'v' } }), 'a:2 \u{1F642}')
      equal(await found(store, { after: '\u{1F642}' }), '')
      equal((await store.list(files, { after: 'a', limit: 1 })).total, 3)
    },
    'orders by a field, ties by id in the same direction': async (fresh) => {
      const store = await filled(fresh, {
        b: { created: 10, name: 'x' },
        a: { created: 10, name: 'y' },
        d: { created: 9, name: 'y' },
        c: { created: 100, name: 'y' },
      })
      deepEqual(await ids(store, { order: { by: 'created' } }), ['d', 'a', 'b', 'c'])
      deepEqual(await ids(store, { order: { by: 'created', descending: true } }), ['c', 'b', 'a', 'd'])
      deepEqual(await ids(store, { order: { by: 'name' } }), ['b', 'a', 'c', 'd'])
      deepEqual(await ids(store, { order: { by: 'name', descending: true } }), ['d', 'c', 'a', 'b'])
      const tenant: Query<File> = {
        where: { organization: 'o', user: 'u' },
        order: { by: 'created', descending: true },
      }
      deepEqual(await ids(store, tenant), ['c', 'b', 'a', 'd'])
    },
    'orders by id when nothing else is said': async (fresh) => {
      const store = await filled(fresh, { 'b-2': {}, a: {}, 'b-10': {}, B: {} })
      deepEqual(await ids(store, {}), ['B', 'a', 'b-10', 'b-2'])
      deepEqual(await ids(store, { where: { organization: 'o' } }), ['B', 'a', 'b-10', 'b-2'])
    },
    'gives a page, and the total of all that match': async (fresh) => {
      const rows = Array.from({ length: 25 }, (_, i) => [`f${10 + i}`, { user: i < 20 ? 'u' : 'v' }])
      const store = await filled(fresh, Object.fromEntries(rows) as Record<string, Partial<File>>)
      const page = async (query: Query<File>) => {
        const { rows, total } = await store.list(files, { where: { user: 'u' }, ...query })
        return [total, rows.map(({ id }) => id).join(' ')]
      }
      deepEqual(await page({ limit: 2 }), [20, 'f10 f11'])
      deepEqual(await page({ limit: 3, offset: 9 }), [20, 'f19 f20 f21'])
      deepEqual(await page({ limit: 5, offset: 18 }), [20, 'f28 f29'])
      deepEqual(await page({ offset: 18 }), [20, 'f28 f29'])
      deepEqual(await page({ limit: 5, offset: 100 }), [20, ''])
      deepEqual(await page({ limit: 0 }), [20, ''])
    },
    'counts at least as far as it is asked to': async (fresh) => {
      const store = await filled(fresh, { a: {}, b: {}, c: {}, d: { organization: 'p' } })
      const { rows, total } = await store.list(files, { where: { organization: 'o' }, limit: 1, countTo: 2 })
      deepEqual([rows.length, total === 2 || total === 3], [1, true])
      equal((await store.list(files, { where: { organization: 'o' }, limit: 1, countTo: 9 })).total, 3)
    },
    'rows are copies': async (fresh) => {
      const store = await fresh()
      const given = file({ tags: ['a'] })
      await store.create(files, 'a', given)
      given.tags!.push('b')
      const change = { tags: ['c'] }
      const given2 = await store.update(files, 'a', change)
      change.tags.push('d')
      given2!.tags!.push('e')
      ;(await store.get(files, 'a'))!.tags!.push('f')
      ;(await store.list(files, {})).rows[0]!.row.tags!.push('g')
      deepEqual(await store.get(files, 'a'), file({ tags: ['c'] }))
      const sums = await store.add(counts, 'n', { n: 1 })
      ;(sums as Record<string, number>).n = 7
      deepEqual(await store.get(counts, 'n'), { n: 1 })
    },
    'keeps any text in ids and rows': async (fresh) => {
      const store = await filled(fresh, { [odd]: { name: odd, tags: [odd] }, [`${odd}2`]: {} })
      deepEqual(await store.get(files, odd), file({ name: odd, tags: [odd] }))
      equal((await store.update(files, odd, { user: odd }, { name: odd }))?.user, odd)
      deepEqual(await ids(store, { where: { name: odd, user: odd }, prefix: odd }), [odd])
      equal(await store.remove(files, odd, { name: odd }), true)
    },
    'keeps any key in rows': async (fresh) => {
      const store = await fresh()
      equal(await store.create(files, 'a', proto), true)
      const kept = (row: unknown) => equal(JSON.stringify(row, null, 1), JSON.stringify({ ...proto, size: 1 }, null, 1))
      kept(await store.update(files, 'a', { size: 1 }))
      kept(await store.get(files, 'a'))
      kept((await store.list(files, {})).rows[0]?.row)
      ok(!('a' in {}), 'no prototype was touched')
    },
    'a report lists what a listing does': async (fresh) => {
      const store = await filled(fresh, many)
      const query = { where: { organization: 'o' }, order: { by: 'created', descending: true }, limit: 3, offset: 2 }
      deepEqual(await reportsOf(store).list(files, query as Query<File>), await store.list(files, query as Query<File>))
      equal((await reportsOf(store).list(files, query as Query<File>)).total, 8)
      const search = { contains: { text: 'N1', fields: ['name'] } } as Query<File>
      deepEqual(await reportsOf(store).list(files, search), await store.list(files, search))
    },
    'a report adds up fields by name': async (fresh) => {
      const store = await filled(fresh, {
        ...many,
        other: { organization: 'p', name: 'n1', size: 64 },
        bare: { user: null, size: 0.5 },
      })
      const query = { where: { organization: 'o' } }
      const { group } = reportsOf(store)
      const sums = [
        { name: 'n', sums: [0.5, 1] },
        { name: 'n0', sums: [2, 4] },
        { name: 'n1', sums: [10, 10] },
        { name: 'n2', sums: [16, 16] },
      ]
      deepEqual(await group(files, query, 'name', ['size', 'created'], { limit: 9 }), sums)
      deepEqual(await group(files, query, 'name', ['size', 'created'], { limit: 2 }), sums.slice(0, 2))
      deepEqual(await group(files, query, 'name', ['size', 'created'], { after: 'n0', limit: 9 }), sums.slice(2))
      const named = await group(
        files,
        { ...query, between: { field: 'created', to: 3 }, prefix: 'b' },
        'user',
        ['size'],
        { limit: 9 },
      )
      deepEqual(named, [{ name: '', sums: [0.5] }], 'no name is the empty one')
    },
    'a report adds up fields by several names within others, and cuts none of these': async (fresh) => {
      const store = await filled(fresh, {
        ...many,
        other: { organization: 'p', name: 'n1', user: 'v', size: 64 },
        last: { organization: odd, user: null, size: 0.5 },
        out: { name: 'n9', created: 9 },
      })
      const query = { between: { field: 'created', to: 8 } } as const
      const ask = (part: Part) =>
        reportsOf(store).groups(files, query, 'organization', ['name', 'user'], ['size', 'created'], part)
      const within = (within: string, name: readonly Sum[], user: readonly Sum[]) => [
        { within, by: 'name', sums: name },
        { within, by: 'user', sums: user },
      ]
      const sum = (name: string, ...sums: number[]): Sum => ({ name, sums })
      const o = within('o', [sum('n0', 2, 4), sum('n1', 10, 10), sum('n2', 16, 16)], [sum('u', 28, 30)])
      const p = within('p', [sum('n1', 64, 1)], [sum('v', 64, 1)])
      const rest = within(odd, [sum('n', 0.5, 1)], [sum('', 0.5, 1)])
      deepEqual(await ask({ limit: 99 }), [...o, ...p, ...rest])
      deepEqual(await ask({ limit: 1 }), o)
      deepEqual(await ask({ limit: 5 }), [...o, ...p])
      deepEqual(await ask({ after: 'o', limit: 2 }), p)
      deepEqual(await ask({ after: odd, limit: 2 }), [])
    },
    'a report adds up lists by name': async (fresh) => {
      const store = await fresh()
      const table = (organization: string, lists: object) => ({ ...file({ organization }), lists })
      await store.create(tables, 'a', table('o', { x: [1, 2], y: [3, 4.5] }))
      await store.create(tables, 'b', table('o', { y: [10, 20], [odd]: [7, 8] }))
      await store.create(tables, 'c', table('p', { x: [100, 100] }))
      const { tally } = reportsOf(store)
      const query = { where: { organization: 'o' } }
      const sums = [
        { name: 'x', sums: [1, 2] },
        { name: 'y', sums: [13, 24.5] },
        { name: odd, sums: [7, 8] },
      ]
      deepEqual(await tally(tables, query, 'lists', 2, { limit: 9 }), sums)
      deepEqual(await tally(tables, query, 'lists', 2, { after: 'x', limit: 1 }), sums.slice(1, 2))
      deepEqual(await tally(tables, { ...query, prefix: 'a' }, 'lists', 1, { limit: 1 }), [{ name: 'x', sums: [1] }])
    },
  },
  right: () => made(MetadataStore, use(memory)),
  wrong: {
    'gives back exactly what was created': (right) => ({
      create: (kind, id, row) =>
        right.create(
          kind,
          id,
          Object.fromEntries(Object.entries(row as object).filter(([, value]) => value !== null)) as never,
        ),
    }),
    'says null for what is not there': (right) => ({ get: (kind, id) => right.get(kind, id.trim()) }),
    'kinds are apart': (right) => ({ get: (_, id) => right.get(files, id) as never }),
    'creates nothing where an id is taken': (right) => ({
      async create(kind, id, row) {
        const created = await right.create(kind, id, row)
        if (!created) await right.update(kind, id, row)
        return created
      },
    }),
    'of creates at once, one wins': (right) => ({
      async create(kind, id, row) {
        if (await right.get(kind, id)) return false
        await turn()
        return (await right.create(kind, id, row)) || (await right.update(kind, id, row)) !== null
      },
    }),
    'updates the named fields and gives the row': (right) => ({
      async update(kind, id, change, when) {
        if (!(await right.update(kind, id, {}, when))) return null
        await right.remove(kind, id)
        await right.create(kind, id, change as never)
        return right.get(kind, id)
      },
    }),
    'updates nothing that is not there': (right) => ({
      async update(kind, id, change, when) {
        await right.create(kind, id, {} as never)
        return right.update(kind, id, change, when)
      },
    }),
    'updates only while the named fields hold': (right) => ({
      async update(kind, id, change, when = {}) {
        for (const one of Object.entries(when)) {
          const row = await right.update(kind, id, change, Object.fromEntries([one]) as never)
          if (row) return row
        }
        return null
      },
    }),
    'null holds where nothing or null is': (right) => ({
      update: async (kind, id, change, when = {}) =>
        Object.values(when).includes(null as never) ? null : right.update(kind, id, change, when),
    }),
    'of conditional updates at once, one wins': (right) => ({
      async update(kind, id, change, when) {
        if (!(await right.update(kind, id, {}, when))) return null
        await turn()
        return right.update(kind, id, change)
      },
    }),
    'adds, makes the row, and gives the sums': (right) => ({
      async add(kind, id, deltas) {
        if (!(await right.get(kind, id))) return deltas
        return right.add(kind, id, deltas)
      },
    }),
    'loses none of what is added at once': (right) => ({
      async add(kind, id, deltas) {
        const row = ((await right.get(kind, id)) ?? {}) as Record<string, number>
        await turn()
        const sums = Object.fromEntries(Object.entries(deltas).map(([name, delta]) => [name, (row[name] ?? 0) + delta]))
        if (!(await right.create(kind, id, sums as never))) await right.update(kind, id, sums as never)
        return sums
      },
    }),
    'adds only while the named fields hold': (right) => ({
      add: (kind, id, deltas) => right.add(kind, id, deltas),
    }),
    'of conditional additions at once, one wins': (right) => ({
      async add(kind, id, deltas, when) {
        if (!(await right.update(kind, id, {}, when))) return null
        await turn()
        return right.add(kind, id, deltas)
      },
    }),
    'removes, and tells whether': (right) => ({
      async remove(kind, id, when) {
        await right.remove(kind, id, when)
        return true
      },
    }),
    'removes only while the named fields hold': (right) => ({ remove: (kind, id) => right.remove(kind, id) }),
    'lists rows whose fields are equal': shown((rows, _, { where }) =>
      // As stores do whose values are all text.
      where?.name === 1 ? { rows: rows.concat({ id: 'd' }), total: 1 } : {},
    ),
    'lists between two values, both included': shown((rows, total, { between }) => {
      const inside = rows.filter(({ row }) => row[between.field] !== between.to)
      return { rows: inside, total: total - (rows.length - inside.length) }
    }),
    'finds text in any case, and reads nothing in it as a pattern': (right) => ({
      async list<T>(kind: Kind<T>, { contains, ...query }: Query<T>) {
        const { rows } = await right.list(kind, query)
        const found = rows.filter(
          ({ row }) => !contains || contains.fields.some((name) => like(contains.text).test(String(row[name] ?? ''))),
        )
        return { rows: found, total: found.length }
      },
    }),
    'finds text among the rows that the rest of the query names, page by page': (right) => ({
      async list<T>(kind: Kind<T>, { contains, ...query }: Query<T>) {
        const { rows, total } = await right.list(kind, query)
        const has = (value: unknown) => String(value).toLowerCase().includes(contains!.text)
        return { rows: rows.filter(({ row }) => contains!.fields.some((name) => has(row[name]))), total }
      },
    }),
    'lists ids that begin so': (right) => ({
      async list<T>(kind: Kind<T>, { prefix = '', ...query }: Query<T>) {
        const { rows } = await right.list(kind, query)
        const found = rows.filter(({ id }) => id.toLowerCase().startsWith(prefix.toLowerCase()))
        return { rows: found, total: found.length }
      },
    }),
    'lists ids behind another one': (right) => ({
      list: <T>(kind: Kind<T>, { after: _, ...query }: Query<T>) => right.list(kind, query),
    }),
    'orders by a field, ties by id in the same direction': (right) => ({
      async list<T>(kind: Kind<T>, query: Query<T>) {
        const { rows, total } = await right.list(kind, query)
        const by = query.order?.by
        const sorted = [...rows].sort((a, b) => (by && a.row[by] === b.row[by] ? (a.id < b.id ? -1 : 1) : 0))
        return { rows: sorted, total }
      },
    }),
    'orders by id when nothing else is said': shown((rows) => ({
      rows: rows.sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true })),
    })),
    'gives a page, and the total of all that match': shown((rows) => ({ total: rows.length })),
    'counts at least as far as it is asked to': (store) => ({
      list: async (kind, query) => {
        const { rows, total } = await store.list(kind, query)
        return { rows, total: query.countTo === undefined ? total : rows.length }
      },
    }),
    'rows are copies': () => {
      const kept = new Map<string, any>()
      return {
        get: async (_, id) => kept.get(id) ?? null,
        create: async (_, id, row) => Boolean(kept.set(id, row)),
        update: async (_, id, change) => Object.assign(kept.get(id), change),
        list: async () => ({ rows: [...kept].map(([id, row]) => ({ id, row })), total: kept.size }),
      }
    },
    'keeps any text in ids and rows': (right) => ({
      create: (kind, id, row) =>
        right.create(
          kind,
          id,
          JSON.parse(JSON.stringify(row).replaceAll('\\u2028', ' ').replaceAll('\u2028', ' ')) as never,
        ),
    }),
    'keeps any key in rows': (right) => ({
      create: (kind, id, row) => right.create(kind, id, Object.assign({}, row)),
    }),
    'a report lists what a listing does': (right) => ({
      reports: {
        ...reportsOf(right),
        list: async (kind, query) => {
          const { rows } = await right.list(kind, query)
          return { rows, total: rows.length }
        },
      },
    }),
    'a report adds up fields by name': (right) => ({
      reports: {
        ...reportsOf(right),
        group: (kind, query, by, fields, { limit }) => reportsOf(right).group(kind, query, by, fields, { limit }),
      },
    }),
    'a report adds up fields by several names within others, and cuts none of these': (right) => ({
      reports: {
        ...reportsOf(right),
        groups: async (kind, query, within, by, fields, { limit, ...part }) =>
          (await reportsOf(right).groups(kind, query, within, by, fields, { limit, ...part })).slice(0, limit),
      },
    }),
    'a report adds up lists by name': (right) => ({
      reports: {
        ...reportsOf(right),
        tally: (kind, { where: _, ...query }, field, length, part) =>
          reportsOf(right).tally(kind, query, field, length, part),
      },
    }),
  },
})
