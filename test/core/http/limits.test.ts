import t from 'tap'
import * as v from 'valibot'
import rateLimiter from '../../../adapters/memory/rate-limiter.ts'
import { bodyBudget } from '../../../core/http/body-budget.ts'
import { renewedPlaces } from '../../../core/http/concurrency.ts'
import { keylessAllowance } from '../../../core/http/keyless.ts'
import { callerLimits } from '../../../core/http/limits.ts'
import { use } from '../../../core/plugin.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { RateLimiter } from '../../../core/ports/rate-limiter.ts'
import { type SettingsInput, SettingsShape } from '../../../core/settings.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { given, made } from '../../fitted.ts'
import { failed } from '../../helpers.ts'

const caller = { key: 'key_1', organization: 'acme', user: 'anna', scopes: [], models: null, limits: {} }
const chance = { bytes: (length: number) => new Uint8Array(length), fraction: () => 0.5 }

const house = (settings: SettingsInput = {}) => {
  const clock = fakeClock()
  const own = given(Clock, 'clock', () => clock)
  const limiter = made(RateLimiter, use(rateLimiter), own)
  return {
    clock,
    limiter,
    limits: callerLimits(limiter, renewedPlaces(limiter, clock, chance), v.parse(SettingsShape, settings)),
  }
}

t.test('a place is held for as long as its request runs, and then is free', async (t) => {
  const { clock, limiter } = house()
  const take = renewedPlaces(limiter, clock, chance)
  const place = await take('stream/key/key_1', 1)
  for (let minutes = 0; minutes < 5; minutes++) {
    await t.rejects(async () => take('stream/key/key_1', 1), { name: 'TooMany' }, `after ${minutes} minutes`)
    await clock.pass(60_000)
  }
  await place.release()
  await (await take('stream/key/key_1', 1)).release()
  await clock.pass(30_000)
  t.equal(clock.armed(), 0, 'nothing is renewed any more')
})

t.test('places are those of one name', async (t) => {
  const { clock, limiter } = house()
  const take = renewedPlaces(limiter, clock, chance)
  await take('a', 2)
  await take('a', 2)
  await t.rejects(async () => take('a', 2), { name: 'TooMany' })
  await take('b', 1)
})

const faultOf = (work: () => Promise<unknown>): Promise<unknown> => failed(work())

t.test('a refused request tells what is left, and takes nothing', async (t) => {
  const { limits, clock } = house({ limits: { key: { requestsPerSecond: 2, bytesPerMinute: 100 } } })
  const told = async (length: number) => {
    const headers: Record<string, string | number> = {}
    const error = await faultOf(async () => limits.enter(caller, length, headers, null))
    return { headers, error }
  }
  t.match(await told(60), { headers: { 'x-ratelimit-remaining-requests': 1 }, error: undefined })
  const heavy = await told(60)
  t.match(heavy.error, { status: 429, message: 'Too many bytes' })
  t.same(heavy.headers, {}, 'bytes say nothing of requests')
  t.match((await told(0)).headers, { 'x-ratelimit-remaining-requests': 0 })
  const over = await told(0)
  t.match(over.error, { status: 429, message: 'Too many requests' })
  t.match(over.headers, { 'x-ratelimit-limit-requests': 2, 'x-ratelimit-remaining-requests': 0 })
  await clock.pass(60_000)
  await t.resolves(async () => limits.bytes(caller, 100))
  await t.rejects(async () => limits.bytes(caller, 1), { name: 'TooMany' })
})

t.test('requests of an organisation are counted over all its keys', async (t) => {
  const { limits } = house({ limits: { organization: { requestsPerSecond: 2 }, key: { requestsPerSecond: null } } })
  await limits.enter({ ...caller, key: 'key_2' }, 0, {}, null)
  await limits.enter({ ...caller, key: 'key_3' }, 0, {}, null)
  await t.rejects(async () => limits.enter(caller, 0, {}, null), { name: 'TooMany' })
  await limits.enter({ ...caller, organization: 'other' }, 0, {}, null)
})

t.test('bytes in memory are bounded for the process, an organisation and a key', (t) => {
  const room = { process: 100, organization: 60, key: 30 }
  const hold = bodyBudget()
  const [one, two] = [hold(caller, room), hold(caller, room)]
  one.grow(20)
  t.throws(() => two.grow(11), { name: 'TooMany' })
  two.grow(10)
  const colleague = hold({ ...caller, key: 'key_2' }, room)
  colleague.grow(20)
  const again = hold({ ...caller, key: 'key_2' }, room)
  t.throws(() => again.grow(11), { name: 'TooMany' }, 'of the organisation too')
  const wide = hold({ ...caller, key: 'key_2' }, { ...room, key: 100 })
  t.throws(() => wide.grow(11), { name: 'TooMany' }, 'the share of an organisation is for all its keys')
  const stranger = hold({ ...caller, organization: 'other', key: 'key_9' }, room)
  t.throws(() => stranger.grow(51), { name: 'Unavailable' })
  stranger.grow(50)
  one.release()
  one.release()
  two.release()
  hold(caller, room).grow(30)
  t.throws(() => hold(caller, room).grow(1), { name: 'TooMany' }, 'to release twice gives nothing')
  t.throws(() => wide.grow(11), { name: 'TooMany' }, 'of the organisation neither')
  stranger.release()
  t.doesNotThrow(() => again.grow(10), 'an organisation has back what its keys released')
  again.shrink(4)
  t.doesNotThrow(() => again.grow(4), 'a part is given back')
  again.shrink(1_000)
  t.throws(() => wide.grow(11), { name: 'TooMany' }, 'and no more than was held')
  t.throws(() => two.grow(1), { name: 'Aborted' }, 'a request that has ended holds nothing')
  t.end()
})

t.test('one body of a key is taken whatever its size', (t) => {
  const alone = bodyBudget()(caller, { process: 10, organization: 10, key: 10 })
  t.doesNotThrow(() => alone.grow(1000))
  t.end()
})

t.test('requests without a key are counted by address, and by network where that is of IPv6', async (t) => {
  const clock = fakeClock()
  const allow = keylessAllowance(clock)
  allow('192.0.2.1', 2)
  allow('192.0.2.1', 2)
  t.throws(() => allow('192.0.2.1', 2), { name: 'TooMany' })
  t.doesNotThrow(() => allow('192.0.2.2', 2))
  allow('2001:db8:1:2::1', 1)
  t.throws(() => allow('2001:db8:1:2:ffff::9', 1), { name: 'TooMany' }, 'the same network')
  t.doesNotThrow(() => allow('2001:db8:1:3::1', 1))
  await clock.pass(500)
  t.doesNotThrow(() => allow('192.0.2.1', 2))
  t.throws(() => allow('192.0.2.1', 2), { name: 'TooMany' })
  t.doesNotThrow(() => allow('192.0.2.1', null), 'unless there is no limit')
})
