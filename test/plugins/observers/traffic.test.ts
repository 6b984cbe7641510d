import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { random } from '../../../adapters/memory/platform.ts'
import { use } from '../../../core/plugin.ts'
import { Siblings } from '../../../core/ports/cluster.ts'
import { Clock, Log } from '../../../core/ports/platform.ts'
import { addTime, quantileOf } from '../../../plugins/observers/traffic/ring.ts'
import { Traffic, traffic } from '../../../plugins/observers/traffic/traffic.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { samplesOf } from '../../../plugins/surfaces/console/browser/prometheus.ts'
import { running, unhurried } from '../../environments.ts'
import { fitted, given } from '../../fitted.ts'

const chat = 'POST /v1/chat/completions'
const attempt = { model: 'own', streams: false, cause: 'first' } as const
const use1 = {
  ...{ model: 'm', backend: 'b', input: 10, output: 5, cached: 0, reasoning: 0, cost: 2_000_000 },
  ...{ organization: 'acme', team: 'blue', key: 'key_1', tags: [] },
}

const silent: Log = { info() {}, warn() {}, error: (event) => t.fail(event) }

/** Processes of one gateway. */
const processes = (count: number) => {
  const clock = fakeClock()
  const answers = new Map<number, (value: unknown) => unknown>()
  const all = Array.from({ length: count }, (_, own) => {
    const siblings: Siblings = {
      measured: () => Promise.resolve([]),
      answer: (_, give) => void answers.set(own, give),
      // Values between processes are JSON.
      ask: async (_, value) => {
        const others = [...answers].flatMap(([at, give]) => (at === own ? [] : [give(value)]))
        return JSON.parse(JSON.stringify(await Promise.all(others))) as unknown[]
      },
    }
    return fitted(
      ...[use(traffic), use(random)],
      given(Log, 'log', () => silent),
      given(Clock, 'clock', () => clock),
      given(Siblings, 'siblings', () => siblings),
    ).supply({ traffic: Traffic }).traffic
  })
  return { all, clock }
}

t.test('traffic is that of callers, minute by minute', async (t) => {
  const { all, clock } = processes(1)
  const traffic = all[0]!
  const ask = (span: 'hour' | 'day' = 'hour') => traffic.ask({ span, by: 'model', name: null })
  for (const route of [
    ...['GET /health/ready', 'GET /metrics', 'GET /admin/keys', 'POST /admin/keys', 'GET /console', 'none'],
    ...['GET /console/{release}/{file}', 'POST /console/session/renewal', 'GET /v1/models', 'GET /', 'GET /docs'],
  ])
    traffic.observer.left!(route, 200, 5)
  t.equal((await ask()).slots.at(-1)?.requests, 0, 'an idle gateway with a console is idle')
  traffic.observer.left!(chat, 200, 100)
  traffic.observer.left!(chat, 503, 900)
  traffic.observer.left!(chat, 429, 1)
  traffic.observer.used!(use1)
  traffic.observer.used!({ ...use1, cost: null, team: null })
  traffic.observer.firstToken!('m', 40)
  const [now, day] = [await ask(), await ask('day')]
  t.equal(now.slots.length, 60)
  t.equal(day.slots.length, 48)
  for (const { slots } of [now, day])
    t.match(slots.at(-1), { requests: 3, errors: 1, input: 20, output: 10, cost: 2_000_000, unpriced: 1 })
  t.match(now.sums, { m: { requests: 2, input: 20 } })
  t.match((await traffic.ask({ span: 'hour', by: 'team', name: 'acme/blue' })).slots.at(-1), {
    requests: 1,
    cost: 2_000_000,
  })
  await clock.pass(60_000)
  t.equal((await ask()).slots.at(-2)?.requests, 3, 'a minute passes')
  t.equal((await ask()).slots.at(-1)?.requests, 0)
  await clock.pass(59 * 60_000)
  const hour = await ask()
  t.equal(
    hour.slots.reduce((sum, { requests }) => sum + requests, 0),
    0,
    'an hour forgets it',
  )
  t.same(hour.sums, {})
  t.equal(
    (await ask('day')).slots.reduce((sum, { requests }) => sum + requests, 0),
    3,
    'and a day does not',
  )
})

t.test('the processes of a gateway are added up', async (t) => {
  const { all } = processes(3)
  for (const [at, traffic] of all.entries()) {
    for (let n = 0; n <= at; n++) traffic.observer.left!(chat, 200, 100 * (at + 1))
    traffic.observer.saw!('b', at === 0 ? 'failed' : 'answered', 20, at === 0 ? 500 : null, attempt)
  }
  const told = await all[1]!.ask({ span: 'hour', by: 'backend', name: null })
  t.equal(told.processes, 3)
  t.equal(told.slots.at(-1)?.requests, 6)
  t.match(told.sums, { b: { requests: 3, errors: 1 } })
  const median = quantileOf(told.slots.at(-1)!.times, 0.5)!
  t.ok(median >= 200 && median <= 345, `${median}`)
})

t.test('an incident begins with the first of three failures, and ends with an answer', async (t) => {
  const { all, clock } = processes(2)
  const [one, other] = [all[0]!, all[1]!]
  const saw = (traffic: typeof one, outcome: 'answered' | 'failed' | 'left', model = 'own') =>
    traffic.observer.saw!('b', outcome, 5, outcome === 'failed' ? 500 : null, { ...attempt, model })
  const incidents = async () => (await one.ask({ span: 'hour', by: 'model', name: null })).incidents
  const begin = clock.now()
  saw(one, 'failed')
  saw(one, 'failed')
  t.same(await incidents(), [], 'two failures are none')
  await clock.pass(1_000)
  saw(one, 'left')
  saw(one, 'failed')
  const first = { backend: 'b', model: 'own', since: begin, last: begin + 1_000, until: null, failed: 3, status: 500 }
  t.same(await incidents(), [first])
  for (let n = 0; n < 4; n++) saw(other, 'failed')
  t.match(await incidents(), [{ since: begin, failed: 7, until: null }], 'that of another process is the same')
  saw(one, 'answered', 'another model')
  t.equal((await incidents())[0]?.until, null)
  await clock.pass(1_000)
  for (const traffic of all) saw(traffic, 'answered')
  t.match(await incidents(), [{ failed: 7, until: begin + 2_000 }])
  await clock.pass(86_400_001)
  t.same(await incidents(), [], 'a day forgets it')
})

t.test('names have a bound, a start and a reload have marks, and quantiles are told to a seventh', async (t) => {
  const { all } = processes(1)
  const traffic = all[0]!
  for (let n = 0; n < 150; n++) traffic.observer.used!({ ...use1, model: `model-${n}` })
  traffic.observer.renewed!()
  traffic.observer.renewed!()
  const { sums, marks } = await traffic.ask({ span: 'hour', by: 'model', name: null })
  t.equal(Object.keys(sums).length, 101)
  t.equal(sums['other']?.requests, 50)
  t.same(
    marks.map(({ what }) => what),
    ['start', 'reload'],
  )
  const times: number[] = []
  for (let ms = 1; ms <= 1_000; ms++) addTime(times, ms)
  for (const share of [0.5, 0.95, 1]) {
    const told = quantileOf(times, share)!
    t.ok(told >= share * 1_000 && told <= share * 1_150 + 1, `${share}: ${told}`)
  }
  t.equal(quantileOf([], 0.5), null)
})

interface Figures {
  readonly requests: number
  readonly errors: number | null
  readonly sealed: number
  readonly input: number
  readonly output: number
}

t.test('the figures are those of the metrics, and an idle gateway has none', async (t) => {
  const gateway = await running(t, memory(), unhurried)
  const authorization = `Bearer ${gateway.key}`
  const read = async () => {
    const answer = await gateway.call('GET', '/admin/traffic?by=model', undefined, { authorization })
    return (
      (await answer.json()) as { data: { slots: Figures[]; sums: (Figures & { name: string })[]; marks: unknown[] } }
    ).data
  }
  const summed = (slots: readonly Figures[], name: 'requests' | 'errors' | 'input' | 'output') =>
    slots.reduce((sum, slot) => sum + (slot[name] ?? 0), 0)
  for (const path of ['/admin/keys', '/v1/models', '/metrics', '/console', '/health/ready', '/nothing'])
    await gateway.call('GET', path)
  t.equal(summed((await read()).slots, 'requests'), 0)
  const [chats, refused] = [40, 7]
  const chat = (model: string) =>
    gateway.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })
  for (let n = 0; n < chats; n++) t.equal((await chat('rehearsal')).status, 200)
  for (let n = 0; n < refused; n++) await (await chat('nothing')).text()
  const samples = samplesOf(await (await gateway.call('GET', '/metrics', undefined, { authorization })).text())
  const metric = (name: string, fits: (labels: Readonly<Record<string, string>>) => boolean) =>
    samples.reduce((sum, sample) => (sample.name === name && fits(sample.labels) ? sum + sample.value : sum), 0)
  const { slots, sums } = await read()
  const isChat = ({ route = '' }: Readonly<Record<string, string>>) => route === 'POST /v1/chat/completions'
  t.equal(summed(slots, 'requests'), metric('sealgate_request_seconds_count', isChat))
  t.equal(summed(slots, 'requests'), chats + refused)
  t.equal(
    summed(slots, 'errors'),
    metric('sealgate_request_seconds_count', ({ status = '', ...labels }) => isChat(labels) && status >= '500'),
  )
  for (const kind of ['input', 'output'] as const)
    t.equal(
      summed(slots, kind),
      metric('sealgate_tokens_total', (labels) => labels['kind'] === kind),
      kind,
    )
  t.match(sums, [{ name: 'rehearsal', requests: chats, errors: null }])
  t.match((await read()).marks, [{ what: 'start' }])
  await gateway.gateway.renew({ settings: unhurried })
  t.match((await read()).marks, [{ what: 'start' }, { what: 'reload' }])
})

t.test('everybody but operators sees the own organisation alone', async (t) => {
  const gateway = await running(t, memory())
  const keyOf = async (organization: string, team?: string) =>
    (await gateway.gateway.keys.create({ organization, ...(team !== undefined && { team }) })).credential
  const [acme, blue, other] = [await keyOf('acme'), await keyOf('acme', 'blue'), await keyOf('other', 'blue')]
  const call = (key: string, method: string, path: string, body?: object) =>
    gateway.call(method, path, body, { authorization: `Bearer ${key}` })
  const chat = { model: 'rehearsal', messages: [{ role: 'user', content: 'hi' }] }
  for (const key of [acme, blue, blue, other, other, other, gateway.key])
    t.equal((await call(key, 'POST', '/v1/chat/completions', chat)).status, 200)
  interface Answer {
    readonly slots: Figures[]
    readonly sums: (Figures & { name: string })[]
    readonly incidents: unknown[]
    readonly marks: unknown[]
  }
  const seen = async (key: string, query = '') => {
    const answer = await call(key, 'GET', `/admin/traffic${query}`)
    if (answer.status !== 200) return answer.status
    const { slots, sums, incidents, marks } = ((await answer.json()) as { data: Answer }).data
    const requests = slots.reduce((sum, slot) => sum + slot.requests, 0)
    return [requests, sums.map(({ name, requests }) => `${name} ${requests}`).join(), incidents.length + marks.length]
  }
  t.same(await seen(acme), [3, 'acme/blue 2', 0], 'its calls and its teams')
  t.same(await seen(acme, '?span=day&name=acme%2Fblue'), [2, 'acme/blue 2', 0])
  t.same(await seen(gateway.key, '?organization=acme'), [3, 'acme/blue 2', 0], 'operators ask for any')
  t.same(await seen(gateway.key, '?by=organization'), [7, 'acme 3,other 3,default 1', 1])
  t.equal(((await seen(gateway.key, '?organization=*')) as unknown[])[0], 7)
  for (const query of ['?organization=other', '?organization=*', '?by=model', '?by=backend', '?name=other%2Fblue'])
    t.equal(await seen(acme, query), 403, query)
})
