import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Caller } from '../../../../core/access/caller.ts'
import { Forbidden, GatewayError, TooMany } from '../../../../core/errors.ts'
import type { Chunk } from '../../../../core/ports/upstream.ts'
import type { SettingsInput } from '../../../../core/settings.ts'
import { actor, failed, say, stop } from '../../../fakes/backends.ts'
import { metered, type Metered, payer, unlimited } from '../../../fakes/metered.ts'

const never = new AbortController().signal
const hour = 3_600_000

/** One millionth for a token read and two for one written. */
const price = { prompt_price_per_k: 0.001, completion_price_per_k: 0.002 }
const model = { upstreams: [{ provider: 'a' }], price_config: { standard: { eu: price } } }

const house = (limits: SettingsInput['limits'], more: object = {}): Metered =>
  metered([actor('a', [])], {
    models: { small: { ...model, ...more } },
    limits: {
      ...limits,
      key: { ...unlimited.key, ...limits?.key },
      organization: { ...unlimited.organization, ...limits?.organization },
    },
  })

const call = async (scene: Metered, input: number, output: number, who: Caller = payer) =>
  scene.meter.reserve(who, (await scene.catalog.find('small', never))!, { input, output })

/** Of a call that is refused. */
const refusal = async (scene: Metered, input: number, output = 0, who: Caller = payer): Promise<TooMany> => {
  const error = await call(scene, input, output, who).catch((error: unknown) => error)
  assert.ok(error instanceof TooMany)
  return error
}

t.test('a budget is reserved before the call and settled after it', async (t) => {
  const scene = house({ key: { costPerDay: 0.001 } })
  const first = await call(scene, 200, 400)
  await refusal(scene, 1)
  await first.settle({ input: 200, output: 50 }, 'a')
  await (await call(scene, 700, 0)).settle({ input: 700, output: 0 }, 'a')
  await refusal(scene, 1)
  t.match(await scene.books(), { requests: 2, cost_micros: 1_000 })
})

t.test('what is cancelled or unanswered costs nothing, and no call is settled twice', async (t) => {
  const scene = house({ key: { costPerDay: 0.001 } })
  await (await call(scene, 1_000, 0)).cancel()
  await (await call(scene, 1_000, 0)).settle(null, null)
  const once = await call(scene, 1_000, 0)
  await once.settle({ input: 400, output: 0 }, 'a')
  await once.settle({ input: 0, output: 0 }, 'a')
  await t.resolves(call(scene, 600, 0))
  await refusal(scene, 1)
})

t.test('a refused call is told whose budget it is and when it is new', async (t) => {
  for (const [limits, of, anew] of [
    [{ key: { costPerDay: 0.001 } }, 'key/day', '2030-02-01T00:00:00.000Z'],
    [{ organization: { costPerWeek: 0.001 } }, 'organization/week', '2030-02-04T00:00:00.000Z'],
    [{ gateway: { costPerMonth: 0.001 } }, 'gateway/month', '2030-02-01T00:00:00.000Z'],
    [{ key: { costPerDay: 0.001 }, timeZone: 'Asia/Tokyo' }, 'key/day', '2030-01-31T15:00:00.000Z'],
    [{ key: { costPerDay: 0.001 }, budgets: { window: 'rolling' } }, 'key/day', '2030-02-01T00:00:00.000Z'],
  ] as const) {
    const scene = house(limits)
    await (await call(scene, 1_000, 0)).settle({ input: 1_000, output: 0 }, 'a')
    const error = await refusal(scene, 500)
    t.match(error, {
      status: 429,
      code: 'budget_exceeded',
      headers: { 'x-sealgate-budget': of, 'x-sealgate-budget-reset': anew },
      retryAfter: Date.parse(anew) - scene.clock.now(),
    })
    t.ok(error.validator?.['budget']?.endsWith(anew), of)
    await scene.clock.pass(Date.parse(anew) - scene.clock.now())
    await t.resolves(call(scene, 500, 0), `${of} is new`)
  }
  const never_ = await refusal(house({ key: { costPerDay: 0.001 } }), 1_001)
  t.match(never_, { code: 'budget_exceeded', retryAfter: null }, 'what never fits names no time')
})

t.test('a raised budget counts with the first call, and keys share those of their makers', async (t) => {
  const scene = house({ key: { costPerDay: 0.001 } })
  await call(scene, 1_000, 0)
  await refusal(scene, 1)
  const raised = { ...payer, limits: { costPerDay: 0.003 } }
  await call(scene, 2_000, 0, raised)
  await refusal(scene, 1, 0, raised)
  const child = {
    ...payer,
    key: 'key_2',
    limits: { costPerDay: 1 },
    makers: [{ key: 'key_1', limits: { costPerDay: 0.0035 } }],
  }
  await refusal(scene, 501, 0, child)
  await t.resolves(call(scene, 500, 0, child))
})

t.test('the keys of a team have budgets together', async (t) => {
  const limits = {
    ...unlimited,
    team: { costPerDay: 0.001 },
    organization: { ...unlimited.organization, costPerDay: 0.01 },
  }
  const organizations = { org_1: { teams: { large: { costPerDay: 0.002 }, usual: {} } } }
  const scene = metered([actor('a', [])], { models: { small: model }, limits, organizations })
  const of = (team: string, key: string, organization = 'org_1'): Caller => ({ ...payer, team, key, organization })
  const pay = async (who: Caller, input: number) => (await call(scene, input, 0, who)).settle({ input, output: 0 }, 'a')
  await pay(of('large', 'key_1'), 1_500)
  await pay(of('large', 'key_2'), 500)
  const refused = await refusal(scene, 1, 0, of('large', 'key_3'))
  t.match(refused.headers, { 'x-sealgate-budget': 'team/day' })
  t.match(refused.validator, { budget: /^The budget of the team for the day/ })
  await pay(of('usual', 'key_3'), 1_000)
  await refusal(scene, 1, 0, of('usual', 'key_1'))
  await pay(of('unnamed', 'key_1'), 1_000)
  await pay(of('large', 'key_1', 'org_2'), 1_000)
  await pay(payer, 1_000)
  const told = scene.events.find(({ event, percent }) => event === 'budget.share' && percent === 100)
  t.match(told, { of: 'team', whose: 'org_1/large', period: 'day' })
})

t.test('soft budgets refuse nothing; shares are told once for each window', async (t) => {
  const scene = house({ gateway: { costPerDay: 0.001 }, budgets: { soft: ['gateway'] } })
  const use = async (input: number) => (await call(scene, input, 0)).settle({ input, output: 0 }, 'a')
  const told = () => scene.events.filter(({ event }) => event === 'budget.share').map(({ percent }) => percent)
  await use(499)
  t.same(told(), [])
  await use(1)
  t.same(told(), [50])
  await use(400)
  t.same(told(), [50, 80])
  for (let i = 0; i < 3; i++) await use(100)
  t.same(told(), [50, 80, 100])
  t.match(scene.events.at(-1), { event: 'budget.share', of: 'gateway', whose: '', period: 'day', percent: 100 })
  await scene.clock.pass(12 * hour)
  await use(1_000)
  t.same(told(), [50, 80, 100, 50, 80, 100], 'the next day anew')
  t.equal(scene.seen.filter(([what]) => what === 'reached').length, 6)
  t.match(
    scene.seen.findLast(([what]) => what === 'stands'),
    ['stands', 'gateway', '', 'day', 1],
  )
})

t.test('calls that end behind the window of their budget tell nothing of it', async (t) => {
  const scene = house({ gateway: { costPerDay: 0.001 }, budgets: { soft: ['gateway'] } })
  const told = () => scene.events.filter(({ event }) => event === 'budget.share').map(({ percent }) => percent)
  const used = { input: 300, output: 0 }
  const late = [await call(scene, 300, 0), await call(scene, 300, 0)]
  await (await call(scene, 300, 0)).settle(used, 'a')
  t.same(told(), [50, 80])
  await scene.clock.pass(12 * hour)
  await (await call(scene, 100, 0)).settle({ input: 100, output: 0 }, 'a')
  for (const reservation of late) await reservation.settle(used, 'a')
  t.same(told(), [50, 80], 'each share once')
  const stood = scene.seen.findLast(([what]) => what === 'stands')
  t.ok(Math.abs((stood?.[4] as number) - 0.1) < 1e-9, 'the part of the new day stands')
})

t.test('a rolling budget tells a share anew when its time has passed', async (t) => {
  const scene = house({ gateway: { costPerDay: 0.001 }, budgets: { window: 'rolling' } })
  const told = () => scene.events.filter(({ event }) => event === 'budget.share').map(({ percent }) => percent)
  const use = async () => (await call(scene, 500, 0)).settle({ input: 500, output: 0 }, 'a')
  await use()
  t.same(told(), [50])
  await scene.clock.pass(23 * hour)
  await use()
  t.same(told(), [50], 'once within its time')
  await scene.clock.pass(25 * hour)
  await use()
  t.same(told(), [50, 50])
})

t.test('a model that costs nothing has room in an overdrawn budget, and no other one has', async (t) => {
  const free = { prompt_price_per_k: 0, completion_price_per_k: 0 }
  const models = {
    small: model,
    free: { ...model, price_config: { standard: { eu: free } } },
    unpriced: { ...model, price_config: {} },
  }
  const limits = {
    ...unlimited,
    key: { ...unlimited.key, costPerDay: 0.001 },
    budgets: { unknownPrice: 'count' },
  } as const
  const scene = metered([actor('a', [])], { models, limits })
  const use = async (name: string) =>
    scene.meter.reserve(payer, (await scene.catalog.find(name, never))!, { input: 100, output: 0 })
  await (await use('small')).settle({ input: 2_000, output: 0 }, 'a')
  await t.rejects(use('small'), { code: 'budget_exceeded' })
  await t.rejects(use('unpriced'), { code: 'budget_exceeded' }, 'an unknown price is not nothing')
  await (await use('free')).settle({ input: 100, output: 0 }, 'a')
  t.match(await scene.books(), { requests: 2, cost_micros: 2_000 })
})

t.test('a model without a price is refused or counted as such, and never free', async (t) => {
  const unknown = { price_config: {} }
  const refused = await call(house({ key: { costPerDay: 1 } }, unknown), 1, 1).catch((error: unknown) => error)
  t.ok(refused instanceof Forbidden)
  t.match(refused as GatewayError, { status: 403, code: 'price_unknown' })
  await t.resolves(call(house({}, unknown), 1, 1), 'where no budget holds')
  const soft: SettingsInput['limits'] = { key: { costPerDay: 1 }, budgets: { soft: ['key'] } }
  await t.resolves(call(house(soft, unknown), 1, 1), 'where none refuses')
  const counted = house({ key: { costPerDay: 1 }, budgets: { unknownPrice: 'count' } }, unknown)
  await (await call(counted, 1, 1)).settle({ input: 1, output: 1 }, 'a')
  t.match(await counted.books(), { requests: 1, unpriced: 1, cost_micros: undefined })
  t.match(counted.seen.find(([what]) => what === 'used')?.[1], { cost: null })
  const batch = house({}, unknown)
  await (await call(batch, 1, 1)).settle({ input: 3, output: 3, calls: 3 }, 'a')
  t.match(await batch.books(), { requests: 3, unpriced: 3 }, 'each call of a batch')
})

t.test('budgets are what a model of them says, whatever comes in whatever order', async () => {
  const amount = fc.nat(300)
  const step = fc.oneof(
    fc.record({ do: fc.constant('call' as const), key: fc.nat(2), input: amount, output: amount }),
    fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(9),
      input: amount,
      output: amount,
      way: fc.constantFrom('told', 'guessed', 'failed', 'cancelled', 'lost'),
    }),
    fc.record({ do: fc.constant('day' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const [mostKey, mostAll] = [700, 1_500]
      const scene = house({ key: { costPerDay: mostKey / 1e6 }, gateway: { costPerDay: mostAll / 1e6 } })
      let used = new Map<string, number>()
      let [today, books, requests] = [0, 0, 0]
      const open: {
        key: string
        day: number
        reserved: number[]
        cost: number
        reservation: Awaited<ReturnType<typeof call>>
      }[] = []
      const add = (name: string, sum: number) => used.set(name, (used.get(name) ?? 0) + sum)
      const within = (most: number, input: number, all: number) => (input > most ? input : Math.min(most, all))
      for (const step of steps) {
        if (step.do === 'day') {
          await scene.clock.pass(24 * hour)
          used = new Map()
          today++
        } else if (step.do === 'call') {
          const key = `key_${step.key}`
          const cost = step.input + 2 * step.output
          const reserved = [within(mostKey, step.input, cost), within(mostAll, step.input, cost)]
          const fits =
            (used.get(key) ?? 0) + reserved[0]! <= mostKey && (used.get('all') ?? 0) + reserved[1]! <= mostAll
          const answer = await call(scene, step.input, step.output, { ...payer, key }).catch((error: unknown) => error)
          assert.equal(!(answer instanceof TooMany), fits)
          if (answer instanceof TooMany) continue
          add(key, reserved[0]!)
          add('all', reserved[1]!)
          open.push({ key, day: today, reserved, cost, reservation: answer as Awaited<ReturnType<typeof call>> })
        } else if (open.length > 0) {
          const [{ key, day, reserved, cost, reservation }] = open.splice(step.which % open.length, 1) as [
            (typeof open)[number],
          ]
          // Whoever was killed settles nothing: its reservation stands until the window ends.
          if (step.way === 'lost') continue
          const truth = { told: step.input + 2 * step.output, guessed: cost, failed: 0, cancelled: 0 }[step.way]!
          if (step.way === 'cancelled') await reservation.cancel()
          else if (step.way === 'told') await reservation.settle({ input: step.input, output: step.output }, 'a')
          else await reservation.settle(null, step.way === 'guessed' ? 'a' : null)
          books += truth
          if (step.way !== 'cancelled') requests++
          if (day !== today) continue
          add(key, truth - reserved[0]!)
          add('all', truth - reserved[1]!)
        }
      }
      const told = await scene.books()
      assert.equal(told['cost_micros'] ?? 0, books)
      assert.equal(told['requests'] ?? 0, requests)
      await scene.dispose()
    }),
    { numRuns: 60 },
  )
})

t.test('the books are the backend’s own bill to the cent', async (t) => {
  const rates = { ...price, cached_price_per_k: 0.0001, reasoning_price_per_k: 0.005, cache_write_price_per_k: 0.00125 }
  let bill = 0
  const used = (input: number, output: number, cached: number, reasoning: number, written: number): Chunk => {
    bill += input - cached - written + cached * 0.1 + written * 1.25 + (output - reasoning) * 2 + reasoning * 5
    return {
      ...say(''),
      choices: [],
      usage: {
        prompt_tokens: input,
        completion_tokens: output,
        total_tokens: input + output,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens_details: { reasoning_tokens: reasoning },
        cache_creation_input_tokens: written,
      },
    }
  }
  const scripts = Array.from({ length: 40 }, (_, i) => [
    say('word '),
    stop,
    used(1_000 + 7 * i, 50 + i, 11 * i, i, 3 * i),
  ])
  // Tells what it used and then breaks: another backend goes on.
  const broken = Array.from({ length: 10 }, (_, i) => [say('word '), used(500 + i, 20, 100, 5, 10), failed(null)])
  const plain = actor('a', ...scripts)
  const breaking = actor('b', ...broken)
  const rescuer = actor('c', ...broken.map((_, i) => [say('more'), stop, used(600 + i, 30, 200, 7, 20)]))
  const prices = { price_config: { standard: { eu: rates } } }
  const scene = metered([plain, breaking, rescuer], {
    models: {
      small: { ...prices, upstreams: [{ provider: 'a' }] },
      rescued: { ...prices, continues: true, upstreams: [{ provider: 'b' }, { provider: 'c', priority: 2 }] },
    },
    limits: { ...unlimited, gateway: { costPerMonth: 1 } },
    routing: { breaker: { faults: 1_000, ratio: 1 } },
  })
  const run = async (name: string) => {
    const entry = (await scene.catalog.find(name, never))!
    const reservation = await scene.meter.reserve(payer, entry, { input: 1_500, output: 100 })
    const server = await scene.inference.chat({ entry, body: { messages: [] }, stream: true }, never)
    for await (const _ of server.answer.chunks);
    const { usageOf } = await import('../../../../core/dialects/chat-completions.ts')
    await reservation.settle(usageOf(server.usage), server.backend)
  }
  await Promise.all(scripts.map(() => run('small')))
  for (const _ of broken) await run('rescued')
  const { cost_micros = 0, requests, estimated = 0 } = await scene.books()
  t.equal(requests, 50)
  t.equal(estimated, 0)
  t.equal(rescuer.calls.length, 10, 'ten were rescued')
  t.ok(Math.abs(cost_micros - bill) < 0.01, `${cost_micros} of ${bill} millionths`)
  t.equal((cost_micros / 1e4).toFixed(2), (bill / 1e4).toFixed(2), 'to the hundredth of a cent')
})

t.test('what is a guess is summed apart', async (t) => {
  const scene = house({ key: { costPerDay: 1 } })
  await (await call(scene, 100, 100)).settle({ input: 10, output: 5 }, 'a')
  await (await call(scene, 100, 100)).settle({ input: 10, output: 10, estimated: true }, 'a')
  await (await call(scene, 100, 100)).settle(null, 'a')
  t.match(await scene.books(), { cost_micros: 350, estimated_cost_micros: 330, estimated: 2 })
})
