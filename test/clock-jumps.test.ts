import './fakes/unwatched.ts'
import { createClient } from '@keyv/redis'
import OpenAI, { toFile } from 'openai'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import cachePlugin from '../adapters/memory/cache.ts'
import { memory } from '../adapters/memory/index.ts'
import metadataStore from '../adapters/memory/metadata-store.ts'
import { clock as clockPlugin, log as silence, random } from '../adapters/memory/platform.ts'
import limiterPlugin from '../adapters/memory/rate-limiter.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import redisLimiter from '../adapters/production/redis/rate-limiter.ts'
import { Keyring, keyring } from '../core/access/keyring.ts'
import { TooMany } from '../core/errors.ts'
import type { Adapters } from '../core/gateway.ts'
import { renewedPlaces } from '../core/http/concurrency.ts'
import { plugin, use } from '../core/plugin.ts'
import { Cache } from '../core/ports/cache.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import { Clock } from '../core/ports/platform.ts'
import { type Allowance, RateLimiter } from '../core/ports/rate-limiter.ts'
import { Settings, SettingsShape, type SettingsInput } from '../core/settings.ts'
import openai from '../plugins/providers/openai.ts'
import rehearsal from '../plugins/providers/rehearsal.ts'
import { ConsoleSessions, consoleSessions } from '../plugins/surfaces/console/console-sessions.ts'
import { perCallerUntil } from '../plugins/usage/metering/allowances.ts'
import { calendar } from '../plugins/usage/metering/windows.ts'
import { running } from './environments.ts'
import { batchVendor } from './fakes/batch-vendor.ts'
import { type FakeClock, fakeClock } from './fakes/clock.ts'
import { house as issuing, issued, issuerKey, signed } from './fakes/issuer.ts'
import { type RedisServer, startRedis } from './fakes/redis.ts'
import { fitted, made } from './fitted.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const jumps = [-400 * day, -day, -hour, hour, day, 400 * day]

const redis = await startRedis()
t.teardown(() => redis?.close())

let prefixes = 0
/** A limiter in Redis whose patience outlasts a busy machine. */
const redisOf = ({ url }: RedisServer) =>
  use(redisLimiter, { url, prefix: `jump-${process.pid}-${prefixes++}`, patience: 5_000 })

const of = (clock: FakeClock) => use(plugin({ port: Clock, name: 'clock', create: (): Clock => clock }))
const limiterOf = (clock: FakeClock) => made(RateLimiter, use(limiterPlugin), of(clock))

t.test('a place of nobody is free after its time, wherever the clock jumps', async (t) => {
  for (const jump of jumps) {
    const clock = fakeClock()
    const limiter = limiterOf(clock)
    const lost = await limiter.take('a', 2, minute)
    const kept = await limiter.take('a', 2, minute)
    t.ok(lost && kept)
    clock.set(jump)
    if (jump < 0) {
      t.equal(await limiter.take('a', 2, minute), null, `${jump}: no place is free at once`)
      await clock.pass(minute - 1)
      t.equal(await kept?.renew(), true, `${jump}: who holds a place keeps it`)
      t.equal(await limiter.take('a', 2, minute), null, `${jump}: a place is kept to its end`)
      await clock.pass(1)
    }
    t.ok(await limiter.take('a', 2, minute), `${jump}: the place is free`)
  }
})

t.test('allowances that refill are neither full nor shut after a jump backwards', async (t) => {
  for (const concern of ['tokens', 'money', 'requests'] as const) {
    for (const jump of jumps.filter((ms) => ms < 0)) {
      const clock = fakeClock()
      const limiter = limiterOf(clock)
      const allowance: Allowance = { name: 'a', concern, most: 60, per: minute }
      t.match(await limiter.spend([{ allowance, amount: 60 }]), { ok: true })
      clock.set(jump)
      t.match(await limiter.spend([{ allowance, amount: 1 }]), { ok: false, wait: second }, `${concern} ${jump}`)
      await clock.pass(second)
      t.match(await limiter.spend([{ allowance, amount: 1 }]), { ok: true, left: [0] }, `${concern} ${jump}: refills`)
    }
  }
})

t.test('a refused caller is sent away for ten minutes at most', async (t) => {
  for (const jump of jumps) {
    const clock = fakeClock()
    const take = renewedPlaces(limiterOf(clock), clock, { bytes: () => new Uint8Array(), fraction: () => 0.99 })
    const first = await take('a', 1)
    const refused = async (): Promise<number> => {
      try {
        await take('a', 1)
      } catch (error) {
        if (error instanceof TooMany) return error.retryAfter ?? Infinity
        throw error
      }
      return Infinity
    }
    const before = await refused()
    t.ok(before < 2 * second)
    clock.set(jump)
    // A place that a jump forwards ended is taken anew.
    if (jump > 0) await take('a', 1)
    const after = await refused()
    t.ok(after > 0 && after <= 10 * minute, `${jump}: ${after} ms`)
    await first.release()
  }
})

t.test('a window of the calendar that is used up stays so, and for one window at most', async (t) => {
  const start = Date.UTC(2030, 4, 15, 12)
  for (const [period, longest] of [
    ['day', day],
    ['week', 7 * day],
    ['month', 31 * day],
  ] as const) {
    for (const jump of jumps.filter((ms) => ms < 0).concat([-longest, -3 * longest])) {
      const windowAt = calendar(period, 'UTC')
      const used = windowAt(start)
      const back = start + jump
      const held = windowAt(back)
      t.equal(held.name, used.name, `${period} ${jump}: no window is opened`)
      t.ok(held.until > back && held.until - back <= longest, `${period} ${jump}: one window at most`)
      t.same(windowAt(held.until - 1), held)
      const next = windowAt(held.until)
      t.ok(next.until > held.until && next.until <= held.until + longest)
      const other = calendar(period, 'UTC')
      other(start)
      other(back)
      t.same(other(start), used, `${period} ${jump}: forwards again, the window is the same one`)
    }
  }
})

t.test('what is worked out for a caller is worked out again after a jump', async (t) => {
  const windowsOf = perCallerUntil(
    (_, now) => [{ at: now, until: now + hour }],
    ({ until }) => until,
  )
  const caller = { key: 'a', organization: 'acme', user: 'ada', models: null, scopes: [], limits: {} } as never
  const start = Date.UTC(2030, 4, 15)
  const at = (now: number) => windowsOf(caller, now)[0]?.at
  t.equal(at(start), start)
  t.equal(at(start + hour - 1), start, 'once for a window')
  for (const jump of jumps) t.equal(at(start + jump), start + jump, `${jump}`)
})

t.test('a copy ends by its time, and at once where the clock jumps over its time', async (t) => {
  for (const jump of jumps) {
    const clock = fakeClock()
    const cache = made(Cache, use(cachePlugin), of(clock))
    await cache.set('a', 'copy', minute)
    t.equal(await cache.get('a'), 'copy')
    clock.set(jump)
    t.equal(await cache.get('a'), undefined, `${jump}`)
    await cache.set('a', 'anew', minute)
    t.equal(await cache.get('a'), 'anew')
  }
})

/** The sessions of a console by this clock, and a link that was taken. */
const signedIn = async (clock: FakeClock) => {
  const rows = plugin({ port: MetadataStore, name: 'rows', create: () => metadataStore.create({}, {}, 'rows') })
  const settings = plugin({ port: Settings, name: 'settings', create: () => v.parse(SettingsShape, {}) })
  const fittings = [use(keyring), use(consoleSessions), use(random), use(rows), use(settings), of(clock)]
  const { keys, sessions } = fitted(...fittings).supply({ keys: Keyring, sessions: ConsoleSessions })
  const { credential } = await keys.create({ name: 'first' })
  const taken = await sessions.read(await sessions.link(credential))
  if (taken === null) throw new Error('The link is not taken')
  return { sessions, credential, taken }
}

t.test('every jump ends sessions and links, and a new session is good after it', async (t) => {
  for (const jump of jumps) {
    const clock = fakeClock()
    const { sessions, credential, taken } = await signedIn(clock)
    const link = await sessions.link(credential)
    const session = await sessions.open(taken, hour, hour)
    t.ok(await sessions.find(session.credential))
    clock.set(jump)
    t.equal(await sessions.find(session.credential), null, `${jump}: the session is over`)
    t.equal(await sessions.renew(session.secret, hour), null, `${jump}: and stays so`)
    t.equal(await sessions.read(link), null, `${jump}: the link is over`)
    const anew = await sessions.open(taken, hour, hour)
    t.ok(await sessions.find(anew.credential), `${jump}: a new session is good`)
    await clock.pass(hour)
    t.equal(await sessions.find(anew.credential), null, `${jump}: and ends by its time`)
  }
})

t.test('a session lasts where the clocks of two processes differ by less than a minute', async (t) => {
  const clock = fakeClock()
  const { sessions, taken } = await signedIn(clock)
  const session = await sessions.open(taken, 2 * hour, hour)
  clock.set(1 - minute)
  t.ok(await sessions.find(session.credential))
  t.ok(await sessions.renew(session.secret, hour), 'the other process renews it')
  clock.set(-minute)
  t.equal(await sessions.find(session.credential), null, 'a minute is a jump')
})

t.test('a login is good within the times of its token alone', async (t) => {
  const key = await issuerKey('ES256', 'one')
  for (const jump of jumps) {
    const { logins, clock, reasons } = await issuing(t, [key])
    const token = await signed(key, issued(clock.now()))
    t.ok(await logins.find(token))
    clock.set(jump)
    t.equal(await logins.find(token), null, `${jump}`)
    t.same(reasons(), [jump < 0 ? 'early' : 'expired'])
    t.ok(await logins.find(await signed(key, issued(clock.now()))), `${jump}: a login of the new time is good`)
    clock.set(-jump)
    t.ok(await logins.find(token), `${jump}: back again`)
  }
})

/** A gateway in the middle of May, whose time of day can be set. */
const house = async (t: Test, settings: SettingsInput, more: Partial<Adapters> = {}) => {
  const system = made(Clock, use(clockPlugin))
  let ahead = Date.UTC(2030, 4, 15, 12, 30, 20) - system.now()
  const clock = plugin({ port: Clock, name: 'set', create: (): Clock => ({ ...system, now }) })
  const gateway = await running(t, { ...memory(), ...more, clock: use(clock) }, settings)
  function now() {
    return system.now() + ahead
  }
  const chat = () =>
    gateway.call('POST', '/v1/chat/completions', {
      model: 'rehearsal',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
    })
  const drained = async (asked: Promise<Response>) => {
    const answer = await asked
    await answer.arrayBuffer()
    return answer
  }
  return {
    ...gateway,
    now,
    set: (ms: number) => void (ahead += ms),
    chat: () => drained(chat()),
    ask: (...call: Parameters<typeof gateway.call>) => drained(gateway.call(...call)),
  }
}

/** Where what was used is counted. Redis has a clock of its own, which no jump of a gateway moves. */
const limiters: Readonly<Record<string, () => Partial<Adapters>>> = {
  memory: () => ({}),
  ...(redis !== null && { Redis: () => ({ rateLimiter: redisOf(redis) }) }),
}

for (const [name, limiter] of Object.entries(limiters))
  t.test(`${name}: a quota that is used up is neither free nor shut for longer than its window`, async (t) => {
    const windows = { minute, hour, day, week: 7 * day, month: 31 * day }
    for (const [per, longest] of Object.entries(windows)) {
      for (const jump of [-longest, -day, -hour]) {
        const window = { of: 'key' as const, requests: 1, per: per as keyof typeof windows }
        const gateway = await house(t, { quotas: { windows: [window] } }, limiter())
        t.equal((await gateway.chat()).status, 200)
        t.equal((await gateway.chat()).status, 429)
        gateway.set(jump)
        const refused = await gateway.chat()
        t.equal(refused.status, 429, `${per} ${jump}: nothing is free`)
        const ends = Date.parse(refused.headers.get('x-sealgate-window-reset') ?? '')
        t.ok(
          ends > gateway.now() && ends - gateway.now() <= longest,
          `${per} ${jump}: until ${ends - gateway.now()} ms from now`,
        )
        gateway.set(ends - gateway.now())
        t.equal((await gateway.chat()).status, 200, `${per} ${jump}: the next window is open`)
        t.equal((await gateway.chat()).status, 429, `${per} ${jump}: for what it holds`)
      }
    }
  })

if (redis !== null)
  t.test('Redis remembers a window for as long as it is open by the clock of the gateway', async (t) => {
    const clock = fakeClock(Date.now())
    const limiter = made(RateLimiter, redisOf(redis), use(silence), of(clock))
    t.teardown(() => limiter.dispose?.())
    const client = await createClient({ url: redis.url }).connect()
    t.teardown(() => client.destroy())
    // The window ended by the clock of Redis, and the gateway was set back into it.
    const allowance: Allowance = { name: 'a', concern: 'tokens', most: 10, per: day, until: clock.now() - hour }
    clock.set(-day)
    const rest = day - hour
    t.match(await limiter.spend([{ allowance, amount: 8 }]), { ok: true, left: [2] })
    const keys = await client.keys(`{jump-${process.pid}-${prefixes - 1}:spend}*`)
    t.equal(keys.length, 2)
    for (const key of keys) t.ok((await client.pTTL(key)) > rest, 'kept to the end of the window')
    t.match(await limiter.spend([{ allowance, amount: 3 }]), { ok: false, wait: rest })
  })

t.test('tokens of a calendar day are the same after a jump backwards', async (t) => {
  const gateway = await house(t, { limits: { days: 'calendar', key: { tokensPerDay: 30 } } })
  let calls = 0
  while ((await gateway.chat()).status === 200 && calls < 10) calls++
  t.ok(calls > 0 && calls < 10)
  for (const jump of [-hour, -day, -day]) {
    gateway.set(jump)
    t.equal((await gateway.chat()).status, 429, `${jump}`)
  }
  gateway.set(day)
  t.equal((await gateway.chat()).status, 200, 'the next day is open')
})

t.test('no jump is a fault of the gateway, and calls go on', async (t) => {
  const vendor = await batchVendor(t)
  const gateway = await house(
    t,
    {
      models: {
        rehearsal: { upstreams: [{ provider: 'rehearsal' }] },
        talk: { upstreams: [{ provider: 'vendor', model: 'gpt-own' }] },
      },
    },
    {
      fetch: use(doors),
      upstreams: [use(rehearsal), use(openai, { baseUrl: `${vendor.url}/v1`, apiKey: 'k', batches: true }, 'vendor')],
    },
  )
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.base}/v1`, maxRetries: 0 })
  const body = { model: 'talk', messages: [{ role: 'user', content: 'Hi' }] }
  const row = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body })
  const upload = async () => client.files.create({ file: await toFile(Buffer.from(row), 'in.jsonl'), purpose: 'batch' })
  const begin = (file: string) =>
    client.batches.create({ input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' })
  const file = await upload()
  const batch = await begin(file.id)
  for (const jump of jumps) {
    gateway.set(jump)
    t.equal((await begin((await upload()).id)).object, 'batch', `${jump}: a new batch begins`)
    const answers = await Promise.all([
      gateway.chat(),
      gateway.ask('POST', '/v1/responses', { model: 'rehearsal', input: 'Hi' }),
      ...[`/v1/files/${file.id}`, `/v1/files/${file.id}/content`, `/v1/batches/${batch.id}`].map((path) =>
        gateway.ask('GET', path),
      ),
      ...['/v1/models', '/v1/files', '/v1/batches', '/admin/usage', '/admin/keys'].map((path) =>
        gateway.ask('GET', path),
      ),
    ])
    const statuses = answers.map(({ status }) => status)
    t.same(statuses, new Array(statuses.length).fill(200), `${jump}: every answer is whole`)
  }
  t.notOk(gateway.logged.find(({ event }) => event === 'fault'))
})
