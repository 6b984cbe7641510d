import { randomUUID } from 'node:crypto'
import t from 'tap'
import memoryLimiter from '../../../../adapters/memory/rate-limiter.ts'
import limiterPlugin from '../../../../adapters/production/redis/rate-limiter.ts'
import { TooMany, Unavailable } from '../../../../core/errors.ts'
import { use } from '../../../../core/plugin.ts'
import type { SettingsInput } from '../../../../core/settings.ts'
import { actor } from '../../../fakes/backends.ts'
import { metered, type Metered, payer, unlimited } from '../../../fakes/metered.ts'
import { startRedis } from '../../../fakes/redis.ts'
import { until } from '../../../until.ts'

const server = await startRedis({ steer: true })
if (!server) {
  t.plan(0, 'no redis-server on this machine')
  process.exit(0)
}
t.teardown(() => server.close())

const never = new AbortController().signal
const price = { prompt_price_per_k: 0.001, completion_price_per_k: 0.001 }
const settings = (limits: SettingsInput['limits']): SettingsInput => ({
  models: { small: { upstreams: [{ provider: 'a' }], price_config: { standard: { eu: price } } } },
  limits: { ...unlimited, ...limits },
})

/** Gateways that share one Redis; a busy machine is no silent Redis to them unless the patience says so. */
const gateways = (count: number, limits: SettingsInput['limits'], more: object = {}): readonly Metered[] => {
  const shared = { url: server.url, prefix: `t-${randomUUID()}`, patience: 10_000, ...more }
  return Array.from({ length: count }, () => metered([actor('a', [])], settings(limits), use(limiterPlugin, shared)))
}

const reserve = async (scene: Metered, input: number, output: number) =>
  scene.meter.reserve(payer, (await scene.catalog.find('small', never))!, { input, output })

/** Millionths; each call reserves the first and uses the second. */
const [reserved, actual] = [400, 100]
const calls = 1_000

t.test('a thousand calls at once on three gateways never overrun a budget for a hundred', async (t) => {
  const most = 100 * actual
  const replicas = gateways(3, { organization: { ...unlimited.organization, costPerMonth: most / 1e6 } })
  let [spent, highest, granted, refused, lost] = [0, 0, 0, 0, 0]
  await Promise.all(
    Array.from({ length: calls }, async (_, i) => {
      const reservation = await reserve(replicas[i % 3]!, actual, reserved - actual).catch((error: unknown) => {
        if (!(error instanceof TooMany) || error.code !== 'budget_exceeded') throw error
        return null
      })
      if (reservation === null) return refused++
      spent += actual
      highest = Math.max(highest, spent)
      // A process that is killed settles nothing.
      if (granted++ % 10 === 9) return lost++
      return reservation.settle({ input: actual, output: 0 }, 'a')
    }),
  )
  t.ok(highest <= most + reserved, `${highest} of ${most} spent, ${refused} of ${calls} refused, ${lost} lost`)
  // One after the other, so that what was handed back is spent too.
  for (let i = 0; i < 200; i++) {
    const reservation = await reserve(replicas[i % 3]!, actual, 0).catch(() => null)
    if (reservation === null) break
    spent += actual
    await reservation.settle({ input: actual, output: 0 }, 'a')
  }
  t.equal(spent, most - lost * (reserved - actual), 'all of it is spent but what the killed ones hold')
  await t.rejects(reserve(replicas[0]!, 1, 0), { code: 'budget_exceeded' })
  const books = await Promise.all(replicas.map((replica) => replica.books()))
  const sum = books.reduce((sum, { cost_micros = 0 }) => sum + cost_micros, 0)
  t.equal(sum, spent - lost * actual, 'the books have every settled call once')
  await Promise.all(replicas.map((replica) => replica.dispose()))
})

t.test('gateways that count for themselves are caught', async (t) => {
  const most = 10 * actual
  const limits = { organization: { ...unlimited.organization, costPerMonth: most / 1e6 } }
  const replicas = Array.from({ length: 3 }, () => metered([actor('a', [])], settings(limits), use(memoryLimiter)))
  let spent = 0
  for (let i = 0; i < 60; i++)
    await reserve(replicas[i % 3]!, actual, 0).then(
      () => (spent += actual),
      () => {},
    )
  t.ok(spent > most + actual, `${spent} of ${most}`)
})

t.test('a share is reported once among all gateways', async (t) => {
  const replicas = gateways(3, { gateway: { costPerDay: 0.001 } })
  for (let i = 0; i < 10; i++) await (await reserve(replicas[i % 3]!, 100, 0)).settle({ input: 100, output: 0 }, 'a')
  const told = replicas.flatMap(({ events }) => events.filter(({ event }) => event === 'budget.share'))
  t.same(
    told.map(({ percent }) => percent).sort((a, b) => Number(a) - Number(b)),
    [50, 80, 100],
  )
  await Promise.all(replicas.map((replica) => replica.dispose()))
})

t.test('calls that end while Redis is gone are settled once it is back', async (t) => {
  const [scene] = gateways(1, { gateway: { costPerDay: 0.001 } }, { prefix: `t-${randomUUID()}`, patience: 200 })
  const fits = (amount: number) => () =>
    reserve(scene!, amount, 0).then(
      async (reservation) => (await reservation.cancel(), true),
      () => false,
    )
  await until(fits(0))
  const held = await Promise.all([reserve(scene!, 400, 0), reserve(scene!, 400, 0)])
  t.notOk(await fits(300)(), 'the estimates stand')
  server.pause()
  await t.rejects(reserve(scene!, 1, 0), Unavailable)
  await held[0]!.settle({ input: 50, output: 0 }, 'a')
  await held[1]!.settle({ input: 500, output: 0 }, 'a')
  server.resume()
  await until(fits(0))
  await scene!.clock.pass(1_000)
  t.ok(await until(fits(450)), 'what they took less is free')
  t.notOk(await fits(451)(), 'and what they took more is taken')
  await scene!.clock.pass(5_000)
  t.same([await fits(450)(), await fits(451)()], [true, false], 'once')
  await scene!.dispose()
})

t.test('Redis gone, slow and back: closed is a 503, open passes uncounted, and the budget stands', async (t) => {
  const limits = { gateway: { costPerDay: 0.001 } }
  const prefix = `t-${randomUUID()}`
  const [closed] = gateways(1, limits, { prefix, patience: 200 })
  const [open] = gateways(1, limits, { prefix, patience: 200, whenDown: { money: 'open', tokens: 'open' } })
  const works = (scene: Metered) => async () =>
    reserve(scene, 0, 0).then(
      async (reservation) => (await reservation.cancel(), true),
      () => false,
    )
  await until(works(closed!))
  await until(works(open!))
  await (await reserve(closed!, 600, 0)).settle({ input: 600, output: 0 }, 'a')
  const held = await reserve(closed!, 100, 0)

  server.pause()
  await t.rejects(reserve(closed!, 1, 0), Unavailable, 'slow is down')
  const uncounted = await reserve(open!, 5_000_000, 0).catch((error: unknown) => error)
  t.notOk(uncounted instanceof Error, 'open lets pass')
  await t.resolves(async () => held.settle({ input: 50, output: 0 }, 'a'), 'settling never fails')
  server.resume()
  await until(works(closed!))
  await closed!.clock.pass(1_000)
  const room = () =>
    reserve(closed!, 350, 0).then(
      () => true,
      () => false,
    )
  t.ok(await until(room), 'what stood before stands, refused calls cost nothing, and the settlement comes after')
  await t.rejects(reserve(closed!, 1, 0), { code: 'budget_exceeded' })

  await server.stop()
  await t.rejects(reserve(closed!, 1, 0), Unavailable, 'gone is down')
  t.notOk((await reserve(open!, 5_000_000, 0).catch((error: unknown) => error)) instanceof Error)
  await server.start()
  await until(works(closed!))
  await t.resolves(reserve(closed!, 1_000, 0), 'a Redis that has lost what it knew begins anew')
  await Promise.all([closed!.dispose(), open!.dispose()])
})
