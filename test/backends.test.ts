import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { mergedState, quantile } from '../plugins/surfaces/admin/merged.ts'
import { unused } from '../plugins/surfaces/admin/records.ts'
import { breaker } from '../core/inference/routing/breaker.ts'
import { use } from '../core/plugin.ts'
import gemini from '../plugins/providers/gemini.ts'
import openai from '../plugins/providers/openai.ts'
import { running } from './environments.ts'
import type { Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { backend } from './contracts/stage.ts'

interface State {
  readonly backend: string
  readonly state: string
  readonly rest_ms: number
  readonly breakers: readonly { readonly model: string; readonly state: string }[]
  readonly calls: readonly { readonly outcome: string; readonly status: number | null }[]
  readonly faults: readonly { readonly kind: string; readonly count: number }[]
  readonly p50_ms: number | null
  readonly first_token_p50_ms: number | null
  readonly listed_at: number | null
  readonly used: { readonly requests: number; readonly input: number; readonly cost: number | null }
}

const price = { prompt_price_per_k: 0.25, completion_price_per_k: 1.25 }
const json = { 'content-type': 'application/json' }
const listed: Take = { headers: json, body: JSON.stringify({ object: 'list', data: [{ id: 'a' }, { id: 'b' }] }) }

const stage = async (t: Test) => {
  const answer = scripted(() => [{ say: 'hello' }])
  let fault: number | null = null
  const house = await backend(t, (request) => {
    if (fault !== null) return { status: fault, headers: json, body: '{}' }
    return request.path.endsWith('/models') ? listed : answer(request)
  })
  const gateway = await running(
    t,
    { ...memory({ network: true }), upstreams: [use(openai, { baseUrl: `${house.url}/v1` }, 'house')] },
    {
      limits: { key: { requestsPerSecond: null }, organization: { requestsPerSecond: null } },
      routing: { retries: 0, breaker: { faults: 3, ratio: 0.9, rest: 60_000 } },
      models: {
        priced: {
          regions: ['eu'],
          upstreams: [{ provider: 'house', model: 'own', weight: 3, priority: 2, context_tokens: 4096 }],
          price_config: { standard: { eu: price } },
        },
        free: { upstreams: [{ provider: 'house', model: 'own' }] },
      },
    },
  )
  const chat = async (model = 'free', stream = false): Promise<number> => {
    const messages = [{ role: 'user', content: 'hi' }]
    const answer = await gateway.call('POST', '/v1/chat/completions', { model, stream, messages })
    await answer.text()
    return answer.status
  }
  const read = async <T>(path: string, method = 'GET', body?: object): Promise<T> =>
    ((await (await gateway.call(method, path, body)).json()) as { data: T }).data
  const state = async (): Promise<State> => (await read<{ backends: State[] }>('/admin/backends')).backends[0]!
  return { ...gateway, house, chat, read, state, fails: (status: number | null) => void (fault = status) }
}

t.test('a backend tells its calls, faults, times and use', async (t) => {
  const scene = await stage(t)
  t.match(await scene.state(), {
    state: 'closed',
    rest_ms: 0,
    calls: [],
    p50_ms: null,
    listed_at: null,
    used: { requests: 0 },
  })
  t.equal(await scene.chat('priced'), 200)
  t.equal(await scene.chat('free', true), 200)
  scene.fails(500)
  await scene.chat()
  scene.fails(429)
  await scene.chat()
  scene.fails(null)
  const seen = await scene.state()
  t.same(
    seen.calls.map(({ outcome, status }) => [outcome, status]),
    [
      ['answered', null],
      ['answered', null],
      ['failed', 500],
      ['failed', 429],
    ],
  )
  t.same(seen.faults, [
    { kind: 'rate_limited', count: 1 },
    { kind: 'server_error', count: 1 },
  ])
  t.type(seen.p50_ms, 'number')
  t.type(seen.first_token_p50_ms, 'number')
  t.match(seen.used, { requests: 2, input: 38, cost: 0.0185 }, 'the price of one, and of the other none')
})

t.test('an answer that its model spoilt closes the backend for nobody', async (t) => {
  let reason = 'MALFORMED_FUNCTION_CALL'
  const said = (text: string, finishReason?: string) =>
    JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason }] })
  const house = await backend(t, ({ path }) =>
    path.includes('stream')
      ? {
          headers: { 'content-type': 'text/event-stream' },
          body: `data: ${said('a')}\n\ndata: ${said('b', reason)}\n\n`,
        }
      : { headers: json, body: said('hello', reason) },
  )
  const gateway = await running(
    t,
    { ...memory({ network: true }), upstreams: [use(gemini, { apiKey: 'k', baseUrl: house.url }, 'house')] },
    {
      routing: { retries: 1, breaker: { faults: 3, ratio: 0.9, rest: 60_000 } },
      models: { small: { upstreams: [{ provider: 'house', model: 'own' }] } },
    },
  )
  const chat = async (stream: boolean): Promise<string> => {
    const messages = [{ role: 'user', content: 'hi' }]
    const answer = await gateway.call('POST', '/v1/chat/completions', { model: 'small', stream, messages })
    return `${answer.status} ${await answer.text()}`
  }
  for (const stream of [false, true, false, true]) t.match(await chat(stream), stream ? /"error"/ : /^503/)
  t.equal(house.asked.length, 6, 'each whole answer is tried again')
  reason = 'STOP'
  for (const stream of [false, true]) t.match(await chat(stream), /^200 .*"finish_reason":"stop"/s)
  reason = ''
  for (let calls = 0; calls < 3; calls++) await chat(false)
  reason = 'STOP'
  t.match(await chat(false), /^503/, 'an answer that ends without a reason is a fault of the backend')
})

t.test('a breaker that opened is seen, rests, and is woken', async (t) => {
  const scene = await stage(t)
  scene.fails(500)
  for (let calls = 0; calls < 3; calls++) await scene.chat()
  scene.fails(null)
  const open = await scene.state()
  t.match(open, { state: 'open', breakers: [{ model: 'own', state: 'open' }] })
  t.ok(open.rest_ms > 0 && open.rest_ms <= 60_000)
  t.equal(await scene.chat(), 503, 'no call passes')
  t.same(await scene.read('/admin/backends/house/wake', 'POST'), { backend: 'house', rest_ms: 0, processes: 1 })
  t.match(await scene.state(), { state: 'closed', rest_ms: 0 })
  t.equal(await scene.chat(), 200)
  t.same(await scene.read('/admin/backends/house/rest', 'POST', { seconds: 300 }), {
    backend: 'house',
    rest_ms: 300_000,
    processes: 1,
  })
  const resting = await scene.state()
  t.ok(resting.rest_ms > 60_000, 'longer than a breaker rests by itself')
  const asked = scene.house.asked.length
  t.equal(await scene.chat(), 503)
  t.equal(scene.house.asked.length, asked, 'the backend is left alone')
})

t.test('a backend is asked for its list', async (t) => {
  const scene = await stage(t)
  t.match(await scene.read('/admin/backends/house/ask', 'POST'), { answered: true, models: 2, fault: null })
  const { listed_at: at } = await scene.state()
  t.ok(at !== null && Math.abs(Date.now() - at) < 60_000)
  scene.fails(401)
  t.match(await scene.read('/admin/backends/house/ask', 'POST'), {
    answered: false,
    models: null,
    fault: 'key_refused',
  })
})

t.test('what operators do stands in the audit; others do nothing', async (t) => {
  const scene = await stage(t)
  const { credential: other } = await scene.gateway.keys.create({ organization: 'other' })
  const { credential: reader } = await scene.gateway.keys.create({ scopes: ['api_key.read'] })
  const { credential: plain } = await scene.gateway.keys.create({ scopes: ['chats.completion'] })
  const status = async (key: string, method: string, path: string) =>
    (await scene.call(method, path, method === 'GET' ? undefined : {}, { authorization: `Bearer ${key}` })).status
  for (const act of ['ask', 'rest', 'wake']) {
    const path = `/admin/backends/house/${act}`
    for (const key of [other, reader, plain]) t.equal(await status(key, 'POST', path), 403, act)
    t.equal((await fetch(scene.base + path, { method: 'POST' })).status, 401)
    t.equal(await status(scene.key, 'POST', `/admin/backends/nobody/${act}`), 404)
  }
  for (const path of ['/admin/backends', '/admin/models']) {
    for (const key of [other, plain]) t.equal(await status(key, 'GET', path), 403, path)
    t.equal(await status(reader, 'GET', path), 200)
  }
  t.equal(await scene.chat(), 200, 'nothing was done')
  await scene.read('/admin/backends/house/rest', 'POST', {})
  await scene.read('/admin/backends/house/wake', 'POST')
  await scene.read('/admin/backends/house/ask', 'POST')
  const { acts } = await scene.read<{ acts: { action: string; object: string; outcome: string }[] }>('/admin/audit')
  t.same(acts.map(({ action, object, outcome }) => `${action} ${object} ${outcome}`).toSorted(), [
    'backend.ask house done',
    'backend.ask nobody refused',
    'backend.rest house done',
    'backend.rest nobody refused',
    'backend.wake house done',
    'backend.wake nobody refused',
  ])
})

t.test('the chains are those of the configuration', async (t) => {
  const scene = await stage(t)
  t.match(await scene.read('/admin/models?limit=1'), {
    models: [
      {
        model: 'priced',
        standard: true,
        chain: [{ backend: 'house', model: 'own', priority: 2, weight: 3, context_tokens: 4096 }],
      },
    ],
    pagination: { total: 2, has_more: true },
  })
})

t.test('a caller learns what its key may do', async (t) => {
  const scene = await stage(t)
  const { credential, row } = await scene.gateway.keys.create({
    organization: 'other',
    user: 'ada',
    scopes: ['chats.completion'],
    models: ['free'],
  })
  const self = await scene.call('GET', '/admin/self', undefined, { authorization: `Bearer ${credential}` })
  t.match(await self.json(), {
    data: {
      key: row.id,
      organization: 'other',
      user: 'ada',
      team: null,
      scopes: ['chats.completion'],
      models: ['free'],
      operator: false,
    },
  })
  t.match(await scene.read('/admin/self'), { operator: true, models: null })
  t.equal((await fetch(`${scene.base}/admin/self`)).status, 401)
})

t.test('what processes see of a backend becomes one', (t) => {
  const call = (at: number, outcome: 'answered' | 'failed' | 'broke', status: number | null = null) => ({
    at,
    outcome,
    status,
    ms: 1,
  })
  const seen = (more: object) => ({
    name: 'house',
    breakers: [],
    calls: [],
    times: [],
    firsts: [],
    listed: null,
    used: unused,
    ...more,
  })
  const state = mergedState('house', [
    seen({
      breakers: [{ model: 'm', state: 'half_open', rest: 0 }],
      calls: Array.from({ length: 20 }, (_, at) => call(2 * at, 'answered')),
      times: [1, 2],
      listed: 5,
      used: { ...unused, requests: 2, cost: 10 },
    }),
    seen({
      breakers: [{ model: 'm', state: 'open', rest: 100 }],
      calls: [call(39, 'failed'), call(1, 'failed', 500), call(37, 'broke')],
      times: [3, 4],
      listed: 7,
      used: { ...unused, requests: 3, unpriced: 1, cost: 5 },
    }),
  ])
  t.same(state.breakers, [{ model: 'm', state: 'open', rest: 100 }])
  t.equal(state.calls.length, 20)
  t.same(state.faults, [
    { kind: 'unreached', count: 1 },
    { kind: 'stream_broken', count: 1 },
  ])
  t.match(state, { p50: 2, p95: 4, first50: null, listed: 7, used: { requests: 5, unpriced: 1, cost: 15 } })
  t.equal(quantile([], 0.5), null)
  t.end()
})

t.test('what an operator holds, no earlier probe lets go', (t) => {
  const made = () => {
    const circuit = breaker({ faults: 1, ratio: 1, rest: 1_000 })
    circuit.fault(circuit.enter(0)!, 0)
    return { circuit, probe: circuit.enter(1_000)! }
  }
  const back = made()
  t.equal(back.probe, 'probe')
  back.circuit.hold(1_500, 10_000)
  back.circuit.ok(back.probe)
  t.equal(back.circuit.enter(2_000), null, 'the backend is back, and rests all the same')
  t.equal(back.circuit.rest(2_000), 9_500)
  const away = made()
  away.circuit.hold(1_500, 10_000)
  away.circuit.fault(away.probe, 1_600)
  t.equal(away.circuit.rest(2_000), 9_500, 'and no shorter')
  t.equal(away.circuit.state(2_000), 'open')
  t.equal(away.circuit.state(11_500), 'half_open')
  t.equal(away.circuit.enter(11_500), 'probe')
  away.circuit.wake()
  t.equal(away.circuit.state(11_500), 'closed')
  t.end()
})
