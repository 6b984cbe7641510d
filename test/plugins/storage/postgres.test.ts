import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { clock, log } from '../../../adapters/production/platform.ts'
import { Unavailable } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { kind, MetadataStore } from '../../../core/ports/metadata-store.ts'
import postgres from '../../../plugins/storage/postgres.ts'
import { conform } from '../../contracts/contract.ts'
import { metadataStore } from '../../contracts/metadata-store.ts'
import { until } from '../../until.ts'
import { startPostgres } from '../../fakes/postgres.ts'
import { fitted } from '../../fitted.ts'
import { quietClock } from '../../slowness.ts'
import { counts, keepsNamesOut, keepsOddTexts, type Note, note, notes, readsPages, unavailable } from './shared-rows.ts'

const server = await startPostgres()
const ours = server && process.env.PG_URL ? await startPostgres({ steer: true }) : server
t.teardown(() => Promise.all([server?.close(), ours !== server && ours?.close()]))
const skip = server ? {} : { skip: 'no PostgreSQL server here' }

const fresh = () => `t${randomBytes(6).toString('hex')}`

const at = (t: Test, settings: object = {}) => {
  const schema = fresh()
  const all = { url: server!.url, schema, ...settings }
  const container = fitted(use(clock), use(log, { level: 'silent' }), use(postgres, all))
  t.teardown(() => container.dispose())
  return { store: container.supply({ store: MetadataStore }).store, schema, dispose: () => container.dispose() }
}

const beside = async (t: Test, url = server!.url) => {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** Once its indexes are there. */
const indexesOf = async (client: pg.Client, schema: string, count: number) => {
  const sql = `select relname as name from pg_index join pg_class on oid = indexrelid
    where relnamespace = $1::regnamespace and indisvalid and not indisprimary order by 1`
  for (let tries = 0; ; tries++) {
    const { rows } = await client.query<{ name: string }>(sql, [schema])
    if (rows.length >= count || tries > 200) return rows.map(({ name }) => name)
    await sleep(20)
  }
}

const within = async (t: Test, ms: number, work: () => Promise<unknown>) => {
  const clock = quietClock()
  await work()
  const took = clock()
  t.ok(took < ms, `within ${ms} ms: ${Math.round(took)}`)
}

t.test('each connection is asked one statement at a time, so that the driver warns of nothing', skip, async (t) => {
  const warnings: string[] = []
  const heard = ({ message }: Error) => void warnings.push(message)
  process.on('warning', heard)
  t.teardown(() => process.off('warning', heard))
  const busy = new Set<unknown>()
  /** Statements that meet a busy connection. An index may be built beyond the end of this test. */
  const early: string[] = []
  const own = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown> | undefined
  pg.Client.prototype.query = function (this: unknown, ...args: unknown[]) {
    if (busy.has(this)) early.push(String(args[0]))
    busy.add(this)
    const answer = own.apply(this, args)
    answer?.finally(() => busy.delete(this)).catch(() => {})
    return answer
  } as never
  t.teardown(() => (pg.Client.prototype.query = own as never))
  const { store } = at(t)
  await store.create(notes, 'a', note(1))
  await Promise.all(Array.from({ length: 8 }, () => store.get(notes, 'a')))
  await new Promise(setImmediate)
  t.same(warnings, [])
  t.same(early, [])
})

t.test('contract', skip, (t) => conform(t, metadataStore.contract, (t) => at(t).store))

t.test('characters that PostgreSQL refuses are kept', skip, async (t) => {
  const { store } = at(t)
  await keepsOddTexts(t, store)
  const search = async (text: string) => (await store.list(notes, { contains: { text, fields: ['name'] } })).rows.length
  t.equal(await search('\0'), 3)
  t.equal(await search('a\0B'), 1)
  t.equal(await search('lain'), 1)
  const sums = { 'a\0': 1, '\ud83d': 2 }
  t.same(await store.add(counts, 'c', sums), sums)
  t.same(await store.add(counts, 'c', { 'a\0': 1.5 }), { 'a\0': 2.5 })
})

t.test('orders numbers of every size and sign, before text and after nothing', skip, async (t) => {
  const { store } = at(t)
  const values = [
    null,
    -1e300,
    -10,
    -9.5,
    -1,
    -1e-300,
    0,
    5e-324,
    0.1,
    1,
    9,
    10,
    2 ** 53,
    1e21,
    1e300,
    '',
    '-1',
    'B',
    'a',
    'ä',
    '\u{1F642}',
  ]
  const shuffled = [...values].sort((a, b) => ((`${a}`.length * 7919) % 13) - ((`${b}`.length * 7919) % 13))
  for (const name of shuffled) await store.create(notes, `${typeof name} ${name}`, { ...note(1), name: name as string })
  for (const descending of [false, true]) {
    const { rows } = await store.list(notes, { order: { by: 'name', descending } })
    t.same(
      rows.map(({ row }) => row.name),
      descending ? [...values].reverse() : values,
    )
  }
  for (const value of values) {
    const { rows } = await store.list(notes, { where: { name: value as string } })
    t.same(
      rows.map(({ row }) => row.name),
      [value],
      `${value}`,
    )
  }
  t.equal((await store.list(notes, { between: { field: 'name', from: -9.5, to: 0.1 } })).total, 6)
  t.equal((await store.list(notes, { where: { name: -0 as never } })).total, 1)
})

t.test('texts longer than an index can hold', skip, async (t) => {
  const { store, schema } = at(t)
  const client = await beside(t)
  await store.list(notes, {})
  await indexesOf(client, schema, 2)
  const long = (end: string) =>
    randomBytes(5000)
      .toString('hex')
      .replace(/^.{300}/, 'x'.repeat(300)) + end
  const [a, b] = [long('a'), long('b')]
  await store.create(notes, 'a', note(1, a))
  await store.create(notes, 'b', note(2, b))
  t.equal((await store.get(notes, 'a'))?.name, a)
  t.same(
    (await store.list(notes, { where: { name: b } })).rows.map(({ id }) => id),
    ['b'],
  )
  t.equal(await store.update(notes, 'a', { created: 3 }, { name: b }), null)
  t.equal((await store.list(notes, { where: { name: 'x'.repeat(200) } })).total, 0)
  t.equal((await store.list(notes, { where: { name: 'x'.repeat(199) } })).total, 0)
  t.equal(await store.remove(notes, 'a', { name: a }), true)
})

t.test('replicas that start at once make one table, and all its indexes', skip, async (t) => {
  const schema = fresh()
  const replicas = Array.from({ length: 6 }, () => at(t, { schema, connections: 3 }))
  const won = await Promise.all(replicas.flatMap(({ store }) => [1, 2].map(() => store.create(notes, 'a', note(1)))))
  t.equal(won.filter(Boolean).length, 1)
  const sums = await Promise.all(replicas.map(({ store }) => store.add(counts, 'c', { n: 1 })))
  t.same(sums.map((sum) => sum!.n).sort(), [1, 2, 3, 4, 5, 6])
  const client = await beside(t)
  t.same(await indexesOf(client, schema, 2), ['notes:name', 'notes:organization,user,created'])
  t.same((await client.query(`select step from ${schema}.steps`)).rows, [{ step: 1 }])

  await client.query(`insert into ${schema}.steps values (2), (3)`)
  await client.query(`alter table ${schema}.rows add column later text`)
  const { store } = at(t, { schema })
  t.same(await store.get(notes, 'a'), note(1), 'an older one lives with what a newer one has added')
  t.equal(await store.create(notes, 'b', note(2)), true)
  t.same(await store.update(notes, 'b', { created: 3 }), { ...note(2), created: 3 })
  t.equal((await store.list(notes, {})).total, 2)

  await client.query(`update pg_index set indisvalid = false where indexrelid = '${schema}."notes:name"'::regclass`)
  const next = at(t, { schema })
  await next.store.get(notes, 'a')
  t.same(
    await indexesOf(client, schema, 2),
    ['notes:name', 'notes:organization,user,created'],
    'a broken one is mended',
  )
})

t.test('two kinds whose long names begin alike have indexes of their own', skip, async (t) => {
  const { store, schema } = at(t)
  const name = 'a-name-that-goes-on-for-quite-a-while-and-then-some'
  const [one, other] = [
    kind<Note>(`${name}-1`, [['organization', 'name']]),
    kind<Note>(`${name}-2`, [['organization', 'name']]),
  ]
  await store.list(one, {})
  await store.list(other, {})
  t.equal(new Set(await indexesOf(await beside(t), schema, 2)).size, 2)
})

t.test('a hundred thousand rows of one tenant', skip, async (t) => {
  const { store, schema } = at(t)
  const most = 100_000
  const client = await beside(t)
  await store.create(notes, 'note_0', note(0))
  await store.create(notes, 'other', { ...note(5), user: 'v' })
  t.equal((await indexesOf(client, schema, 2)).length, 2)
  await client.query(`insert into ${schema}.rows select 'notes', 'note_' || i, json_build_object('organization', 'o',
    'user', 'u', 'created', i * 7, 'name', 'note ' || i * 7) from generate_series(1, ${most - 1}) as i`)
  await client.query(`analyze ${schema}.rows`)

  const asked: { sql: string; values: unknown[] }[] = []
  const own = pg.Client.prototype.query as (sql: string, values: unknown[]) => unknown
  pg.Client.prototype.query = function (this: unknown, sql: string, values: unknown[]) {
    if (this !== client) asked.push({ sql, values })
    return own.call(this, sql, values)
  } as never
  t.teardown(() => (pg.Client.prototype.query = own as never))

  await readsPages(t, store, most)

  const planOf = async ({ sql, values }: (typeof asked)[number]) => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (analyze, timing off) ${sql}`, values)
    return rows.map((row) => row['QUERY PLAN'])
  }
  const plan = await planOf(asked.at(-1)!)
  for (const line of plan) t.comment(line)
  const text = plan.join('\n')
  t.match(
    text,
    /Index Scan Backward using "notes:organization,user,created" on rows .* rows=2\d loops/,
    'a page is read, not all',
  )
  t.notMatch(text, /Seq Scan/)
  asked.length = 0
  t.equal((await store.list(notes, { where: { organization: 'o', user: 'v' } })).total, 1)
  t.match((await planOf(asked[0]!)).join('\n'), /notes:organization,user,created/)
  asked.length = 0
  t.equal((await store.list(notes, { prefix: 'note_9999' })).total, 11)
  t.match((await planOf(asked[0]!)).join('\n'), /rows_pkey/)
  const { rows } = await store.list(notes, {
    where: { organization: 'o', user: 'u' },
    contains: { text: 'NOTE 69999', fields: ['name'] },
    order: { by: 'created' },
  })
  t.same(
    rows.map(({ row }) => row.created),
    [699_993],
  )
})

t.test('more at once than there are connections', skip, async (t) => {
  const { store } = at(t, { connections: 2 })
  await Promise.all(Array.from({ length: 300 }, () => store.add(counts, 'c', { n: 1 })))
  t.same(await store.get(counts, 'c'), { n: 300 })
})

t.test('changes of one row at once are made where the database has a stricter isolation', skip, async (t) => {
  const strict = new URL(server!.url)
  strict.searchParams.set('options', '-c default_transaction_isolation=serializable')
  const { store } = at(t, { url: strict.href })
  await store.create(notes, 'a', note(1))
  const all = Array.from({ length: 60 }, (_, nth) => [
    store.add(counts, 'c', { n: 1 }),
    store.update(notes, 'a', { created: nth }),
  ])
  await Promise.all(all.flat())
  t.same(await store.get(counts, 'c'), { n: 60 })
})

t.test('a row that another holds, and a full pool, are waited for only so long', skip, async (t) => {
  const { store, schema } = at(t, { connections: 1, patience: 400 })
  await store.create(notes, 'a', note(1))
  const client = await beside(t)
  await client.query('begin')
  await client.query(`select 1 from ${schema}.rows where id = 'a' for update`)
  await within(t, 1500, () =>
    Promise.all([
      unavailable(t, store.update(notes, 'a', { created: 2 }), /57014/),
      unavailable(t, store.get(notes, 'a'), /timeout|57014/),
    ]),
  )
  await client.query('rollback')
  t.same(await store.get(notes, 'a'), note(1))
})

t.test('a fault while running is Unavailable, and passes', skip, async (t) => {
  const { store, schema } = at(t)
  await store.create(notes, 'a', note(1))
  const client = await beside(t)
  await indexesOf(client, schema, 2)
  await client.query(`alter table ${schema}.rows rename to gone`)
  await Promise.all(
    [
      store.get(notes, 'a'),
      store.create(notes, 'b', note(2)),
      store.update(notes, 'a', { created: 2 }),
      store.add(counts, 'c', { n: 1 }),
      store.remove(notes, 'a'),
      store.list(notes, {}),
    ].map((work) => unavailable(t, work, /42P01/)),
  )
  await client.query(`alter table ${schema}.gone rename to rows`)
  t.same(await store.get(notes, 'a'), note(1))
})

t.test('a server that only reads is told, until a write goes well', { skip: !ours && 'no server' }, async (t) => {
  const client = await beside(t, ours!.url)
  await client.query('set default_transaction_read_only = off')
  const configure = async (change: string) => {
    await client.query(`alter system ${change}`)
    await client.query('select pg_reload_conf()')
  }
  const writes: readonly ((store: MetadataStore) => Promise<unknown>)[] = [
    (store) => store.create(notes, fresh(), note(2)),
    (store) => store.update(notes, 'a', { created: 2 }),
    (store) => store.add(counts, 'c', { n: 1 }),
    (store) => store.remove(notes, 'b'),
  ]
  const stores = await Promise.all(
    writes.map(async (write) => {
      const { store } = at(t, { url: ours!.url, connections: 1 })
      await store.create(notes, 'a', note(1))
      t.equal(store.obstacle?.(), null)
      const fails = () =>
        write(store).then(
          () => false,
          () => true,
        )
      return { store, write: () => write(store), fails }
    }),
  )
  await configure('set default_transaction_read_only = on')
  for (const { store, write, fails } of stores) {
    // Each connection reads its settings anew some time after the server was told.
    await until(fails)
    await unavailable(t, write(), /25006/)
    t.equal(store.obstacle?.(), 'The row store takes no writes')
    t.same(await store.get(notes, 'a').then((row) => row?.name), 'note 1', 'reads go on')
  }
  await configure('reset default_transaction_read_only')
  for (const { store, fails } of stores) {
    await until(async () => !(await fails()))
    t.equal(store.obstacle?.(), null)
  }
})

t.test('a server that is silent, gone or back', { skip: !ours && 'no PostgreSQL server here' }, async (t) => {
  const { store } = at(t, { url: ours!.url, patience: 500, connections: 2 })
  await store.create(notes, 'a', note(1))
  const each = () => [
    store.get(notes, 'a'),
    store.add(counts, 'silent', { n: 1 }),
    store.list(notes, {}),
    store.create(notes, 'silent', note(1)),
  ]
  await store.add(counts, 'once', { n: 1 })
  ours!.pause()
  await unavailable(t, store.add(counts, 'once', { n: 1 }))
  await within(t, 2500, () => Promise.all(each().map((work) => unavailable(t, work))))
  await within(t, 2500, () => Promise.all(each().map((work) => unavailable(t, work))))
  ours!.resume()
  t.same(await store.get(notes, 'a'), note(1), 'as soon as it speaks again')
  await sleep(100)
  t.same(await store.get(counts, 'once'), { n: 1 }, 'what nobody waits for any more is not added')

  let acknowledged = 0
  let going = true
  const adding = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (going) {
        await store.add(counts, 'c', { n: 1 }).then(
          () => acknowledged++,
          (fault) => {
            if (!(fault instanceof Unavailable)) throw fault
            return sleep(5)
          },
        )
      }
    }),
  )
  t.ok(await until(() => acknowledged > 10), `${acknowledged} were added`)
  await ours!.stop()
  const before = acknowledged
  await within(t, 1500, () => Promise.all(each().map((work) => unavailable(t, work))))
  const late = at(t, { url: ours!.url, patience: 500 })
  await unavailable(t, late.store.get(notes, 'a'), /ECONNREFUSED/)
  await ours!.start()
  t.same(await store.get(notes, 'a'), note(1), 'a restart loses nothing')
  t.equal(await late.store.create(notes, 'b', note(2)), true, 'one that began without a server')
  t.ok(await until(() => acknowledged > before), 'goes on by itself')
  going = false
  await adding
  const { n } = (await store.get(counts, 'c'))!
  t.ok(n! >= acknowledged && n! <= acknowledged + 4, `${acknowledged} acknowledged, ${n} there`)
})

t.test('closing waits for open calls, but not for a silent server', { skip: !ours && 'no server' }, async (t) => {
  const { store, dispose } = at(t)
  const writes = Array.from({ length: 100 }, (_, i) => store.create(counts, `c${i}`, { n: i }))
  await new Promise(setImmediate)
  await Promise.all(writes)
  await dispose()
  await unavailable(t, store.get(counts, 'c1'))
  const silent = at(t, { url: ours!.url, patience: 400 })
  await silent.store.get(counts, 'c')
  ours!.pause()
  await within(t, 1500, silent.dispose)
  ours!.resume()
})

t.test('no name gets into SQL that could mean something there', skip, async (t) => {
  const { store } = at(t)
  const contains = { text: 'a', fields: [`x"') or 1=1 --`] }
  await t.rejects(store.list(counts, { contains }), /name that cannot be stored/)
  await keepsNamesOut(t, store)
})

t.test('a wrong setting fails at boot', async (t) => {
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(postgres, { url: 'postgres://h/d', flie: 'y' }), /flie is not a known setting/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(postgres, {}), /url is missing/)
  t.throws(() => use(postgres, { url: 'mysql://h/d' }), /url expected/)
  t.throws(() => use(postgres, { url: 'postgres://h/d', schema: 'a"b' }), /schema expected/)
  const wrongAddress = { message: /^postgres: url expected an address whose password has %2F [^@]*$/ }
  for (const rest of ['u:a/b@h/d', 'u:a#b@h/d', 'u:%ff@h/d', 'h:x/d'])
    t.throws(() => use(postgres, { url: `postgres://${rest}` }), wrongAddress, rest)
  for (const rest of ['h/d', 'u:a%2Fb@h:1/d', 'u:a%@h/d', 'u:p@/d?host=/tmp', 'h/d?sslrootcert=/nowhere/ca.pem'])
    t.doesNotThrow(() => use(postgres, { url: `postgresql://${rest}` }), rest)
})
