import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import cachePlugin from '../../../adapters/memory/cache.ts'
import { clock } from '../../../adapters/memory/platform.ts'
import limiterPlugin from '../../../adapters/memory/rate-limiter.ts'
import { use } from '../../../core/plugin.ts'
import { Cache } from '../../../core/ports/cache.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { RateLimiter, type Charge } from '../../../core/ports/rate-limiter.ts'
import { cache } from '../../contracts/cache.ts'
import { conform } from '../../contracts/contract.ts'
import { rateLimiter } from '../../contracts/rate-limiter.ts'
import { given, made } from '../../fitted.ts'
import { isWhole } from '../../whole.ts'

const clockAt = (now: () => number) => given(Clock, 'told', () => ({ ...made(Clock, use(clock)), now }))

const limiterAt = (now: () => number) => made(RateLimiter, use(limiterPlugin), clockAt(now))
const cacheAt = (now: () => number) => made(Cache, use(cachePlugin), clockAt(now))

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const held = () => {
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}

t.test('the limiter keeps its promises', (t) => conform(t, rateLimiter.contract, () => limiterAt(Date.now)))
t.test('the cache keeps its promises', (t) => conform(t, cache.contract, () => cacheAt(Date.now)))

/** Names before the memory is looked at, and all of them: by day fewer, whose loss still shows. */
const [warm, all] = isWhole ? [100_000, 300_000] : [30_000, 130_000]

t.test('forgets allowances that are whole again', async (t) => {
  let now = 0
  const limiter = limiterAt(() => now)
  const spend = async (i: number) =>
    limiter.spend([{ allowance: { name: `key-${i}`, concern: 'tokens', most: 10, per: 1_000 }, amount: 10 }])
  for (let i = 0; i < warm; i++, now++) await spend(i)
  const before = held()
  for (let i = warm; i < all; i++, now++) await spend(i)
  const grown = held() - before
  t.ok(grown < 6, `${all - warm} keys more, ${grown.toFixed(1)} MB`)
  const last = await spend(all - 1)
  t.match(last, { ok: false, wait: 999 }, 'but not the others')
})

t.test('forgets names whose places are over', async (t) => {
  let now = 0
  const limiter = limiterAt(() => now)
  for (let i = 0; i < warm; i++, now++) await limiter.take(`key-${i}`, 1, 1_000)
  const before = held()
  for (let i = warm; i < all; i++, now++) await limiter.take(`key-${i}`, 1, 1_000)
  const grown = held() - before
  t.ok(grown < 6, `${all - warm} names more, ${grown.toFixed(1)} MB`)
  t.equal(await limiter.take(`key-${all - 1}`, 1, 1_000), null, 'but not the others')
})

t.test('keeps so many copies and no more', async (t) => {
  let now = 0
  const cache = cacheAt(() => now)
  const copy = 'x'.repeat(1_000)
  const before = held()
  for (let i = 0; i < 50_000; i++) await cache.set(`key-${i}`, copy, i < 25_000 ? 60_000 : 120_000)
  const grown = held() - before
  t.ok(grown < 25, `50000 copies of 1 kB, ${grown.toFixed(1)} MB`)
  t.equal(await cache.get('key-49999'), copy, 'the newest is there')
  t.equal(await cache.get('key-0'), undefined, 'the oldest is not')
  now = 120_000
  t.equal(await cache.get('key-49999'), undefined, 'nothing outlives its time')
})

t.test('nothing is free under a limit of no places', async (t) => {
  t.equal(await limiterAt(Date.now).take('a', 0, 1_000), null)
})

t.test('a clock that goes back gives and takes nothing', async (t) => {
  let now = 10_000
  const limiter = limiterAt(() => now)
  const charge = (amount: number): Charge[] => [
    { allowance: { name: 'a', concern: 'requests', most: 10, per: 1_000 }, amount },
  ]
  await limiter.spend(charge(10))
  now = 5_000
  t.match(await limiter.spend(charge(1)), { ok: false, wait: 100 })
  now = 5_100
  t.match(await limiter.spend(charge(1)), { ok: true, left: [0] })
})

t.test('two charges on one allowance add up', async (t) => {
  const limiter = limiterAt(() => 0)
  const [charge] = [{ allowance: { name: 'a', concern: 'tokens', most: 10, per: 1_000 }, amount: 6 } as const]
  t.match(await limiter.spend([charge, charge]), { ok: false, refused: 1, wait: 200 })
  t.match(await limiter.spend([charge]), { ok: true, left: [4] })
})
