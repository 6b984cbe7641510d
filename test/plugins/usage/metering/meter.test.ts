import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import * as v from 'valibot'
import type { Caller } from '../../../../core/access/caller.ts'
import { BadRequest, TooMany, UpstreamFailed } from '../../../../core/errors.ts'
import type { Reply } from '../../../../core/http/reply.ts'
import type { UsageLedger } from '../../../../plugins/usage/ledger.ts'
import { usages, type UsageRow } from '../../../../plugins/usage/usage-rows.ts'
import { meter } from '../../../../plugins/usage/meter.ts'
import { estimateOf } from '../../../../core/inference/metering/tokens.ts'
import { Upstream, type Usage } from '../../../../core/ports/upstream.ts'
import { chatRoutes } from '../../../../plugins/surfaces/chat/chat.ts'
import { usageRoutes as usageRoute } from '../../../../plugins/surfaces/admin/usage.ts'
import { SettingsShape, type SettingsInput } from '../../../../core/settings.ts'
import { actor, chunk, failed, say, stop, usage, type Actor, type Step } from '../../../fakes/backends.ts'
import { checkedSettings } from '../../../fakes/checked-settings.ts'
import { settled } from '../../../fakes/clock.ts'
import { metered, payer as caller } from '../../../fakes/metered.ts'

const never = new AbortController().signal
const house = (upstreams: readonly Upstream[], settings: SettingsInput = {}) => {
  const parts = metered(upstreams, settings)
  return {
    ...parts,
    ledger: parts.ledger as UsageLedger,
    /** Tokens of the key's minute that are used up. */
    async used(name = 'tokens/minute/key/key_1', most = 1_000_000, per = 60_000) {
      const spent = await parts.limiter.spend([{ allowance: { name, concern: 'tokens', most, per }, amount: 0 }])
      return spent.ok ? most - spent.left[0]! : most + (spent.wait * most) / per
    },
    async row(): Promise<UsageRow | null> {
      await parts.clock.pass(2_000)
      return (await parts.rows.list(usages, {})).rows[0]?.row ?? null
    },
  }
}

type House = ReturnType<typeof house>

const small = (more: object = {}) => ({ models: { small: { upstreams: [{ provider: 'a' }], ...more } } })

t.test('a guess is a whole number above nothing, whatever a caller writes', (t) => {
  const odd = [Infinity, -Infinity, NaN, 0, -1000, -1e15, 1e999, 1.5, '7', null, {}] as const
  for (const max_tokens of odd)
    for (const n of odd) {
      const { input, output } = estimateOf({ messages: [], max_tokens, n } as never)
      t.ok(Number.isSafeInteger(input) && Number.isSafeInteger(output) && output > 0, `${max_tokens} and ${n}`)
    }
  t.same(estimateOf({ messages: [], max_tokens: 7, n: 3 }), { input: 1, output: 21 })
  t.end()
})

t.test('allowances', async (t) => {
  t.test('are taken before and set right afterwards, once, in whatever order it ends', async (t) => {
    const truth = fc.oneof(fc.constant(null), fc.record({ input: fc.nat(5000), output: fc.nat(5000) }))
    const call = fc.record({
      input: fc.nat(3000),
      output: fc.nat(3000),
      backend: fc.constantFrom('a', null),
      ends: fc.array(truth, { minLength: 1, maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), async (calls) => {
        const scene = house([actor('a', [])], small())
        const entry = (await scene.catalog.find('small', never))!
        const open = []
        let reserved = 0
        for (const call of calls) {
          open.push({ ...call, reservation: await scene.meter.reserve(caller, entry, call) })
          reserved += call.input + call.output
          assert.equal(await scene.used(), reserved)
        }
        let [tokens, input, unanswered] = [0, 0, 0]
        for (const call of open) {
          for (const end of call.ends) await call.reservation.settle(end, call.backend)
          const counted = call.ends[0] ?? (call.backend === null ? null : call)
          tokens += counted ? counted.input + counted.output : 0
          input += counted?.input ?? 0
          if (!counted) unanswered++
        }
        assert.equal(await scene.used(), tokens)
        assert.equal(await scene.used('tokens/minute/organization/org_1', 4_000_000), tokens)
        const row = (await scene.row())!
        assert.deepEqual([row.requests, row.input ?? 0, row.unanswered ?? 0], [calls.length, input, unanswered])
      }),
      { numRuns: 60 },
    )
  })

  t.test('refuse what does not fit, take nothing then, and say when', async (t) => {
    const scene = house([actor('a', [])], {
      ...small(),
      limits: { key: { tokensPerMinute: 600 }, organization: { tokensPerDay: 5000 } },
    })
    const entry = (await scene.catalog.find('small', never))!
    const first = await scene.meter.reserve(caller, entry, { input: 100, output: 400 })
    t.same(first.headers, {
      'x-ratelimit-limit-tokens': '600',
      'x-ratelimit-remaining-tokens': '100',
      'x-ratelimit-reset-tokens': '50s',
    })
    const refused = await Promise.resolve()
      .then(() => scene.meter.reserve(caller, entry, { input: 100, output: 100 }))
      .catch((error: unknown) => error)
    t.ok(refused instanceof TooMany)
    const told = { 'x-ratelimit-limit-tokens': '600', 'x-ratelimit-remaining-tokens': '100' }
    t.match(refused, { retryAfter: 10_000, headers: told })
    t.equal(await scene.used('tokens/day/organization/org_1', 5000, 86_400_000), 500)
    t.equal(await scene.used('tokens/minute/key/key_1', 600), 500)
    await first.settle({ input: 100, output: 0 }, 'a')
  })

  t.test('a long answer needs a whole allowance, a long question never fits', async (t) => {
    const scene = house([actor('a', [])], { ...small(), limits: { key: { tokensPerMinute: 600 } } })
    const entry = (await scene.catalog.find('small', never))!
    await (
      await scene.meter.reserve(caller, entry, { input: 10, output: 100_000 })
    ).settle({ input: 10, output: 700 }, 'a')
    t.equal(await scene.used('tokens/minute/key/key_1', 600), 710, 'driven below zero')
    const overdrawn = await Promise.resolve()
      .then(() => scene.meter.reserve(caller, entry, { input: 1, output: 0 }))
      .catch((error: unknown) => error)
    t.match(overdrawn, {
      status: 429,
      headers: { 'x-ratelimit-limit-tokens': '600', 'x-ratelimit-remaining-tokens': '0' },
    })
    const never_ = await Promise.resolve()
      .then(() => scene.meter.reserve(caller, entry, { input: 601, output: 0 }))
      .catch((error: unknown) => error)
    t.ok(never_ instanceof TooMany && never_.retryAfter === null)
  })

  t.test('none at all, and those of the key itself', async (t) => {
    const limits = { key: { tokensPerMinute: null }, organization: { tokensPerMinute: null } }
    const scene = house([actor('a', [])], { ...small(), limits })
    const entry = (await scene.catalog.find('small', never))!
    t.same((await scene.meter.reserve(caller, entry, { input: 1e9, output: 0 })).headers, {})
    const own = { ...caller, limits: { tokensPerDay: 10 } }
    await t.rejects(async () => scene.meter.reserve(own, entry, { input: 11, output: 0 }), TooMany)
  })

  t.test('those of a day are taken from every maker, too, or from none', async (t) => {
    const scene = house([actor('a', [])], small())
    const entry = (await scene.catalog.find('small', never))!
    const makers = [
      { key: 'key_first', limits: { tokensPerDay: 100, audioMinutesPerDay: 2 } },
      { key: 'key_second', limits: {} },
      { key: 'key_third', limits: { tokensPerDay: 1000 } },
    ]
    const child = { ...caller, limits: { tokensPerDay: 100 }, makers }
    const day = 86_400_000
    const used = async () => [
      await scene.used('tokens/day/key/key_1', 100, day),
      await scene.used('tokens/day/key/key_first', 100, day),
      await scene.used('tokens/day/key/key_third', 1000, day),
      await scene.used(),
    ]
    const first = await scene.meter.reserve(child, entry, { input: 20, output: 40 })
    t.same(await used(), [60, 60, 60, 60])
    await first.settle({ input: 20, output: 50 }, 'a')
    t.same(await used(), [70, 70, 70, 70], 'all are set right')
    const sibling = { ...child, key: 'key_2' }
    await t.rejects(async () => scene.meter.reserve(sibling, entry, { input: 10, output: 30 }), TooMany)
    t.same(await used(), [70, 70, 70, 70], 'what a maker refuses is taken from none')
    await (await scene.meter.reserve(sibling, entry, { input: 10, output: 20 })).cancel()
    t.same(await used(), [70, 70, 70, 70])
    const maker = { ...caller, key: 'key_first', limits: { tokensPerDay: 100 } }
    await t.rejects(
      async () => scene.meter.reserve(maker, entry, { input: 31, output: 0 }),
      TooMany,
      'its own is its children’s',
    )

    await scene.meter.spendAudio(child, entry, 90)
    t.equal(await scene.used('audio/day/key/key_first', 120, day), 90)
    await t.rejects(async () => scene.meter.spendAudio(sibling, entry, 31), TooMany)
  })

  t.test('of calendar days are whole again at midnight of their time zone', async (t) => {
    const limits = { key: { tokensPerDay: 100 }, days: 'calendar', timeZone: 'Europe/Berlin' } as const
    const scene = house([actor('a', [])], { ...small(), limits })
    const entry = (await scene.catalog.find('small', never))!
    const hour = 3_600_000
    await (await scene.meter.reserve(caller, entry, { input: 90, output: 10 })).settle({ input: 90, output: 10 }, 'a')
    const refused = await Promise.resolve()
      .then(() => scene.meter.reserve(caller, entry, { input: 1, output: 0 }))
      .catch((error: unknown) => error)
    t.match(refused, { status: 429, retryAfter: 11 * hour, headers: { 'x-ratelimit-reset-tokens': `${11 * 3600}s` } })
    await scene.clock.pass(11 * hour - 1)
    await t.rejects(
      async () => scene.meter.reserve(caller, entry, { input: 1, output: 0 }),
      TooMany,
      'nothing refills before',
    )
    await scene.clock.pass(1)
    await t.resolves(async () => scene.meter.reserve(caller, entry, { input: 100, output: 0 }))
  })

  t.test('that were changed count with the first call of the next generation', async (t) => {
    const scene = house([actor('a', [])], { ...small(), limits: { key: { tokensPerDay: 100 } } })
    const entry = (await scene.catalog.find('small', never))!
    await (await scene.meter.reserve(caller, entry, { input: 100, output: 0 })).settle({ input: 100, output: 0 }, 'a')
    await t.rejects(async () => scene.meter.reserve(caller, entry, { input: 1, output: 0 }), TooMany)
    const settings = checkedSettings({ ...small(), limits: { key: { tokensPerDay: 1000 } } })
    const raised = meter.create(
      {
        ...scene,
        observers: [],
        traces: [],
        quotas: [],
        lists: [],
        settings,
        log: { info() {}, warn() {}, error() {} },
      },
      {},
      'meter',
    )
    await t.resolves(async () => raised.reserve(caller, entry, { input: 900, output: 0 }), 'all of the raise is there')
    await t.rejects(async () => raised.reserve(caller, entry, { input: 1, output: 0 }), TooMany, 'and no more')
  })

  t.test('audio by its length', async (t) => {
    const scene = house([actor('a', [])], {
      ...small({ price_config: { standard: { eu: { audio_price_per_min: 0.6 } } } }),
      limits: { key: { audioMinutesPerDay: 2 } },
    })
    const entry = (await scene.catalog.find('small', never))!
    const first = await scene.meter.spendAudio(caller, entry, 90)
    await t.rejects(async () => scene.meter.spendAudio(caller, entry, 31), TooMany)
    await first.settle(30, 'a')
    await (await scene.meter.spendAudio(caller, entry, 90)).settle(null, null)
    t.equal(await scene.used('audio/day/key/key_1', 120, 86_400_000), 30)
    t.match(await scene.row(), { requests: 2, audio_seconds: 30, cost_micros: 300_000, unanswered: 1 })
  })
})

t.test('cost', async (t) => {
  const price = { prompt_price_per_k: 0.5, completion_price_per_k: 2, reasoning_price_per_k: 4 }
  const cases: readonly [object, Usage, Partial<UsageRow>][] = [
    [
      { price_config: { standard: { eu: price } } },
      { input: 1000, output: 300, reasoning: 100 },
      { cost_micros: 1_300_000 },
    ],
    [
      { price_config: { standard: { eu: { ...price, reasoning_price_per_k: undefined } } } },
      { input: 0, output: 300, reasoning: 100 },
      { cost_micros: 600_000 },
    ],
    [
      { price_config: { standard: { us: { prompt_price_per_k: 9 }, eu: price } }, regions: ['eu'] },
      { input: 1000, output: 0 },
      { cost_micros: 500_000 },
    ],
    [
      { price_config: { standard: { eu: { prompt_price_per_k: 0, completion_price_per_k: 0 } } } },
      { input: 1, output: 1 },
      {},
    ],
    [{ price_config: { standard: { eu: { prompt_price_per_k: 1 } } } }, { input: 1, output: 1 }, { unpriced: 1 }],
    [{}, { input: 1, output: 1 }, { unpriced: 1 }],
  ]
  for (const [more, counted, expected] of cases) {
    const settings = JSON.parse(JSON.stringify(small(more))) as SettingsInput
    const scene = house([actor('a', [])], settings)
    const entry = (await scene.catalog.find('small', never))!
    await (await scene.meter.reserve(caller, entry, { input: 1, output: 1 })).settle(counted, 'a')
    const { cost_micros = undefined, unpriced = undefined } = (await scene.row())!
    t.same({ ...(cost_micros !== undefined && { cost_micros }), ...(unpriced !== undefined && { unpriced }) }, expected)
  }
})

t.test('totals', async (t) => {
  t.test('wait while the store is down, and are written on the way out', async (t) => {
    const scene = house([actor('a', [])], small())
    const entry = (await scene.catalog.find('small', never))!
    const { add } = scene.rows
    let down = true
    scene.rows.add = (async (...row: Parameters<typeof add>) =>
      down ? Promise.reject(new Error('down')) : add(...row)) as typeof add
    for (let i = 0; i < 3; i++)
      await (await scene.meter.reserve(caller, entry, { input: 1, output: 1 })).settle({ input: 5, output: 2 }, 'a')
    t.match(await scene.row(), { requests: undefined })
    t.ok(scene.events.some(({ event }) => event === 'usage.unwritten'))
    down = false
    await scene.ledger.dispose?.()
    t.match((await scene.rows.list(usages, {})).rows, [
      {
        id: 'key_1/2030-01-31/small',
        row: {
          organization: 'org_1',
          key: 'key_1',
          day: '2030-01-31',
          model: 'small',
          requests: 3,
          input: 15,
          output: 6,
        },
      },
    ])
  })

  t.test('count once, though answers are lost, late or never come', async (t) => {
    const scene = house([actor('a', [])], small())
    const place = { organization: 'o', key: 'k', day: '2030-01-31', model: 'm' }
    const { add } = scene.rows
    const late: (() => Promise<unknown>)[] = []
    const lost = async (work: () => Promise<unknown>) => void (await work())
    const delayed = async (work: () => Promise<unknown>) => void late.push(work)
    for (const [i, fate] of [lost, delayed].entries()) {
      scene.rows.add = (async (...row: Parameters<typeof add>) => {
        scene.rows.add = add
        await fate(() => add(...row))
        throw new Error('No answer')
      }) as typeof add

      scene.ledger.add(place, { requests: 1, input: 1 })
      await scene.clock.pass(1_000)
      t.equal(scene.events.filter(({ event }) => event === 'usage.unwritten').length, i + 1)
      scene.ledger.add(place, { requests: 1, input: 10 })
      t.match(await scene.row(), { requests: 2 * i + 2, input: 11 * i + 11 })
    }
    t.equal(await late[0]!(), null)
    t.match(await scene.row(), { requests: 4, input: 22 })

    await scene.rows.remove(usages, 'k/2030-01-31/m')
    scene.ledger.add(place, { requests: 1 })
    await scene.ledger.dispose?.()
    t.match(
      await scene.row(),
      { organization: 'o', requests: 1 },
      'in a row that is whole, where the other one is gone',
    )
  })

  t.test('are shown to their own organisation', async (t) => {
    const scene = house([])
    const put = (organization: string, key: string, day: string, counts: object) =>
      scene.rows.create(usages, `${key}/${day}/m`, { organization, key, day, model: 'm', ...counts })
    await put('org_1', 'k1', '2030-01-01', { requests: 2, input: 3, output: 4, cost_micros: 1_500_000 })
    await put('org_1', 'k2', '2030-01-02', { requests: 1, unpriced: 1 })
    await put('org_1', 'k1', '2030-02-01', { requests: 1, unanswered: 1 })
    await put('org_2', 'k9', '2030-01-02', { requests: 1 })
    const ask = async (query: object) => {
      const checked = v.parse(usageRoute[0].query!, query)
      const reply = await usageRoute[0].handle({ caller, query: checked } as never, {
        ...scene,
        settings: v.parse(SettingsShape, {}),
      })
      return (
        reply as unknown as {
          data: {
            usage: readonly { key: string; day: string; cost: number | null; requests: number }[]
            pagination: object
          }
        }
      ).data
    }
    const all = await ask({})
    t.same(
      all.usage.map(({ key, day, cost }) => [key, day, cost]),
      [
        ['k1', '2030-02-01', null],
        ['k2', '2030-01-02', null],
        ['k1', '2030-01-01', 1.5],
      ],
    )
    t.same(all.pagination, { limit: 20, offset: 0, total: 3, has_more: false })
    t.same(
      (await ask({ from: '2030-01-02', to: '2030-01-31' })).usage.map(({ key }) => key),
      ['k2'],
    )
    t.same(
      (await ask({ key: 'k1', limit: '1', offset: '1' })).usage.map(({ day }) => day),
      ['2030-01-01'],
    )
    t.same((await ask({ key: 'k9' })).usage, [])
    for (const from of ['yesterday', '2030-01', '2030', '2030-02-30'])
      t.notOk(v.is(usageRoute[0].query!, { from }), `${from} is no day`)
  })
})

t.test('chat', async (t) => {
  const [complete] = chatRoutes

  const ask = (house: House, input: object = {}, signal: AbortSignal = never, who: Caller = caller): Promise<Reply> => {
    const parameters = { model: 'small', stream: true, messages: [{ role: 'user', content: 'Say it.' }], ...input }
    const request = {
      id: 'id_1',
      input: parameters,
      query: undefined,
      params: {},
      caller: who,
      header: () => null,
      bytes: never,
      headers: {},
      signal,
    }
    return complete.handle(request as never, { ...house, filters: [], rules: [], traces: [] }) as Promise<Reply>
  }

  const hello: readonly Step[] = [
    chunk({ role: 'assistant' }, null, { usage: null }),
    say('Hel', { usage: null }),
    say('lo', { usage: null }),
    chunk({}, 'stop', { usage: null }),
    usage(5, 2),
  ]

  t.test('settles exactly once, whichever way it ends', async (t) => {
    const estimated = { requests: 1, estimated: 1 }
    const ways: Readonly<
      Record<
        string,
        {
          script: Parameters<typeof actor>[1]
          end: 'reads' | 'leaves' | 'aborts'
          after?: number
          counts: Partial<UsageRow>
          error?: true
          whole?: true
        }
      >
    > = {
      'clean end': { script: hello, end: 'reads', counts: { requests: 1, input: 5, output: 2 } },
      'no counts': { script: [say('Hello you'), stop], end: 'reads', counts: { ...estimated, output: 3 } },
      'fails before the first token': {
        script: failed(),
        end: 'reads',
        counts: { requests: 1, unanswered: 1 },
        error: true,
      },
      refused: { script: new BadRequest('no'), end: 'reads', counts: { requests: 1, unanswered: 1 }, error: true },
      'breaks in the middle': {
        script: [say('Hello you'), failed(null)],
        end: 'reads',
        counts: { ...estimated, output: 3 },
        error: true,
      },
      'reader leaves before': { script: hello, end: 'leaves', after: 0, counts: { requests: 1, unanswered: 1 } },
      'reader leaves in the middle': { script: hello, end: 'leaves', after: 2, counts: { ...estimated, output: 1 } },
      'reader leaves behind the end': {
        script: hello,
        end: 'leaves',
        after: 5,
        counts: { requests: 1, input: 5, output: 2 },
      },
      'signal while connecting': {
        script: 'silence',
        end: 'aborts',
        after: 0,
        counts: { requests: 1, unanswered: 1 },
        error: true,
      },
      'signal in the middle': {
        script: [say('Hello you'), 'silence'],
        end: 'aborts',
        after: 1,
        counts: { ...estimated, output: 3 },
        error: true,
      },
      'whole, fails': {
        script: failed(),
        end: 'reads',
        counts: { requests: 1, unanswered: 1 },
        error: true,
        whole: true,
      },
      'whole, signal': {
        script: 'silence',
        end: 'aborts',
        counts: { requests: 1, unanswered: 1 },
        error: true,
        whole: true,
      },
    }
    for (const [way, { script, end, after = 0, counts, error = false, whole = false }] of Object.entries(ways)) {
      const backend: Actor = actor('a', script)
      const scene = house([backend], { ...small(), routing: { retries: 0 } })
      const settles: unknown[][] = []
      const { reserve } = scene.meter
      const watched = {
        ...scene,
        meter: {
          ...scene.meter,
          async reserve(...row: Parameters<typeof reserve>) {
            const reservation = await reserve(...row)
            return {
              headers: reservation.headers,
              began: () => reservation.began(),
              cancel: () => reservation.cancel(),
              settle: (...how: Parameters<typeof reservation.settle>) => (
                settles.push(how),
                reservation.settle(...how)
              ),
            }
          },
        },
      } as House
      const controller = new AbortController()
      const reason = new UpstreamFailed('stands for leaving')
      const call = ask(watched, { stream: !whole }, controller.signal)
      let thrown: unknown = null
      if (whole) {
        const ended = call.catch((error: unknown) => (thrown = error))
        await settled()
        if (end === 'aborts') controller.abort(reason)
        await ended
      } else {
        const reply = await call
        const events = (reply.kind === 'events' ? reply.events : (t.fail('no stream') as never))[Symbol.asyncIterator]()
        const pull = async () => {
          const result = await events.next().catch((error: unknown) => ((thrown = error), null))
          return result !== null && !result.done
        }
        for (let i = 0; i < after; i++) await pull()
        if (end === 'reads') while (await pull());
        if (end === 'leaves') await events.return!()
        if (end === 'aborts') {
          const waiting = pull()
          await settled()
          controller.abort(reason)
          await waiting
        }
        t.notOk(await pull(), `${way}: over`)
        await events.return!()
      }
      t.equal(thrown !== null, error, `${way}: ${error ? 'told' : 'no error'}`)
      await settled()
      const used = await scene.used()
      const row = (await scene.row())!
      t.match(row, counts, way)
      t.equal(row.requests, 1, `${way}: counted once`)
      t.equal(used, (row.input ?? 0) + (row.output ?? 0), `${way}: the allowance is set right`)
      t.equal(settles.length >= 1, true, `${way}: settled`)
      t.equal(backend.open, 0, `${way}: closed`)
      t.equal(scene.clock.armed(), 0, `${way}: no alarm is left`)
    }
  })
})

t.test('tokens that a prompt cache held weigh nothing against limits of tokens, unless they are counted', async (t) => {
  for (const [cachedTokens, admitted] of [
    ['free', 12],
    ['counted', 6],
  ] as const) {
    const { meter, catalog } = house([actor('a', [])], {
      ...small(),
      limits: { cachedTokens, key: { tokensPerMinute: 1_000_000 } },
    })
    const entry = (await catalog.find('small', never))!
    let calls = 0
    for (; calls < 12; calls++) {
      try {
        const reservation = await meter.reserve(caller, entry, { input: 150_000, output: 500 })
        await reservation.settle({ input: 150_000, output: 500, cached: 149_000 }, 'p')
      } catch (refused) {
        t.ok(refused instanceof TooMany)
        break
      }
    }
    t.equal(calls, admitted, cachedTokens)
  }
})
