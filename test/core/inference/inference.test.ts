import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import * as v from 'valibot'
import { BadRequest, TooMany, Unavailable, UpstreamFailed } from '../../../core/errors.ts'
import { Inference, inference } from '../../../core/inference/inference.ts'
import { breaker } from '../../../core/inference/routing/breaker.ts'
import { entryOf, type Entry } from '../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from '../../../plugins/shared/models/candidate.ts'
import { orderBackends } from '../../../core/inference/routing/order-backends.ts'
import { affinityOf } from '../../../plugins/surfaces/shared/session.ts'
import { use } from '../../../core/plugin.ts'
import { log } from '../../../adapters/memory/platform.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import type { ChatBody, Chunk, Upstream } from '../../../core/ports/upstream.ts'
import { Observer, type Saw } from '../../../core/ports/observer.ts'
import { ModelSettings, Settings, SettingsShape, type SettingsInput } from '../../../core/settings.ts'
import { actor, chunk, failed, say, silence, stop, usage, type Actor } from '../../fakes/backends.ts'
import { fakeClock, settled, type FakeClock } from '../../fakes/clock.ts'
import { given, made } from '../../fitted.ts'

const never = new AbortController().signal
const body: ChatBody = { messages: [{ role: 'user', content: 'Say it.' }] }

/** Chance that is the same each time. */
const dice = (seed = 1): Random => {
  let state = seed
  return {
    bytes: (length) => new Uint8Array(length),
    fraction() {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32
    },
  }
}

const fixed = (fraction: number): Random => ({ bytes: (length) => new Uint8Array(length), fraction: () => fraction })

const infer = (
  clock: FakeClock,
  settings: SettingsInput = {},
  random: Random = fixed(0),
  saw: Saw = () => undefined,
): Inference =>
  made(
    Inference,
    use(inference),
    given(Settings, 'settings', () => v.parse(SettingsShape, settings)),
    given(Clock, 'clock', () => clock),
    given(Random, 'random', () => random),
    use(log),
    given(Observer, 'kept', () => ({ saw })),
  )

const entry = (upstreams: readonly Upstream[], more: Partial<v.InferInput<typeof ModelSettings>> = {}): Entry => {
  const settings = v.parse(ModelSettings, { upstreams: upstreams.map(({ name }) => ({ provider: name })), ...more })
  return entryOf(
    'small',
    settings,
    upstreams.map((upstream, index) => candidateOf(upstream, 'm', { priority: index + 1 })),
  )
}

/** All that a stream gives, and how it ends. */
const drain = async (chunks: AsyncIterable<Chunk>) => {
  const got: Chunk[] = []
  let error: unknown = null
  try {
    for await (const chunk of chunks) got.push(chunk)
  } catch (thrown) {
    error = thrown
  }
  return { got, error, text: got.map(({ choices }) => choices[0]?.delta.content ?? '').join('') }
}

const streamed = async (gateway: Inference, entry: Entry, sent: ChatBody = body, signal = never) =>
  gateway.chat({ entry, body: sent, stream: true }, signal)

// A first call loads the code of all calls, which takes time that no clock of these tests knows.
t.before(() => infer(fakeClock()).count({ entry: entry([actor('a', [stop])]), body }, never))

t.test('a chunk of another form ends its stream, and nothing else', async (t) => {
  const odd = { ...say('x'), choices: [{ index: 0, finish_reason: null }] } as unknown as Chunk
  for (const [script, text] of [
    [[odd, say('Hi'), stop], ''],
    [[say('Hi'), odd, stop], 'Hi'],
  ] as const) {
    const backend = actor('a', script)
    const clock = fakeClock()
    const { answer } = await streamed(infer(clock), entry([backend]))
    const got = await drain(answer.chunks)
    t.match(got.error, TypeError)
    t.equal(got.text, text)
    t.equal(backend.open, 0, 'the backend is left')
    t.equal(clock.armed(), 0, 'and nobody watches it')
  }
})

t.test('a fault that time heals is told before one that an operator has to mend', async (t) => {
  const passing = [503, 429, null]
  const lasting = [401, 404]
  for (const one of passing)
    for (const other of lasting)
      for (const order of [
        [one, other],
        [other, one],
      ]) {
        const ask = ({ provider }: { readonly provider: string }) => Promise.reject(failed(order[Number(provider)]))
        const backends = entry([actor('0', []), actor('1', [])])
        const call = infer(fakeClock(), { routing: { retries: 0 } }).run(
          { entry: backends, ability: 'chat' },
          ask,
          never,
        )
        t.equal(await call.catch(({ status }) => status), 503, `${order}`)
      }
})

t.test('a backend gets of what came beside a call only what the backend takes', async (t) => {
  const beside = { key: 'a secret', note: 'a note' }
  for (const [takes, given] of [
    [undefined, undefined],
    [['note'], { note: 'a note' }],
    [['key', 'other'], { key: 'a secret' }],
  ] as const) {
    const backend = actor('a', [say('Yes.'), stop])
    const upstream: Upstream = takes === undefined ? backend : Object.assign(backend, { takes })
    const { answer } = await infer(fakeClock()).chat({ entry: entry([upstream]), body, stream: true, beside }, never)
    await drain(answer.chunks)
    t.strictSame(backend.calls[0]?.beside, given, String(takes))
  }
})

t.test('pick', async (t) => {
  const five = [1, 2, 3, 4, 0].map((weight, index) => candidateOf(actor(`b${index}`, []), 'm', { weight }))
  const five_ = entryOf('small', v.parse(ModelSettings, { upstreams: [{ provider: 'b0' }] }), five)
  const closed = { isOpen: () => false }

  t.test('falls on each in proportion to its weight', async (t) => {
    const { fraction } = dice(7)
    const first = new Map<string, number>()
    const rounds = 20_000
    for (let i = 0; i < rounds; i++) {
      const [backend] = orderBackends({ entry: five_, ability: 'chat' }, { ...closed, fraction })
      first.set(backend!.provider, (first.get(backend!.provider) ?? 0) + 1)
    }
    for (const [index, share] of [0.1, 0.2, 0.3, 0.4].entries()) {
      const spread = 4 * Math.sqrt(rounds * share * (1 - share))
      t.ok(Math.abs((first.get(`b${index}`) ?? 0) - rounds * share) < spread, `b${index}: ${first.get(`b${index}`)}`)
    }
    t.equal(first.get('b4'), undefined, 'weight 0 is only a way out')
  })

  t.test('affinity stays, is fair, and moves only what must move', async (t) => {
    const by = (candidates: typeof five, affinity: string) =>
      orderBackends(
        { entry: { ...five_, candidates }, ability: 'chat', affinity },
        { ...closed, fraction: () => t.fail('no lot') as never },
      )[0]!
    const counts = new Map<string, number>()
    let moved = 0
    for (let i = 0; i < 4000; i++) {
      const candidate = by(five, `talk ${i}`)
      counts.set(candidate.provider, (counts.get(candidate.provider) ?? 0) + 1)
      if (candidate !== by(five, `talk ${i}`)) t.fail('moved without reason')
      const without = by(
        five.filter(({ provider }) => provider !== 'b0'),
        `talk ${i}`,
      )
      if (candidate.provider !== 'b0' && without !== candidate) moved++
    }
    t.equal(moved, 0)
    t.ok(Math.abs(counts.get('b3')! - 1600) < 130, `${counts.get('b3')} of 4000 on the one of weight 4 of 10`)
  })

  t.test('priority first, open breakers last', async (t) => {
    const order = (open: string) =>
      orderBackends(
        { entry: entry([actor('a', []), actor('b', []), actor('c', [])]), ability: 'chat' },
        { fraction: dice(3).fraction, isOpen: ({ provider }) => provider === open },
      ).map(({ provider }) => provider)
    t.same(order(''), ['a', 'b', 'c'])
    t.same(order('a'), ['b', 'c', 'a'])
  })

  t.test('pins, and names the backends when there is no such', async (t) => {
    const choice = { entry: entry([actor('a', []), actor('b', [])]), ability: 'chat' } as const
    const weighing = { ...closed, fraction: () => 0.5 }
    t.same(
      orderBackends({ ...choice, provider: 'b' }, weighing).map(({ provider }) => provider),
      ['b'],
    )
    const refused = t.throws(() => orderBackends({ ...choice, provider: 'nobody' }, weighing), BadRequest)
    t.match(refused, { status: 400, validator: { provider: 'expected one of a, b' } })
  })

  t.test('affinity knows conversations by their beginning and tells nothing of them', async (t) => {
    const model = entry([actor('a', []), actor('b', [])])
    const talk = (user: string, ...more: readonly string[]): ChatBody => ({
      messages: [{ role: 'system', content: 'S' }, ...[user, ...more].map((content) => ({ role: 'user', content }))],
    })
    const one = affinityOf(model, 'org', talk('secret'))
    t.match(one, /^[0-9a-f]{16}$/)
    t.equal(affinityOf(model, 'org', talk('secret', 'next', 'turn')), one)
    t.not(affinityOf(model, 'other', talk('secret')), one)
    t.not(affinityOf(model, 'org', talk('other')), one)
    t.equal(affinityOf(entry([actor('a', [])]), 'org', talk('secret')), null)
    const image = (url: string): ChatBody => ({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    })
    t.not(affinityOf(model, 'org', image('data:a')), affinityOf(model, 'org', image('data:b')))
  })
})

t.test('breaker', async (t) => {
  const settings = { faults: 3, ratio: 0.5, rest: 1000 }
  t.test('opens after faults in a row, and lets one find out', async (t) => {
    const circuit = breaker(settings)
    for (const _ of [1, 2]) circuit.fault(circuit.enter(0)!, 0)
    circuit.ok(circuit.enter(0)!)
    for (const _ of [1, 2, 3]) circuit.fault(circuit.enter(0)!, 0)
    t.equal(circuit.enter(999), null)
    t.equal(circuit.rest(400), 600)
    t.equal(circuit.enter(1000), 'probe')
    t.equal(circuit.enter(1000), null, 'only one')
    circuit.left('probe')
    t.equal(circuit.enter(1000), 'probe', 'who left told nothing')
    circuit.fault('probe', 1000)
    t.equal(circuit.enter(1999), null)
    circuit.ok(circuit.enter(2000)!)
    t.equal(circuit.enter(2000), 'plain')
    t.equal(circuit.rest(2000), 0)
  })
  t.test('a clock that is set back keeps nobody out for longer', async (t) => {
    const circuit = breaker(settings)
    for (const _ of [1, 2, 3]) circuit.fault(circuit.enter(3_600_000)!, 3_600_000)
    t.equal(circuit.enter(3_600_999), null)
    t.equal(circuit.rest(0), 0)
    t.equal(circuit.enter(0), 'probe')
  })
  t.test('opens when the share of faults passes, but not on few calls', async (t) => {
    const circuit = breaker({ ...settings, faults: 100 })
    const call = (fault: boolean) => (fault ? circuit.fault(circuit.enter(0)!, 0) : circuit.ok(circuit.enter(0)!))
    for (let i = 0; i < 40; i++) call(i % 2 === 1)
    t.equal(circuit.enter(0), 'plain', 'half is not more than half')
    for (const fault of [true, true]) if (circuit.enter(0)) call(fault)
    t.equal(circuit.enter(0), null)
  })
})

t.test('count', async (t) => {
  const counting = (name: string, count: Upstream['countTokens']): Upstream => ({
    ...actor(name, [say('Hi'), stop]),
    countTokens: count!,
  })
  const silent = (name: string) => counting(name, (_, signal) => silence(signal))

  t.test('a silent backend leaves half of five seconds to the next one', async (t) => {
    const clock = fakeClock()
    const model = entry([silent('a'), counting('b', async () => ({ tokens: 7 }))])
    const call = infer(clock).count({ entry: model, body }, never)
    let counted = false
    void call.then(() => (counted = true))
    await clock.pass(2_499)
    t.equal(counted, false)
    await clock.pass(1)
    t.same(await call, { tokens: 7 })
    t.equal(clock.armed(), 0)
  })

  t.test('no backend is asked twice, and none for longer than five seconds in all', async (t) => {
    const clock = fakeClock()
    const asked: string[] = []
    const failing = counting('a', async () => {
      asked.push('a')
      throw failed()
    })
    const call = infer(clock, { routing: { retries: 5, hedge: { after: 1, share: 1 } } }).count(
      { entry: entry([failing, silent('b')]), body },
      never,
    )
    const end = t.rejects(call, UpstreamFailed)
    await clock.pass(5_000)
    await end
    t.same(asked, ['a'])
    t.equal(clock.armed(), 0)
  })

  t.test('faults of counts rest the counter alone, and no observer takes a count for an answer', async (t) => {
    const seen: string[] = []
    const model = entry([counting('a', async () => Promise.reject(failed()))])
    const saw: Saw = (provider) => void seen.push(provider)
    const clock = fakeClock()
    const gateway = infer(clock, { routing: { retries: 0, breaker: { faults: 2 } } }, fixed(0), saw)
    for (const _ of [1, 2]) await t.rejects(gateway.count({ entry: model, body }, never), UpstreamFailed)
    await t.rejects(gateway.count({ entry: model, body }, never), Unavailable)
    t.same(seen, [])
    t.equal((await drain((await streamed(gateway, model)).answer.chunks)).text, 'Hi')
    gateway.breakers.of('a/m').hold(clock.now(), 60_000)
    t.equal(await gateway.count({ entry: model, body }, never), null, 'a backend that rests would answer no chat')
  })
})

t.test('run', async (t) => {
  const asks = (...results: readonly unknown[]) => {
    const seen: string[] = []
    const ask = async ({ provider }: { readonly provider: string }) => {
      const result = results[Math.min(seen.length, results.length - 1)]
      seen.push(provider)
      if (result instanceof Error) throw result
      return result
    }
    return { ask, seen }
  }
  const two = entry([actor('a', []), actor('b', [])])
  const lone = entry([actor('a', [])])

  t.test('falls back at once, tries what may pass again, and no more than allowed', async (t) => {
    const clock = fakeClock()
    const gateway = infer(clock)
    const { ask, seen } = asks(failed(), 'yes')
    const answered = { answer: 'yes', backend: 'b', by: 'b/m' }
    t.same(await gateway.run({ entry: two, ability: 'chat' }, ask, never), answered)
    t.same(seen, ['a', 'b'])
    const again = asks(failed())
    const call = gateway.run({ entry: lone, ability: 'chat' }, again.ask, never)
    const end = t.rejects(call, UpstreamFailed)
    await clock.pass(10_000)
    await end
    t.same(again.seen, ['a', 'a', 'a'])
  })

  t.test('never tries other faults again', async (t) => {
    const gateway = infer(fakeClock())
    for (const fault of [new BadRequest('no'), new UpstreamFailed(undefined, { answered: 401 })]) {
      const { ask, seen } = asks(fault)
      await t.rejects(gateway.run({ entry: two, ability: 'chat' }, ask, never), fault)
      t.same(seen, ['a'])
    }
    t.same((await gateway.run({ entry: two, ability: 'chat' }, async () => 1, never)).backend, 'a')
  })

  t.test('an error of no class of faults is tried elsewhere, and never with the same backend', async (t) => {
    const gateway = infer(fakeClock())
    const fault = new TypeError('ours')
    const mended = asks(fault, 'yes')
    const answered = { answer: 'yes', backend: 'b', by: 'b/m' }
    t.same(await gateway.run({ entry: two, ability: 'chat' }, mended.ask, never), answered)
    const broken = asks(fault)
    await t.rejects(gateway.run({ entry: two, ability: 'chat' }, broken.ask, never), fault)
    t.same(broken.seen, ['a', 'b'])
  })

  t.test('waits as told, and fails at once when that is too long', async (t) => {
    const clock = fakeClock()
    const gateway = infer(clock)
    const { ask, seen } = asks(failed(503, 5000), 'yes')
    const call = gateway.run({ entry: lone, ability: 'chat' }, ask, never)
    await clock.pass(4999)
    t.equal(seen.length, 1)
    await clock.pass(1)
    t.equal((await call).answer, 'yes')
    const late = asks(failed(503, 200_000))
    t.match(await gateway.run({ entry: lone, ability: 'chat' }, late.ask, never).catch((error: unknown) => error), {
      retryAfter: 200_000,
    })
    t.equal(late.seen.length, 1)
    t.equal(clock.armed(), 0)
  })

  t.test('a caller that tries again by itself never waits for a lone backend that is full', async (t) => {
    for (const wait of [5_000, 10]) {
      const { ask, seen } = asks(failed(429, wait), 'yes')
      const end = await infer(fakeClock())
        .run({ entry: lone, ability: 'chat', tries: 0 }, ask, never)
        .catch((fault: unknown) => fault)
      t.match(end, { name: 'TooMany', retryAfter: wait, apart: true })
      t.equal(seen.length, 1)
    }
  })

  t.test('the pause is a full jitter', async (t) => {
    for (const [fraction, from, to] of [
      [0.999, 299, 300],
      [0.5, 150, 151],
    ] as const) {
      const clock = fakeClock()
      const { ask, seen } = asks(failed(), 'yes')
      const call = infer(clock, {}, fixed(fraction)).run({ entry: lone, ability: 'chat' }, ask, never)
      await clock.pass(from - 1)
      t.equal(seen.length, 1)
      await clock.pass(to - from + 1)
      t.equal(seen.length, 2)
      await call
    }
  })

  t.test('one deadline over all attempts', async (t) => {
    const clock = fakeClock()
    const start = clock.now()
    const { ask } = asks(failed(503, 400))
    const times: number[] = []
    const call = infer(clock, { routing: { retries: 5 } }).run(
      { entry: lone, ability: 'chat', total: 1000 },
      async (candidate, signal) => {
        times.push(clock.now() - start)
        return times.length < 3 ? ask(candidate) : silence(signal)
      },
      never,
    )
    const end = t.rejects(call, UpstreamFailed).then(() => clock.now() - start)
    await clock.pass(999)
    t.same(times, [0, 400, 800])
    await clock.pass(1)
    t.equal(await end, 1000)
    t.equal(clock.armed(), 0)
  })

  t.test('a broken backend is left in peace, and the caller told how long', async (t) => {
    const clock = fakeClock()
    const gateway = infer(clock, { routing: { retries: 0, breaker: { faults: 2, rest: 3000 } } })
    const { ask, seen } = asks(failed(), failed(), 'yes')
    for (const _ of [1, 2]) await t.rejects(gateway.run({ entry: lone, ability: 'chat' }, ask, never), UpstreamFailed)
    await clock.pass(1000)
    t.match(await gateway.run({ entry: lone, ability: 'chat' }, ask, never).catch((error: unknown) => error), {
      status: 503,
      retryAfter: 2000,
    })
    await t.rejects(gateway.run({ entry: lone, ability: 'chat' }, ask, never), Unavailable)
    t.equal(seen.length, 2)
    await clock.pass(2000)
    t.equal((await gateway.run({ entry: lone, ability: 'chat' }, ask, never)).answer, 'yes')
  })

  t.test('a fault that an operator has to mend is told while the breaker is open, too', async (t) => {
    const clock = fakeClock()
    const lasting = (answered: number) => new UpstreamFailed(undefined, { again: true, answered })
    const made = () => infer(clock, { routing: { retries: 0, breaker: { faults: 1, rest: 1000 } } })
    const told = async (gateway: Inference, on: Entry, ...faults: readonly unknown[]) =>
      gateway.run({ entry: on, ability: 'chat' }, asks(...faults).ask, never).catch((error: unknown) => error)
    const one = made()
    const fault = new UpstreamFailed('No such key: words of the first caller', { again: true, answered: 401 })
    const isTold = { status: 502, answered: 401, message: 'Upstream service failed' }
    t.equal(await told(one, lone, fault), fault)
    t.match(await told(one, lone, 'never asked'), isTold, 'the fault by an open breaker, without its words')
    await clock.pass(1000)
    const leaving = new AbortController()
    const probe = t.rejects(one.run({ entry: lone, ability: 'chat' }, (_, signal) => silence(signal), leaving.signal))
    t.match(await told(one, lone, 'never asked'), isTold, 'while another call finds out')
    leaving.abort(new Error('left'))
    await probe
    t.match(await told(one, lone, 'yes'), { answer: 'yes' })
    await told(one, lone, fault)
    one.breakers.of(lone.candidates[0]!.id).hold(clock.now(), 5_000)
    t.match(await told(one, lone, 'never asked'), { name: 'Unavailable', retryAfter: 5_000 }, 'an operator’s rest')

    const both = made()
    await told(both, two, lasting(404), lasting(401))
    t.match(await told(both, two, 'never asked'), { status: 502, answered: 404 })
    const mixed = made()
    await told(mixed, two, lasting(401), failed())
    t.match(
      await told(mixed, two, 'never asked'),
      { name: 'Unavailable', retryAfter: 1000 },
      'time may heal one of two',
    )
  })

  t.test('refusals and full queues open no breaker', async (t) => {
    const gateway = infer(fakeClock(), { routing: { retries: 0, breaker: { faults: 2 } } })
    for (let i = 0; i < 12; i++) {
      const fault = i % 2 ? new BadRequest('no') : failed(429)
      const kind = i % 2 ? BadRequest : TooMany
      await t.rejects(
        gateway.run({ entry: lone, ability: 'chat' }, async () => Promise.reject(fault), never),
        kind,
      )
    }
    t.ok(await gateway.run({ entry: lone, ability: 'chat' }, async () => 1, never))
  })

  t.test('the caller leaves: while asking, while pausing, before it began', async (t) => {
    const clock = fakeClock()
    const gateway = infer(clock)
    const reason = new Error('left')
    for (const answer of [silence, async () => Promise.reject(failed(503, 9000))]) {
      const controller = new AbortController()
      const signals: AbortSignal[] = []
      const call = gateway.run(
        { entry: lone, ability: 'chat' },
        (_, signal) => {
          signals.push(signal)
          return answer(signal)
        },
        controller.signal,
      )
      const end = t.rejects(call, reason)
      await settled()
      controller.abort(reason)
      await end
      t.ok(signals[0]!.aborted)
      t.equal(clock.armed(), 0)
    }
    const { ask, seen } = asks('yes')
    await t.rejects(gateway.run({ entry: lone, ability: 'chat' }, ask, AbortSignal.abort(reason)), reason)
    t.equal(seen.length, 0)
  })

  t.test('a caller that leaves a backend on probation lets the next caller find out', async (t) => {
    const clock = fakeClock()
    const gateway = infer(clock, { routing: { retries: 0, breaker: { faults: 1, rest: 1000 } } })
    const task = { entry: lone, ability: 'chat' } as const
    await t.rejects(gateway.run(task, asks(failed()).ask, never), UpstreamFailed)
    await clock.pass(1000)
    const leaving = new AbortController()
    const probe = t.rejects(gateway.run(task, (_, signal) => silence(signal), leaving.signal))
    await settled()
    leaving.abort(new Error('left'))
    await probe
    t.equal((await gateway.run(task, asks('yes').ask, never)).answer, 'yes')
  })

  t.test('a second backend is asked when the first is silent; the faster one wins', async (t) => {
    const clock = fakeClock()
    const gateway = infer(clock, { routing: { hedge: { after: 100, share: 1 } } })
    const signals = new Map<string, AbortSignal>()
    const ask = ({ provider }: { readonly provider: string }, signal: AbortSignal) => {
      signals.set(provider, signal)
      return provider === 'a' ? silence(signal) : Promise.resolve('yes')
    }
    const call = gateway.run({ entry: two, ability: 'chat' }, ask, never)
    await clock.pass(99)
    t.notOk(signals.has('b'))
    await clock.pass(1)
    t.equal((await call).backend, 'b')
    t.ok(signals.get('a')!.aborted, 'the slower one is ended')
    t.notOk(signals.get('b')!.aborted)
    t.equal(clock.armed(), 0)
  })

  t.test('a refusal of one backend waits for the other one that is still asked', async (t) => {
    const refusal = new BadRequest('no')
    const hedged = async (first: (signal: AbortSignal) => Promise<string>) => {
      const clock = fakeClock()
      const gateway = infer(clock, { routing: { retries: 0, hedge: { after: 100, share: 1 } } })
      const ask = ({ provider }: { readonly provider: string }, signal: AbortSignal) =>
        provider === 'a' ? clock.sleep(200, signal).then(() => first(signal)) : Promise.reject(refusal)
      const call = gateway.run({ entry: two, ability: 'chat' }, ask, never)
      const backend = call.then(
        (found) => found.backend,
        (fault: unknown) => fault,
      )
      for (const ms of [100, 100]) await clock.pass(ms)
      return backend
    }
    t.equal(await hedged(async () => 'yes'), 'a', 'the other one answers')
    t.equal(await hedged(() => Promise.reject(failed(503))), refusal, 'the other one fails')
  })

  t.test('hedged calls never pass their share', async (t) => {
    const clock = fakeClock()
    const gateway = infer(clock, {
      routing: { retries: 0, breaker: { faults: 1e6, ratio: 1 }, hedge: { after: 10, share: 0.05 } },
    })
    let asked = 0
    const rounds = 200
    for (let i = 0; i < rounds; i++) {
      const call = gateway.run(
        { entry: two, ability: 'chat', total: 15 },
        (_, signal) => {
          asked++
          return silence(signal)
        },
        never,
      )
      const end = t.rejects(call, UpstreamFailed)
      await clock.pass(20)
      await end
    }
    t.ok(asked > rounds && asked <= rounds * 1.05, `${asked} for ${rounds}`)
  })
})

t.test('a witness is told how each call to a backend went', async (t) => {
  const clock = fakeClock()
  const told: string[] = []
  const routing = { retries: 2, hedge: { after: 100, share: 1 } }
  const gateway = infer(clock, { routing }, fixed(0), (...row) => void told.push(row.slice(0, 3).join(' ')))
  const took = (upstreams: readonly Actor[], signal = never) =>
    streamed(gateway, entry(upstreams, { continues: true }), body, signal)
  const whole = [say('a'), say('b'), stop]

  await drain((await took([actor('down', failed()), actor('fine', whole)])).answer.chunks)
  t.same(told.splice(0), ['down failed 0', 'fine answered 0'])

  const slow = drain((await took([actor('slow', 'silence'), actor('quick', whole)])).answer.chunks)
  await clock.pass(100)
  await slow
  t.same(told.splice(0), ['quick answered 0', 'slow left 100'])

  await drain((await took([actor('cut', [say('a'), failed()]), actor('goes-on', [say('b'), stop])])).answer.chunks)
  t.same(told.splice(0), ['cut answered 0', 'cut broke 0', 'goes-on answered 0'])

  const caller = new AbortController()
  const waiting = drain((await took([actor('asked', 'silence')], caller.signal)).answer.chunks)
  await clock.pass(30)
  caller.abort(new Error('Left'))
  await waiting
  t.same(told.splice(0), ['asked left 30'])
  t.same(told, [], 'each once')
})

t.test('whole answers', async (t) => {
  t.test('chunks are folded and a broken fold is tried again', async (t) => {
    const clock = fakeClock()
    const actor1 = actor(
      'a',
      [say('Hal'), failed(null)],
      [chunk({ role: 'assistant' }), say('Hal'), say('lo'), stop, usage(3, 2)],
    )
    const call = infer(clock).chat({ entry: entry([actor1]), body, stream: false }, never)
    await clock.pass(1000)
    const { answer, backend, usage: counted } = await call
    t.equal(answer.completion.choices[0]!.message.content, 'Hallo')
    t.same([backend, counted?.total_tokens, actor1.calls.length, actor1.open], ['a', 5, 2, 0])
  })
})

t.test('streams', async (t) => {
  const hello = [chunk({ role: 'assistant' }), say('Hel'), say('lo'), stop, usage(5, 2)]

  t.test('are given as they come', async (t) => {
    const clock = fakeClock()
    const backend = actor('a', hello)
    const served = await streamed(infer(clock), entry([backend]))
    t.equal(backend.calls.length, 0, 'nobody is asked before the first next')
    t.equal(served.backend, null)
    const { got, error } = await drain(served.answer.chunks)
    t.same([got, error], [hello, null])
    t.same([served.backend, served.usage?.total_tokens, served.size, served.notes], ['a', 7, 5, []])
    t.same([backend.open, backend.closed, clock.armed()], [0, 0, 0])
  })

  t.test('what breaks before the first token is tried elsewhere unseen', async (t) => {
    const clock = fakeClock()
    for (const script of [failed(), [failed(null)], [chunk({ role: 'assistant' }), failed(null)], []] as const) {
      const [a, b] = [actor('a', script), actor('b', hello)]
      const served = await streamed(infer(clock), entry([a, b]))
      const { got, error } = await drain(served.answer.chunks)
      t.same([got, error], [hello, null])
      t.same([served.backend, served.notes], ['b', ['attempt 2 by b']])
      t.same([a.open, b.open], [0, 0])
    }
    t.equal(clock.armed(), 0)
  })

  t.test('a silent backend is left after the limit of the first token', async (t) => {
    const clock = fakeClock()
    const [a, b] = [actor('a', [chunk({ role: 'assistant' }), 'silence']), actor('b', hello)]
    const served = await streamed(infer(clock, { timeouts: { firstToken: 500 } }), entry([a, b]))
    const all = drain(served.answer.chunks)
    await clock.pass(499)
    t.equal(b.calls.length, 0)
    await clock.pass(1)
    t.same((await all).got, hello)
    t.same([a.open, a.closed], [0, 1])
  })

  t.test('the deadline covers every first token', async (t) => {
    const clock = fakeClock()
    const backend = actor('a', 'silence')
    const served = await streamed(infer(clock, { timeouts: { total: 1000, firstToken: 600 } }), entry([backend]))
    const first = t.rejects(served.answer.chunks[Symbol.asyncIterator]().next(), UpstreamFailed).then(() => clock.now())
    const start = clock.now()
    await clock.pass(5000)
    t.equal((await first) - start, 1000)
    t.same([backend.calls.length, backend.open, clock.armed()], [2, 0, 0])
  })

  t.test('after the first token nothing is tried again', async (t) => {
    for (const fault of [failed(null), new UpstreamFailed(), new TypeError('ours')]) {
      const [a, b] = [actor('a', [say('Hel'), fault]), actor('b', hello)]
      const served = await streamed(infer(fakeClock()), entry([a, b]))
      const { text, error } = await drain(served.answer.chunks)
      t.same([text, b.calls.length, a.open], ['Hel', 0, 0])
      t.equal(error, fault)
    }
  })

  t.test('a break behind the finish reason takes nothing away', async (t) => {
    const served = await streamed(infer(fakeClock()), entry([actor('a', [say('Hello'), stop, failed(null)])]))
    const { text, error } = await drain(served.answer.chunks)
    t.same([text, error, served.usage], ['Hello', null, null])
    const pair = await streamed(infer(fakeClock()), entry([actor('a', [say('Hello'), stop, failed(null)])]), {
      ...body,
      n: 2,
    })
    t.ok((await drain(pair.answer.chunks)).error, 'the other choice is missing')
  })

  t.test('standing still breaks it, a slow reader does not', async (t) => {
    const clock = fakeClock()
    const backend = actor('a', [say('Hel'), say('lo'), 'silence'])
    const chunks = (await streamed(infer(clock), entry([backend]))).answer.chunks[Symbol.asyncIterator]()
    await chunks.next()
    await clock.pass(60_000)
    t.equal((await chunks.next()).value.choices[0].delta.content, 'lo')
    await clock.pass(60_000)
    const last = t.rejects(chunks.next(), UpstreamFailed)
    await clock.pass(14_999)
    t.equal(backend.open, 1)
    await clock.pass(1)
    await last
    t.same([backend.open, backend.closed, clock.armed()], [0, 1, 0])
    t.same(await chunks.next(), { value: undefined, done: true })
  })

  t.test('the longest stream is cut, also while nobody reads', async (t) => {
    const clock = fakeClock()
    const backend = actor('a', [say('Hel'), say('lo'), 'silence'])
    const chunks = (await streamed(infer(clock, { timeouts: { stream: 5000 } }), entry([backend]))).answer.chunks[
      Symbol.asyncIterator
    ]()
    await chunks.next()
    await clock.pass(5000)
    t.same([backend.open, backend.closed], [0, 1])
    await t.rejects(chunks.next(), UpstreamFailed)
    t.same(await chunks.next(), { value: undefined, done: true })
    t.equal(clock.armed(), 0)
  })

  t.test('leaving ends the upstream at once, in every phase', async (t) => {
    const reason = new Error('left')
    const phases: Readonly<
      Record<
        string,
        {
          readonly script: Parameters<typeof actor>[1]
          readonly reads: number
          readonly waits: boolean
          continues?: true
        }
      >
    > = {
      'before anything': { script: hello, reads: 0, waits: false },
      connecting: { script: 'silence', reads: 0, waits: true },
      'before the first token': { script: [chunk({ role: 'assistant' }), 'silence'], reads: 0, waits: true },
      'in a pause between attempts': { script: failed(503, 9000), reads: 0, waits: true },
      'between two chunks': { script: [say('a'), say('b'), 'silence'], reads: 1, waits: false },
      'waiting for a chunk': { script: [say('a'), 'silence'], reads: 1, waits: true },
      'while being rescued': { script: [say('a'), failed(null)], reads: 1, waits: true, continues: true },
    }
    for (const [phase, { script, reads, waits, continues = false }] of Object.entries(phases)) {
      for (const way of ['return', 'signal'] as const) {
        const clock = fakeClock()
        const backend = actor('a', script, 'silence')
        const controller = new AbortController()
        const served = await streamed(infer(clock), entry([backend], { continues }), body, controller.signal)
        const chunks = served.answer.chunks[Symbol.asyncIterator]()
        for (let i = 0; i < reads; i++) await chunks.next()
        const waiting = waits ? chunks.next().catch((error: unknown) => error) : null
        await settled()
        const calls = backend.calls.length
        if (way === 'return') await chunks.return!()
        else controller.abort(reason)
        t.equal(backend.open, 0, `${phase}, ${way}: closed`)
        if (waiting)
          t.same(await waiting, way === 'return' ? { value: undefined, done: true } : reason, `${phase}, ${way}: told`)
        await clock.pass(60_000)
        t.equal(backend.calls.length, calls, `${phase}, ${way}: nobody is asked again`)
        if (phase !== 'before anything' || way === 'return') {
          await chunks.next().catch(() => {})
          t.same(await chunks.next(), { value: undefined, done: true }, `${phase}, ${way}: over`)
        }
        t.equal(clock.armed(), 0, `${phase}, ${way}: no alarm is left`)
      }
    }
  })

  t.test('a backend that minds no signal keeps nobody waiting, and its late stream is closed', async (t) => {
    const clock = fakeClock()
    let give!: (answer: { kind: 'chunks'; chunks: AsyncIterable<Chunk> }) => void
    let returned = 0
    const deaf: Upstream = {
      name: 'deaf',
      models: async () => [],
      chat: () => new Promise((resolve) => (give = resolve)),
    }
    const chunks = (await streamed(infer(clock), entry([deaf]))).answer.chunks[Symbol.asyncIterator]()
    const first = chunks.next()
    await settled()
    await chunks.return!()
    t.same(await first, { value: undefined, done: true })
    const source = {
      next: async () => ({ value: say('late'), done: false as const }),
      return: async () => ({ value: undefined, done: true as const, returned: ++returned }),
      [Symbol.asyncIterator]: () => source,
    }
    give({ kind: 'chunks', chunks: source })
    await settled()
    t.equal(returned, 1)
  })

  t.test('a whole answer is unfolded when a stream was asked for', async (t) => {
    const upstream: Upstream = {
      name: 'a',
      models: async () => [],
      chat: async () => ({
        kind: 'completion',
        completion: {
          id: 'one',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        },
      }),
    }
    const served = await streamed(infer(fakeClock()), entry([upstream]))
    const { text, got } = await drain(served.answer.chunks)
    t.equal(text, 'Hello')
    t.ok(got.some(({ choices }) => choices[0]?.finish_reason === 'stop'))
    t.equal(served.usage?.total_tokens, 2)
  })

  t.test('the first token closes a half-open breaker', async (t) => {
    const clock = fakeClock()
    const backend = actor('a', failed(), [say('Hel'), 'silence'], hello)
    const gateway = infer(clock, { routing: { retries: 0, breaker: { faults: 1, rest: 1000 } } })
    t.ok((await drain((await streamed(gateway, entry([backend]))).answer.chunks)).error)
    await clock.pass(1000)
    const probe = (await streamed(gateway, entry([backend]))).answer.chunks[Symbol.asyncIterator]()
    await probe.next()
    t.equal((await drain((await streamed(gateway, entry([backend]))).answer.chunks)).text, 'Hello')
    await probe.return!()
  })
})

t.test('rescue', async (t) => {
  const text = 'The quick brown fox jumps over the lazy dog, again and again, until dusk.'

  /** What each kind of backend gives when it goes on from a prefix. */
  const manners: Readonly<Record<string, (prefix: string) => string>> = {
    'goes on': (prefix) => text.slice(prefix.length),
    'repeats everything first': () => text,
  }

  const pieces = (whole: string, size: number): Chunk[] => {
    const parts: Chunk[] = []
    for (let at = 0; at < whole.length; at += size)
      parts.push(say(whole.slice(at, at + size), { id: 'two', model: 'other', created: 2 }))
    return parts
  }

  const continuing = (name: string, manner: (prefix: string) => string, size: number): Actor => {
    const backend = actor(name)
    backend.chat = async (call, signal) => {
      backend.calls.push({ ...call, signal })
      const parts = pieces(manner(call.prefix!), size)
      const chunks = (async function* () {
        yield* [
          chunk({ role: 'assistant', content: '' }, null, { id: 'two' }),
          ...parts,
          chunk({}, 'stop', { id: 'two' }),
          usage(20, 8),
        ]
      })()
      return { kind: 'chunks', chunks }
    }
    return backend
  }

  t.test('loses and repeats nothing, wherever it is cut', async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: text.length }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(...Object.keys(manners)),
        async (cut, before, after, manner) => {
          if (manner === 'repeats everything first' && cut < 16) return
          const given: Chunk[] = []
          for (let at = 0; at < cut; at += before) given.push(say(text.slice(at, Math.min(cut, at + before))))
          const a = actor('a', [chunk({ role: 'assistant', content: '' }), ...given, failed(null)])
          const b = continuing('b', manners[manner]!, after)
          const served = await streamed(infer(fakeClock()), entry([a, b], { continues: true }))
          const all = await drain(served.answer.chunks)
          assert.deepEqual([all.error, all.text], [null, text])
          assert.equal(b.calls[0]!.prefix, text.slice(0, cut))
          assert.equal(new Set(all.got.map(({ id, created, model }) => `${id} ${created} ${model}`)).size, 1)
          assert.equal(all.got.filter(({ choices }) => choices[0]?.delta.role != null).length, 1)
          assert.equal(all.got.filter(({ choices }) => choices[0]?.finish_reason === 'stop').length, 1)
          assert.deepEqual(served.notes, ['continued by b'])
          const counted = all.got.at(-1)!.usage!
          assert.ok(counted.prompt_tokens > 20 && counted.completion_tokens > 8, 'both parts are counted')
          assert.equal(counted.total_tokens, counted.prompt_tokens + counted.completion_tokens)
          assert.equal(counted['estimated'], true)
        },
      ),
      { numRuns: 150 },
    )
  })

  t.test('what happens to begin as the answer did is no echo', async (t) => {
    const given = 'again and again and '
    for (const rest of ['again', 'again and then.', ' leading space', 'again and again and']) {
      const a = actor('a', [say(given), failed(null)])
      const b = continuing('b', () => rest, 3)
      const { text, error } = await drain(
        (await streamed(infer(fakeClock()), entry([a, b], { continues: true }))).answer.chunks,
      )
      t.same([text, error], [given + rest, null])
    }
  })

  t.test('a lone backend is asked again; breaking twice is rescued twice, and no more than allowed', async (t) => {
    const counted = (input: number, output: number) => ({ usage: usage(input, output).usage! })
    const cut = (part: string) => [say(part, counted(10, 1)), failed(null)]
    const backend = actor('a', cut('one '), cut('two '), [say('three'), stop, usage(12, 1)])
    const served = await streamed(infer(fakeClock()), entry([backend], { continues: true }))
    const { text, error, got } = await drain(served.answer.chunks)
    t.same([text, error], ['one two three', null])
    t.same(
      backend.calls.map(({ prefix }) => prefix),
      [undefined, 'one ', 'one two '],
    )
    t.same(got.at(-1)!.usage, { prompt_tokens: 32, completion_tokens: 3, total_tokens: 35 })
    const hopeless = actor('a', cut('x'))
    const all = await drain((await streamed(infer(fakeClock()), entry([hopeless], { continues: true }))).answer.chunks)
    t.same([all.text, hopeless.calls.length], ['xxx', 3])
    t.ok(all.error instanceof UpstreamFailed)
  })

  t.test('leaves less to say', async (t) => {
    const backend = actor('a', [say('x'.repeat(40)), failed(null)], [say('y'), stop])
    await drain(
      (await streamed(infer(fakeClock()), entry([backend], { continues: true }), { ...body, max_tokens: 100 })).answer
        .chunks,
    )
    t.same(
      backend.calls.map((call) => call.body['max_tokens']),
      [100, 90],
    )
  })

  t.test('does not touch what no prefix can carry', async (t) => {
    const cases: readonly { readonly said?: Partial<ChatBody>; readonly first?: Chunk; readonly continues?: false }[] =
      [
        { continues: false },
        { said: { n: 2 } },
        { said: { logprobs: true } },
        { said: { response_format: { type: 'json_object' } } },
        {
          first: chunk({
            tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'f', arguments: '{' } }],
          }),
        },
        { first: chunk({ reasoning_content: 'hm' }) },
      ]
    for (const { said: sent = {}, first = say('Hel'), continues = true } of cases) {
      const [a, b] = [actor('a', [first, failed(null)]), actor('b', [say('no'), stop])]
      const { error } = await drain(
        (await streamed(infer(fakeClock()), entry([a, b], { continues }), { ...body, ...sent })).answer.chunks,
      )
      t.ok(error instanceof UpstreamFailed)
      t.equal(b.calls.length, 0)
    }
    const [thinks, other] = [
      actor('a', [say('Hel'), chunk({ reasoning_content: 'hm' }), failed(null)]),
      actor('b', [say('no'), stop]),
    ]
    const left = await streamed(infer(fakeClock()), entry([thinks, other], { continues: true }))
    t.match(await drain(left.answer.chunks), { text: 'Hel', error: UpstreamFailed })
    t.equal(other.calls.length, 0, 'nor thoughts behind text')
    const [a, b] = [
      actor('a', [chunk({ reasoning_content: 'hm' }), say('Hel'), failed(null)]),
      actor('b', [say('lo'), stop]),
    ]
    const served = await streamed(infer(fakeClock()), entry([a, b], { continues: true }), {
      ...body,
      response_format: { type: 'text' },
    })
    t.equal((await drain(served.answer.chunks)).text, 'Hello', 'thinking that is over is no hindrance')
  })

  t.test('fails as the first stream would when nobody goes on', async (t) => {
    const clock = fakeClock()
    const [a, b] = [actor('a', [say('Hel'), failed(null)], failed()), actor('b', failed())]
    const all = drain((await streamed(infer(clock), entry([a, b], { continues: true }))).answer.chunks)
    await clock.pass(60_000)
    const { text, error } = await all
    t.equal(text, 'Hel')
    t.ok(error instanceof UpstreamFailed)
    t.same([a.open, b.open, clock.armed()], [0, 0, 0])
  })
})

t.test('where every backend is full', async (t) => {
  const unpaid = (answered: number) =>
    new UpstreamFailed(undefined, { again: true, answered, code: 'insufficient_quota' })
  /** What two backends of a model come to that fail like this, each asked once. */
  const endOf = async (one: UpstreamFailed, other: UpstreamFailed): Promise<unknown> => {
    const model = entry([actor('a', []), actor('b', [])])
    const faults = [one, other]
    const ask = async () => Promise.reject(faults.shift())
    const gateway = infer(fakeClock(), { routing: { retries: 0 } })
    return gateway.run({ entry: model, ability: 'chat' }, ask, never).catch((error: unknown) => error)
  }

  t.test('the caller is told so, and the earliest time of all', async (t) => {
    for (const waits of [
      [9_000, 4_000],
      [4_000, 9_000],
      [4_000, null],
    ] as const)
      // prettier-ignore
      t.match(await endOf(failed(429, waits[0]), failed(429, waits[1])), { name: 'TooMany', retryAfter: 4_000 })
    t.match(await endOf(failed(429), failed(429)), { name: 'TooMany', retryAfter: 2_000 }, 'a time of ours where none is named') // prettier-ignore
  })

  t.test('one that fails otherwise makes it a failure', async (t) => {
    for (const faults of [
      [failed(500), failed(429, 10)],
      [failed(429, 10), failed(500)],
    ] as const)
      // prettier-ignore
      t.match(await endOf(...faults), { name: 'UpstreamFailed', status: 503 })
  })

  t.test('accounts that are used up name no time, as long as no other backend does', async (t) => {
    for (const faults of [
      [unpaid(429), unpaid(429)],
      [unpaid(402), unpaid(429)],
    ] as const)
      // prettier-ignore
      t.match(await endOf(...faults), { name: 'TooMany', code: 'insufficient_quota', retryAfter: null })
    t.match(await endOf(unpaid(402), failed(429, 10)), { name: 'TooMany', code: null, retryAfter: 10 })
  })
})

t.test('patience with a first token', async (t) => {
  const patience = 600_000
  /** Ms at which backends were asked that never answer, until the stream failed. */
  const askedAt = async (count: number, task: object): Promise<readonly (readonly [name: string, at: number])[]> => {
    const clock = fakeClock()
    const began = clock.now()
    const asked: [string, number][] = []
    const silent = (name: string) =>
      ({
        name,
        models: async () => [],
        chat: (_: unknown, signal: AbortSignal) => {
          asked.push([name, clock.now() - began])
          return silence(signal)
        },
      }) as Upstream
    const names = ['a', 'b', 'c'].slice(0, count)
    const model = entry(names.map(silent))
    const served = await infer(clock).chat({ entry: model, body, stream: true, affinity: null, ...task }, never)
    const end = drain(served.answer.chunks).then(({ error }) =>
      asked.push([(error as Error).name, clock.now() - began]),
    )
    await clock.pass(patience)
    await end
    return asked
  }

  t.test('a lone backend has all of it, and is asked once', async (t) => {
    t.same(await askedAt(1, { patience }), [['a', 0], ['UpstreamFailed', patience]]) // prettier-ignore
  })

  t.test('where another one is left each has its time, and the last one what is left', async (t) => {
    const all = await askedAt(3, { patience })
    t.same(
      all.map(([, at]) => at),
      [0, 60_000, 120_000, patience],
    )
    t.equal(new Set(all.map(([name]) => name)).size, 4, 'each once')
  })

  t.test('without it the usual times hold', async (t) => {
    t.same((await askedAt(1, {})).map(([, at]) => at).at(-1), 120_000)
  })
})
