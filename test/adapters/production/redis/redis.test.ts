import { createClient } from '@keyv/redis'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import cachePlugin from '../../../../adapters/production/redis/cache.ts'
import limiterPlugin from '../../../../adapters/production/redis/rate-limiter.ts'
import { connectRedis } from '../../../../adapters/production/redis/redis.ts'
import { clock } from '../../../../adapters/memory/platform.ts'
import type { Fitting, Port } from '../../../../core/container.ts'
import { Unavailable } from '../../../../core/errors.ts'
import { use } from '../../../../core/plugin.ts'
import { Cache } from '../../../../core/ports/cache.ts'
import { Log } from '../../../../core/ports/platform.ts'
import { RateLimiter, type Charge } from '../../../../core/ports/rate-limiter.ts'
import { cache } from '../../../contracts/cache.ts'
import { conform } from '../../../contracts/contract.ts'
import { rateLimiter } from '../../../contracts/rate-limiter.ts'
import { startRedis, wireTo } from '../../../fakes/redis.ts'
import { fitted, given } from '../../../fitted.ts'
import { quietClock } from '../../../slowness.ts'

const server = await startRedis()
const steered = await startRedis({ steer: true })
if (!server || !steered) {
  t.plan(0, 'no redis-server on this machine')
  process.exit(0)
}

const unhandled: unknown[] = []
process.on('unhandledRejection', (fault) => unhandled.push(fault))
t.teardown(() => Promise.all([server.close(), steered.close()]))

const events: string[] = []
const note = (event: string) => void events.push(event)
const log = given(Log, 'noted', () => ({ info: note, warn: note, error: note }))

const on = <T>(t: Test, port: Port<T, false>, fitting: Fitting<T>): T => {
  const container = fitted(fitting, log, use(clock))
  t.teardown(() => container.dispose())
  return container.supply({ port }).port as T
}

const own = () => `t-${randomUUID()}`
const limiterOn = (t: Test, url: string, settings: object = {}) =>
  on(t, RateLimiter, use(limiterPlugin, { url, prefix: own(), ...settings }))
const cacheOn = (t: Test, url: string, settings: object = {}) =>
  on(t, Cache, use(cachePlugin, { url, prefix: own(), ...settings }))

/** On a busy machine a contract must not see what belongs to the drill. */
const patient = { patience: 5_000 }

const charge = (concern: 'tokens' | 'requests', amount = 1, most = 1e6): Charge => ({
  allowance: { name: `${concern}-${most}`, concern, most, per: 1e12 },
  amount,
})

/**
 * How many of 50 calls at once end later than `ms`, by timers of the same process: a busy machine delays them as it
 * delays the calls. A call that throws anything but Unavailable fails the test.
 */
const lateOnes = async (ms: number, call: () => Promise<unknown>) => {
  let [isOver, late] = [false, 0]
  const limit = sleep(ms)
    // What the loop did not come to meanwhile.
    .then(() => sleep(10))
    .then(() => (isOver = true))
  const each = async () => {
    await call().catch((fault) => fault instanceof Unavailable || Promise.reject(fault))
    if (isOver) late++
  }
  await Promise.all([limit, ...Array.from({ length: 50 }, each)])
  return late
}

const until = async (good: () => Promise<boolean>) => {
  const [began, clock] = [performance.now(), quietClock()]
  while (!(await good().catch(() => false))) {
    if (performance.now() - began > 20_000) throw new Error('Never')
    await sleep(20)
  }
  return clock()
}

t.test('the limiter keeps its promises', (t) =>
  conform(t, rateLimiter.contract, (t) => limiterOn(t, server.url, patient)),
)
t.test('the cache keeps its promises', (t) => conform(t, cache.contract, (t) => cacheOn(t, server.url, patient)))

t.test('two clients share one limit exactly', async (t) => {
  // Ten thousand scripts wait for one server, which a busy machine answers late.
  const shared = { prefix: own(), patience: 30_000 }
  const limiters = [limiterOn(t, server.url, shared), limiterOn(t, server.url, shared)]
  let [operations, inFlight, highest, given] = [0, 0, 0, 0]
  const work = async (limiter: RateLimiter) => {
    while (operations < 10_000) {
      operations++
      const place = await limiter.take('shared', 7, 60_000)
      if (!place) continue
      given++
      highest = Math.max(highest, ++inFlight)
      await sleep(0)
      inFlight--
      await place.release()
    }
  }
  await Promise.all(limiters.flatMap((limiter) => Array.from({ length: 20 }, () => work(limiter))))
  t.equal(highest, 7, `of 10000 asked ${given} were given, never more than 7 at once`)

  const answers = await Promise.all(
    Array.from({ length: 10_000 }, (_, i) => limiters[i % 2]!.spend([charge('tokens', 1, 3_000)])),
  )
  t.equal(answers.filter((answer) => answer.ok).length, 3_000, 'of 10000 amounts exactly 3000 were spent')
})

t.test('everything in the store ends by itself, and one step is in one slot', async (t) => {
  const prefix = own()
  const limiter = limiterOn(t, server.url, { prefix, ...patient })
  const copies = cacheOn(t, server.url, { prefix, ...patient })
  const place = await limiter.take('name', 2, 5_000)
  await limiter.take('name', 2, 100)
  await place!.renew()
  const answer = await limiter.spend([charge('tokens', 5), charge('requests', 5)])
  t.ok(answer.ok && (await answer.settle([7, 0]), true))
  await copies.set('name', 1, 5_000)
  const client = createClient({ url: server.url })
  await client.connect()
  t.teardown(() => client.destroy())
  const keys = (await client.keys('*')).filter((key) => key.includes(prefix))
  t.equal(keys.length, 6, 'two probes, a name, a bucket that is not whole and of what it is a part, a copy')
  for (const key of keys) t.ok((await client.pTTL(key)) > 0, key.replace(prefix, ''))
  t.equal(keys.filter((key) => key.startsWith(`{${prefix}:spend}:`)).length, 2)
})

t.test('a bucket of 1.0.0 is read as it was written, and is kept in the same form', async (t) => {
  const prefix = own()
  const limiter = limiterOn(t, server.url, { prefix, ...patient })
  const client = createClient({ url: server.url })
  await client.connect()
  t.teardown(() => client.destroy())
  const key = `{${prefix}:spend}:tokens-100`
  await client.set(key, `40 ${Date.now()}`, { expiration: { type: 'PX', value: 60_000 } })
  t.match(await limiter.spend([charge('tokens', 30, 100)]), { ok: true })
  const [left] = /^\S+(?= \S+$)/.exec((await client.get(key)) ?? '') ?? []
  t.equal(Math.round(Number(left)), 10)
  const more = { allowance: { ...charge('tokens', 0, 100).allowance, most: 150 }, amount: 55 }
  t.match(await limiter.spend([more]), { ok: true }, 'a raised most counts at once')
})

for (const [way, break_, mend] of [
  ['paused', async () => steered.pause(), async () => steered.resume()],
  ['killed', steered.stop, steered.start],
] as const) {
  t.test(`${way}: each concern as declared, at once, and back within 2 s`, async (t) => {
    const limiter = limiterOn(t, steered.url)
    const other = limiterOn(t, steered.url, { whenDown: { places: 'open', tokens: 'open', requests: 'closed' } })
    const copies = cacheOn(t, steered.url)
    const works = async () => {
      for (const each of [limiter, other]) {
        await (await each.take('works', 1, 1_000))?.release()
        const answer = await each.spend([charge('tokens'), charge('requests')])
        if (!answer.ok || answer.left.includes(null)) return false
      }
      await copies.set('copy', 1, 60_000)
      return (await copies.get('copy')) === 1
    }
    await until(works)
    const held = (await limiter.take('held', 1, 60_000))!
    const heldOpen = (await other.take('held', 1, 60_000))!
    const spentBefore = await limiter.spend([charge('tokens', 5)])
    const calls = {
      places: () => limiter.take('a', 1, 1_000),
      tokens: () => limiter.spend([charge('tokens')]),
      requests: () => limiter.spend([charge('requests')]),
      'open places': () => other.take('a', 1, 1_000),
      copies: () => copies.get('copy'),
    }
    events.length = 0
    await break_()
    // 50 and 25 ms where nothing else runs; a machine that plays other tests beside it delays calls by more.
    for (const [known, limit] of [200, 100].entries())
      for (const [i, late] of (
        await Promise.all(Object.values(calls).map((call) => lateOnes(limit, async () => call())))
      ).entries())
        t.equal(late, 0, `${Object.keys(calls)[i]} within ${limit} ms${known ? ', once it is known' : ''}`)

    const closed = { name: 'Unavailable', status: 503, retryAfter: 1_000 }
    await t.rejects(async () => limiter.take('a', 1, 1_000), closed, 'places are closed')
    await t.rejects(async () => limiter.spend([charge('tokens')]), closed, 'tokens are closed')
    await t.rejects(async () => limiter.spend([charge('requests'), charge('tokens')]), closed, 'closed if any is')
    await t.rejects(async () => held.renew(), closed, 'whether a place is kept is not known')
    await t.resolves(async () => held.release(), 'what is not released falls free')
    const passed = await limiter.spend([charge('requests'), charge('requests')])
    t.match(passed, { ok: true, left: [null, null] }, 'requests are open')
    if (passed.ok) await t.resolves(async () => passed.settle([9, 9]))
    if (spentBefore.ok) await t.resolves(async () => spentBefore.settle([9]), 'settling never fails')
    const free = (await other.take('a', 1, 1_000))!
    t.ok((await free.renew()) && (await heldOpen.renew()), 'open places pass')
    await t.resolves(async () => free.release())
    await t.rejects(async () => other.spend([charge('requests')]), closed, 'as declared, not as usual')
    t.equal(await copies.get('copy'), undefined, 'no copy')
    await t.resolves(Promise.all([copies.set('copy', 2, 1_000), copies.remove('copy')]))

    await sleep(1_200)
    await mend()
    const back = await until(works)
    t.ok(back < 2_000, `back after ${back.toFixed(0)} ms`)
    t.strictSame([...new Set(events)].sort(), ['redis.down', 'redis.up'], 'both are told')
    t.ok(events.length < 20, 'and not by every call')
  })
}

t.test('an abandoned call costs nothing later', async (t) => {
  const limiter = limiterOn(t, steered.url)
  const tight = charge('tokens', 10, 10)
  await until(async () => (await limiter.spend([charge('tokens', 0)])).ok)
  steered.pause()
  const asked = await Promise.allSettled([limiter.take('given-up', 1, 60_000), limiter.spend([tight])])
  t.match(asked, [{ status: 'rejected' }, { status: 'rejected' }])
  steered.resume()
  await until(async () => (await limiter.spend([charge('tokens', 0)])).ok)
  await t.resolves(
    until(async () => (await limiter.take('given-up', 1, 60_000)) !== null),
    'the place is free',
  )
  await t.resolves(
    until(async () => (await limiter.spend([tight])).ok),
    'the allowance is whole',
  )
})

t.test('begins without Redis and finds it later', async (t) => {
  await steered.stop()
  const limiter = limiterOn(t, steered.url)
  const copies = cacheOn(t, steered.url)
  const clock = quietClock()
  await t.rejects(async () => limiter.take('a', 1, 1_000), { name: 'Unavailable' })
  t.equal(await copies.get('a'), undefined)
  t.ok(clock() < 500)
  await steered.start()
  const back = await until(async () => (await limiter.take('a', 1, 10)) !== null)
  t.ok(back < 2_000, `there after ${back.toFixed(0)} ms`)
})

t.test('a line that stays silent for ever is replaced', async (t) => {
  const wire = await wireTo(steered.url)
  t.teardown(() => wire.close())
  const limiter = limiterOn(t, wire.url)
  const works = async () => (await limiter.take('a', 9, 100)) !== null
  await until(works)
  wire.cut()
  await t.rejects(async () => limiter.take('a', 9, 1_000), { name: 'Unavailable' })
  await sleep(700)
  wire.mend()
  const back = await until(works)
  t.ok(back < 2_000, `back after ${back.toFixed(0)} ms`)
})

t.test('a process that was busy itself does not take Redis for silent', async (t) => {
  const limiter = limiterOn(t, steered.url)
  await until(async () => (await limiter.take('a', 9, 100)) !== null)
  let answered = false
  for (let tries = 0; !answered && tries < 5; tries++) {
    const place = Promise.resolve(limiter.take('busy', 9, 100))
    for (const began = performance.now(); performance.now() - began < 120;);
    answered = await place.then(Boolean, () => false)
    if (!answered) await until(async () => (await limiter.take('a', 9, 100)) !== null)
  }
  t.ok(answered)
})

t.test('closed is closed', async (t) => {
  const limiter = limiterOn(t, steered.url)
  const asked = Promise.resolve(limiter.take('a', 1, 1_000)).catch((fault: Error) => fault.name)
  await limiter.dispose?.()
  t.equal(await asked, 'Unavailable')
  await t.rejects(async () => limiter.take('a', 1, 1_000), { name: 'Unavailable' })
})

t.test('a line that was still sought when all was closed is no loss', async (t) => {
  const told: string[] = []
  const note = (event: string) => void told.push(event)
  const log = given(Log, 'told', () => ({ info: note, warn: note, error: note }))
  const mute = createServer().listen(0, '127.0.0.1')
  await once(mute, 'listening')
  t.teardown(() => mute.close())
  const url = `redis://127.0.0.1:${(mute.address() as AddressInfo).port}`
  const container = fitted(use(limiterPlugin, { url }), log, use(clock))
  const [[socket]] = await Promise.all([once(mute, 'connection'), container.supply({ limiter: RateLimiter })])
  await container.dispose()
  socket.destroy()
  await sleep(100)
  t.same(told, [])
})

t.test('a Redis that takes no writes is down until it does', async (t) => {
  const client = createClient({ url: steered.url })
  await client.connect()
  t.teardown(() => client.destroy())
  const limiter = limiterOn(t, steered.url)
  await until(async () => (await limiter.take('a', 9, 1_000)) !== null)
  await client.sendCommand(['CONFIG', 'SET', 'maxmemory', '1'])
  await client.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'])
  await t.rejects(async () => limiter.spend([charge('tokens')]), { name: 'Unavailable', retryAfter: 1_000 })
  await sleep(100)
  t.match(await limiter.spend([charge('requests')]), { ok: true, left: [null] })
  await client.sendCommand(['CONFIG', 'SET', 'maxmemory', '0'])
  t.ok((await until(async () => (await limiter.take('a', 9, 1_000)) !== null)) < 2_000)
})

t.test('a copy that cannot be written or read is no copy, and nothing else', async (t) => {
  const prefix = own()
  const copies = cacheOn(t, server.url, { prefix, ...patient })
  await copies.set('bad', 1n, 1_000)
  const client = createClient({ url: server.url })
  await client.connect()
  t.teardown(() => client.destroy())
  await client.set(`${prefix}:cache::junk`, '{', { expiration: { type: 'PX', value: 5_000 } })
  events.length = 0
  t.equal(await copies.get('bad'), undefined)
  t.equal(await copies.get('junk'), undefined)
  t.strictSame(events, [], 'the line stands')
})

t.test('settings are checked before anything runs', async (t) => {
  t.throws(() => use(limiterPlugin, { url: 'nowhere' }), /^redis: url/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(limiterPlugin, { url: 'redis://localhost', whenDown: { places: 'ajar' } }), /whenDown\.places/)
  t.throws(() => use(cachePlugin, { url: 'redis://localhost', prefix: '{}' }), /prefix/)
  for (const plugin of [limiterPlugin, cachePlugin])
    t.throws(
      () => use(plugin as typeof cachePlugin, { url: 'redis://:a/b@localhost' }),
      /^redis: url expected an address/,
    )
})

t.test('no rejection went unheard', async (t) => t.strictSame(unhandled, []))

t.test('the log has the reason for being down, without the address', async (t) => {
  const told: unknown[] = []
  const note = (event: string, facts?: object) => void told.push({ event, ...facts })
  const log = given(Log, 'told', () => ({ info: note, warn: note, error: note }))
  const { port } = new URL(server.url)
  const why = async (url: string) => {
    told.length = 0
    const container = fitted(use(limiterPlugin, { url }), log, use(clock))
    container.supply({ limiter: RateLimiter })
    await until(async () => told.length > 0)
    await container.dispose()
    return told[0]
  }
  t.same(await why(`redis://nobody:Canary7319@127.0.0.1:${port}`), {
    event: 'redis.down',
    for: 'limits',
    why: 'WRONGPASS',
  })
  told.length = 0
  const options = { url: 'redis://:Canary7319%@127.0.0.1:1', patience: 40, prefix: 'p', use: 'cache' } as const
  const unread = connectRedis({ ...options, log: { info: note, warn: note, error: note } }, (client) => client)
  await t.rejects(
    unread.ask((client) => client.ping()),
    { name: 'Unavailable' },
  )
  unread.close()
  t.same(told, [{ event: 'redis.down', for: 'cache', why: 'URIError' }], 'an address that the driver refuses')
  t.same(await why('redis://127.0.0.1:1'), { event: 'redis.down', for: 'limits', why: 'ECONNREFUSED' })
  const mute = createServer().listen(0, '127.0.0.1')
  await once(mute, 'listening')
  const silent = await why(`redis://127.0.0.1:${(mute.address() as AddressInfo).port}`)
  mute.close()
  t.same(silent, { event: 'redis.down', for: 'limits', why: 'silent' }, 'a server that answers nothing')
  t.same(await why(server.url), { event: 'redis.up', for: 'limits' })
})
