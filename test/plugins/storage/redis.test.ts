import { createClient } from '@keyv/redis'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { clock, log, random } from '../../../adapters/production/platform.ts'
import { use } from '../../../core/plugin.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { kind, MetadataStore, type Query } from '../../../core/ports/metadata-store.ts'
import redis from '../../../plugins/storage/redis.ts'
import { conform } from '../../contracts/contract.ts'
import { metadataStore } from '../../contracts/metadata-store.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { startRedis, wireTo } from '../../fakes/redis.ts'
import { fitted, given } from '../../fitted.ts'
import { isWhole } from '../../whole.ts'
import { counts, keepsOddTexts, type Note, note, notes, readsPages, tenant, unavailable } from './shared-rows.ts'

const bare = kind<Note>('notes')

const server = await startRedis()
const ours = server && process.env.REDIS_URL ? await startRedis({ steer: true }) : server
t.teardown(() => Promise.all([server?.close(), ours !== server && ours?.close()]))
const skip = server ? {} : { skip: 'no redis-server here' }

const at = (t: Test, settings: object = {}, time = use(clock)) => {
  const prefix = `t${randomBytes(6).toString('hex')}`
  const all = { url: server!.url, prefix, ...settings }
  const container = fitted(time, use(random), use(log, { level: 'silent' }), use(redis, all))
  t.teardown(() => container.dispose())
  return { store: container.supply({ store: MetadataStore }).store, prefix, dispose: () => container.dispose() }
}

const beside = async (t: Test, url = server!.url) => {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.destroy())
  return client
}

const ids = async (store: MetadataStore, query: Query<Note>, of = notes) =>
  (await store.list(of, query)).rows.map(({ id }) => id)

/** Time that passes only when told to, so that nobody loses patience with a server that is merely slow. */
const standing = () => {
  const clock = fakeClock()
  return { pass: clock.pass, time: given(Clock, 'clock', () => clock) }
}

t.test('contract', skip, (t) => conform(t, metadataStore.contract, (t) => at(t).store))

t.test('half a surrogate pair is kept', skip, async (t) => {
  const { store } = at(t)
  await keepsOddTexts(t, store)
})

t.test('an index gives the same as looking at every row', skip, async (t) => {
  const { store, prefix } = at(t)
  const { store: without } = at(t, { prefix: `${prefix}-without` })
  const names = [
    null,
    -1e300,
    -10,
    -9.5,
    0,
    5e-324,
    0.1,
    9,
    10,
    1e21,
    '',
    '\0',
    '\u0001',
    '-1',
    'B',
    'a',
    'aa',
    'ä',
    true,
    ['x'],
  ]
  const users = ['u', 'v', null, 'u\0', 'u\u0001']
  for (const [i, name] of names.entries()) {
    for (const [j, user] of users.entries()) {
      const row = { ...note((i * 7) % 5, name as string), user }
      await store.create(notes, `${i} ${j}`, row)
      await without.create(bare, `${i} ${j}`, row)
    }
  }
  const wheres: Partial<Note>[] = [{}, { organization: 'o' }, { organization: 'p' }, { created: 3 }]
  for (const user of users) wheres.push({ organization: 'o', user }, { organization: 'o', user, created: 2 }, { user })
  for (const name of names) wheres.push({ name: name as string })
  const betweens = [
    undefined,
    { field: 'created', from: 1, to: 3 },
    { field: 'created', from: 2 },
    { field: 'created', to: 2 },
  ]
  const more = [
    { field: 'name', from: -10, to: 9 },
    { field: 'name', from: 'a', to: 'ab' },
    { field: 'name', to: 0 },
  ]
  const orders = [undefined, { by: 'created' }, { by: 'created', descending: true }, { by: 'name', descending: true }]
  let compared = 0
  for (const where of wheres) {
    for (const between of [...betweens, ...more]) {
      for (const order of orders) {
        for (const rest of [
          {},
          { limit: 3, offset: 1 },
          { prefix: '1' },
          { contains: { text: 'A', fields: ['name'] } },
        ]) {
          const query = { where, ...(between && { between }), ...(order && { order }), ...rest } as Query<Note>
          const [one, other] = await Promise.all([store.list(notes, query), without.list(bare, query)])
          compared++
          if (JSON.stringify(one) !== JSON.stringify(other)) t.same(one, other, JSON.stringify(query))
        }
      }
    }
  }
  t.ok(compared > 4000, `${compared} queries`)
  const { rows } = await store.list(notes, { order: { by: 'name' }, where: { user: 'u' } })
  t.same(
    rows.map(({ row }) => row.name).filter((name) => typeof name !== 'object' && typeof name !== 'boolean'),
    names.filter((name) => typeof name !== 'object' && typeof name !== 'boolean'),
    'numbers of every size and sign before text',
  )
})

t.test('a row that changes or goes leaves nothing behind in an index', skip, async (t) => {
  const { store, prefix } = at(t)
  const client = await beside(t)
  for (let i = 0; i < 20; i++) await store.create(notes, `n${i}`, note(i))
  for (let i = 0; i < 20; i++) await store.update(notes, `n${i}`, { created: 100 - i, name: 'same' })
  for (let i = 0; i < 20; i++) await store.add(notes, `n${i}`, { created: 0.5 })
  t.same(await ids(store, { ...tenant, limit: 3 }), ['n0', 'n1', 'n2'])
  t.equal(await client.zCard(`{${prefix}}:index notes organization,user,created`), 20)
  t.equal(await client.zCard(`{${prefix}}:index notes name`), 20)
  for (let i = 0; i < 20; i++) await store.remove(notes, `n${i}`)
  const left = await client.keys(`{${prefix}}:*`)
  t.same(
    left.filter((key) => !key.startsWith(`{${prefix}}:done `)),
    [`{${prefix}}:indexes notes`],
  )
})

t.test('processes that change one row at once lose nothing', skip, async (t) => {
  const { store, prefix } = at(t)
  const replicas = [store, ...Array.from({ length: 3 }, () => at(t, { prefix }).store)]
  await Promise.all(
    replicas.map(async (replica) => Promise.all(Array.from({ length: 200 }, () => replica.add(counts, 'c', { n: 1 })))),
  )
  t.same(await store.get(counts, 'c'), { n: 800 })
  const won = await Promise.all(replicas.map((replica, i) => replica.update(counts, 'c', { n: i }, { n: 800 })))
  t.equal(won.filter(Boolean).length, 1)
  const made = await Promise.all(replicas.map((replica) => replica.create(counts, 'd', { n: 1 })))
  t.equal(made.filter(Boolean).length, 1)
  const gone = await Promise.all(replicas.map((replica) => replica.remove(counts, 'd')))
  t.equal(gone.filter(Boolean).length, 1)
})

t.test('an index that is newer than its rows, and than another replica', skip, async (t) => {
  const { store: old, prefix } = at(t)
  const client = await beside(t)
  const key = `{${prefix}}:index notes name`
  for (let i = 0; i < 1200; i += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, j) => old.create(bare, `n${i + j}`, note(i + j))))
  }
  const { store: next } = at(t, { prefix })
  t.same(await ids(next, { where: { name: 'note 7' } }), ['n7'], 'before it is there')
  await old.create(bare, 'meanwhile', note(5000))
  await old.update(bare, 'n8', { name: 'changed meanwhile' })
  const whole = () => client.hGet(`{${prefix}}:indexes notes`, 'name')
  for (let i = 0; i < 200 && (await whole()) !== 'whole'; i++) await sleep(20)
  t.equal(await whole(), 'whole')
  await old.create(bare, 'later', note(5001))
  await old.remove(bare, 'n9')
  t.equal(await client.zCard(key), 1201, 'the older one keeps it too')
  for (const [name, found] of [
    ['note 7', ['n7']],
    ['note 8', []],
    ['changed meanwhile', ['n8']],
    ['note 5001', ['later']],
  ]) {
    t.same(await ids(next, { where: { name: name as string } }), found)
  }
})

const most = isWhole ? 100_000 : 20_000

t.test(`${most} rows of one tenant`, skip, async (t) => {
  const { store } = at(t)
  const filling = performance.now()
  for (let i = 0; i < most; i += 2000) {
    await Promise.all(Array.from({ length: 2000 }, (_, j) => store.create(notes, `note_${i + j}`, note((i + j) * 7))))
  }
  t.comment(`a write among many: ${Math.round(((performance.now() - filling) * 1000) / most)} µs`)
  const client = await beside(t)
  await readsPages(t, store, most, {
    before: async () => ours === server && client.sendCommand(['CONFIG', 'RESETSTAT']),
  })
  if (ours === server) t.match(await client.info('commandstats'), /cmdstat_get:calls=20,/, 'a page is read, not all')
  t.equal(
    (await store.list(notes, { where: { organization: 'o' }, between: { field: 'created', to: 6993 } })).total,
    1000,
  )
  t.same(await ids(store, { prefix: 'note_1999', limit: 2 }), ['note_1999', 'note_19990'])
  t.equal((await store.list(notes, { ...tenant, limit: 1300 })).rows.length, 1300, 'more than one script gives')
})

t.test('a Redis that is silent, gone or back', { skip: !ours && 'no redis-server here' }, async (t) => {
  const { pass, time } = standing()
  const { store } = at(t, { url: ours!.url, patience: 10_000 }, time)
  await store.create(notes, 'a', note(1))
  const each = () => [
    store.get(notes, 'a'),
    store.create(notes, 'b', note(2)),
    store.update(notes, 'a', { created: 2 }, { created: 77 }),
    store.remove(notes, 'x'),
    store.list(notes, {}),
    ...Array.from({ length: 50 }, () => store.add(counts, 'hot', { n: 1 })),
  ]
  const refused = () => Promise.all(each().map((work) => unavailable(t, work)))
  ours!.pause()
  for (let i = 0; i < 2; i++) await Promise.all([refused(), pass(10_000)])
  ours!.resume()
  t.same(await store.get(notes, 'a'), note(1), 'as soon as it speaks again')
  await ours!.stop()
  await refused()
  const late = at(t, { url: ours!.url, patience: 10_000 }, time)
  await unavailable(t, late.store.get(notes, 'a'), /ECONNREFUSED/)
  await ours!.start()
  t.equal(await store.get(notes, 'a'), null, 'this one keeps nothing')
  for (let i = 0; i < 5; i++) t.equal(await store.create(notes, `n${i}`, note(i)), true)
  t.same(await ids(store, { ...tenant, limit: 2 }), ['n4', 'n3'], 'its indexes are announced again')
  t.equal(await late.store.create(notes, 'n0', note(1)), true, 'one that began without a server')
})

t.test('a Redis that was emptied while it ran', { skip: !ours && 'no redis-server here' }, async (t) => {
  const { store } = at(t, { url: ours!.url })
  for (let i = 0; i < 5; i++) await store.create(notes, `n${i}`, note(i))
  const client = await beside(t, ours!.url)
  await client.flushAll()
  t.same(await ids(store, tenant), [])
  await client.flushAll()
  t.equal(await store.create(notes, 'a', note(9)), true)
  t.same(await ids(store, tenant), ['a'])
})

t.test('a wire that is cut without a word', { skip: !ours && 'no redis-server here' }, async (t) => {
  const wire = await wireTo(ours!.url)
  t.teardown(() => wire.close())
  const { pass, time } = standing()
  const { store } = at(t, { url: wire.url, patience: 10_000 }, time)
  await store.create(notes, 'a', note(1))
  wire.cut()
  await Promise.all([unavailable(t, store.get(notes, 'a'), /No answer/), pass(10_000)])
  wire.mend()
  t.same(await store.get(notes, 'a'), note(1))
})

t.test('a wire that breaks with the answer on it', { skip: !ours && 'no redis-server here' }, async (t) => {
  const wire = await wireTo(ours!.url)
  t.teardown(() => wire.close())
  const { store, prefix } = at(t, { url: wire.url, patience: 60_000 }, standing().time)
  await store.create(notes, 'a', note(1))
  await store.add(counts, 'c', { n: 1, turn: 1 })
  wire.breakAfter(0)
  t.equal(await store.create(notes, 'b', note(2)), true, 'is not taken by itself')
  wire.breakAfter(1)
  t.same(await store.update(notes, 'b', { name: 'new' }, { name: 'note 2' }), note(2, 'new'))
  wire.breakAfter(1)
  t.equal(await store.remove(notes, 'b', { name: 'new' }), true)
  wire.breakAfter(1)
  t.same(await store.add(counts, 'c', { n: 1 }), { n: 2 })
  wire.breakAfter(0)
  t.same(await ids(store, tenant), ['a'])

  const again = () => store.add(counts, 'c', { n: 1, turn: 1 }, { turn: 1 })
  wire.breakAfter(1, 0)
  await unavailable(t, again())
  t.equal(await again(), null, 'whoever can tell is told')
  t.same(await store.get(counts, 'c'), { n: 3, turn: 2 })
  const client = await beside(t, ours!.url)
  const remembered = await client.keys(`{${prefix}}:done *`)
  t.equal(remembered.length, 7)
  for (const key of remembered) t.ok((await client.pTTL(key)) > 0, 'for a while')
})

t.test('a replica that Redis 6 tells of in words of its own is no refusal', skip, async (t) => {
  const words = "You can't write against a read only replica."
  const reworded = `-ERR Error running script (call to f_0): @user_script:1: @user_script: 1: -READONLY ${words}\r\n`
  let replicas = 0
  const failover = createServer((near) => {
    near.on('error', () => {})
    if (replicas++ === 0) return void near.on('data', () => near.write(reworded))
    const far = connect(Number(new URL(server!.url).port), new URL(server!.url).hostname).on('error', () => {})
    near.pipe(far).pipe(near)
  }).listen(0, '127.0.0.1')
  await once(failover, 'listening')
  t.teardown(() => failover.close())
  const { store } = at(t, { url: `redis://127.0.0.1:${(failover.address() as AddressInfo).port}` })
  t.equal(await store.create(notes, 'a', note(1)), true, 'on the next connection')
  t.equal(replicas, 2)
})

t.test('a refusal is no reason to hang up', { skip: !ours && 'no redis-server here' }, async (t) => {
  const { store, prefix } = at(t, { url: ours!.url })
  const client = await beside(t, ours!.url)
  await store.create(notes, 'a', note(1))
  const before = Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1])
  await client.set(`{${prefix}}:index counts `, 'x')
  await unavailable(t, store.add(counts, 'c', { n: 1 }), /WRONGTYPE/)
  await client.del(`{${prefix}}:index counts `)
  t.same(await store.add(counts, 'c', { n: 1 }), { n: 1 })
  t.match(await client.info('stats'), `total_connections_received:${before}`)
  await client.sendCommand(['CONFIG', 'SET', 'requirepass', 'secret'])
  const locked = at(t, { url: ours!.url })
  await unavailable(t, locked.store.get(notes, 'a'), /NOAUTH/)
  await client.sendCommand(['AUTH', 'secret'])
  await client.sendCommand(['CONFIG', 'SET', 'requirepass', ''])
  t.equal(await locked.store.get(notes, 'a'), null, 'as soon as it may')
})

t.test('closes when all changes that were asked for are done, and is closed then', skip, async (t) => {
  const { store, prefix, dispose } = at(t)
  const writes = Array.from({ length: 200 }, (_, i) => store.create(counts, `c${i}`, { n: i }))
  await dispose()
  t.equal((await Promise.all(writes)).filter(Boolean).length, 200)
  await unavailable(t, store.get(counts, 'c1'))
  await unavailable(t, store.add(counts, 'c1', { n: 1 }))
  t.equal((await at(t, { prefix }).store.list(counts, {})).total, 200)
})

t.test('a wrong setting fails at boot', async (t) => {
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(redis, { url: 'redis://h', flie: 'y' }), /flie is not a known setting/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(redis, {}), /url is missing/)
  t.throws(() => use(redis, { url: 'redis://h', prefix: 'a b' }), /prefix expected/)
  for (const address of wrongAddresses) t.throws(() => use(redis, { url: address }), wrongAddress, address)
  for (const rest of ['h', ':a%2Fb%25@h:1', 'u:p@[::1]:1/', 'h/12', 'h?family=6', ':@h'])
    t.doesNotThrow(() => use(redis, { url: `rediss://${rest}` }), rest)
})

/** Refused by the driver, which would say the password. */
const wrongAddresses = [
  'redis://:a/b@h',
  'redis://:a%@h',
  'redis://%ff@h',
  'redis://h/main',
  'redis://h/0/',
  'redis://h:x',
]
const wrongAddress = { message: /^redis: url expected an address whose password has %2F [^@]*$/ }
