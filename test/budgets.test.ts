import './fakes/unwatched.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { use } from '../core/plugin.ts'
import { Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import { running, unhurried } from './environments.ts'
import { actor, chunk, say, stop, usage } from './fakes/backends.ts'
import { commandRunner } from './fakes/command-runner.ts'
import { recorded } from './fakes/recorded.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

const price = { prompt_price_per_k: 0.001, completion_price_per_k: 0.002 }
const settings = (costPerDay: number): SettingsInput => ({
  models: { small: { upstreams: [{ provider: 'a' }], price_config: { standard: { eu: price } } } },
  limits: { organization: { costPerDay } },
})
const body = (stream = false) => ({
  model: 'small',
  stream,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Say it.' }],
})

t.test('a gateway keeps to a budget, says so in every dialect, and measures it', async (t) => {
  const backend = actor('a', [say('Hello'), stop, usage(400, 100)])
  const upstreams = [given(Upstream, 'a', () => backend)]
  const gateway = await running(t, { ...memory(), upstreams }, settings(0.001))
  const ask = (path = '/std/chat/completions', stream = false) => gateway.call('POST', path, body(stream))
  const settled = (part: number) =>
    until(async () => (await (await gateway.call('GET', '/metrics')).text()).includes(`period="day"} ${part}`))

  t.equal((await ask()).status, 200)
  t.ok(await settled(0.6))
  await (await ask('/std/chat/completions', true)).text()
  t.ok(await settled(1.2), 'what was written beyond the estimate is settled')

  const refused = await ask()
  t.equal(refused.status, 429)
  t.equal(refused.headers.get('x-sealgate-budget'), 'organization/day')
  const anew = refused.headers.get('x-sealgate-budget-reset')!
  t.match(anew, /^20\d\d-\d\d-\d\dT00:00:00\.000Z$/)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  const told = await refused.text()
  t.match(told, /budget of the organization for the day/)
  for (const path of ['/v1/chat/completions', '/v1/messages']) {
    const error = await ask(path)
    t.equal(error.status, 429, path)
    t.equal(error.headers.get('x-sealgate-budget'), 'organization/day')
    if (path === '/v1/messages') t.match(await error.text(), /"code":"budget_exceeded"/)
  }
  t.equal(backend.calls.length, 2, 'who is refused costs nothing')

  await gateway.gateway.renew({ settings: settings(0.01) })
  t.equal((await ask()).status, 200, 'a raised budget counts with the first call after the reload')

  const metrics = await (await gateway.call('GET', '/metrics')).text()
  t.match(metrics, /^sealgate_tokens_total\{model="small",backend="a",kind="input"\} (800|1200)$/m)
  t.match(metrics, /^sealgate_cost_total\{model="small",backend="a"\} 0\.001[28]/m)
  t.match(metrics, /^sealgate_first_token_seconds_count\{model="small"\} 1$/m)
  t.match(metrics, /^sealgate_budget_warnings_total\{of="organization",period="day",percent="50"\} 1$/m)
  t.notMatch(metrics, /key_/, 'no key has a label')
  t.same(
    gateway.logged.filter(({ event }) => event === 'budget.share').map(({ facts }) => facts['percent']),
    [50, 80, 100],
  )
})

t.test('an operator has tokens and costs measured by key and by chosen tags, with a bound', async (t) => {
  const backend = actor('a', [say('Hello'), stop, usage(400, 100)])
  const upstreams = [given(Upstream, 'a', () => backend)]
  const chosen = { ...settings(10), ...unhurried, metrics: { keys: true, tags: ['feature'] } }
  const gateway = await running(t, { ...memory(), upstreams }, chosen)
  const call = (tags: string) => gateway.call('POST', '/std/chat/completions', body(), { 'x-sealgate-tags': tags })
  for (let n = 0; n < 201; n++) t.equal((await call(`feature=f${n}, secret=s${n}`)).status, 200)
  const told = async () => (await gateway.call('GET', '/metrics')).text()
  t.ok(await until(async () => (await told()).includes('sealgate_tag_cost_total{tag="feature",value="other"}')))
  const text = await told()
  const [{ id }] = (await (await gateway.call('GET', '/admin/keys')).json()).data.keys
  t.match(text, `sealgate_key_tokens_total{key="${id}",kind="input"} 80400`)
  t.match(text, new RegExp(`sealgate_key_cost_total\\{key="${id}"\\} 0\\.120`))
  t.match(text, 'sealgate_tag_tokens_total{tag="feature",value="f1",kind="input"} 400')
  t.notMatch(text, /secret|s1"/, 'no tag that the operator did not choose')
})

t.test('a budget holds where nobody counts what tools are called with', async (t) => {
  const json = JSON.stringify({ text: 'x'.repeat(40_000) })
  const steps = {
    call: [chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'x', arguments: json } }] })],
    'custom call': [chunk({ tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'x', input: json } } as never] })], // prettier-ignore
    thought: [chunk({ reasoning_content: json }), say('x')],
  }
  for (const [name, chunks] of Object.entries(steps))
    for (const stream of [false, true]) {
      const upstreams = [given(Upstream, 'a', () => actor('a', [...chunks, stop]))]
      const gateway = await running(t, { ...memory(), upstreams }, settings(0.01))
      const ask = async () => {
        const answer = await gateway.call('POST', '/std/chat/completions', body(stream))
        await answer.text()
        return answer.status
      }
      t.equal(await ask(), 200)
      // Requests alone use the budget up behind fifty of them.
      let requests = 0
      t.ok(await until(async () => ++requests > 10 || (await ask()) === 429))
      t.ok(requests <= 10, `${name}, ${stream ? 'streamed' : 'whole'}`)
    }
})

t.test('sealgate prices check tells which served models have no price', async (t) => {
  const folder = t.testdir()
  const command = commandRunner(t)
  const check = async (models: object) => {
    const file = join(folder, 'sealgate.json')
    const providers = { vendor: { use: 'openai', apiKey: 'k' }, own: { use: 'vllm', baseUrl: 'http://127.0.0.1:9/v1' } }
    await writeFile(file, JSON.stringify({ providers, models, enclave: { connect: ['/nowhere'] } }))
    return command(['prices', 'check'], { SEALGATE_CONFIG: file, SEALGATE_DATA: join(folder, 'data') })
  }
  const known = { upstreams: [{ provider: 'vendor', model: 'gpt-4.1-mini' }] }
  const unknown = { upstreams: [{ provider: 'own' }] }
  const all = await check({ known })
  t.equal(all.code, 0)
  t.match(all.stdout, /^1 of 1 have a price; shipped prices: openai of 20/)
  const some = await check({ known, unknown })
  t.equal(some.code, 1)
  t.match(some.stdout, /^no price\tunknown\tstandard\town\n1 of 2 have a price/)
})

t.test('shares that are reached go to the receiver of the configuration, and no call waits for it', async (t) => {
  const backend = actor('a', [say('Hello'), stop, usage(400, 100)])
  const upstreams = [given(Upstream, 'a', () => backend)]
  const receiver = await recorded(() => ({ body: '', pace: 'silent' }))
  t.teardown(() => receiver.close())
  const told = () => receiver.asked.map(({ body }) => JSON.parse(body.toString()).data.percent)
  const outside = { allow: ['127.0.0.1'], ports: [Number(new URL(receiver.url).port)] }
  const secret = `whsec_${Buffer.alloc(24).toString('base64')}`
  const { limits, ...rest } = settings(0.001)
  const hook = (url: string): SettingsInput => ({
    ...rest,
    limits: { ...limits, budgets: { webhook: { url, secret } } },
  })
  const gateway = await running(t, { ...memory(), fetch: use(doors, { outside }), upstreams }, hook(receiver.url))
  const ask = () => gateway.call('POST', '/std/chat/completions', body())

  t.equal((await ask()).status, 200)
  t.ok(await until(() => told().length === 1))
  t.equal((await ask()).status, 200, 'while the receiver says nothing')
  t.ok(await until(() => told().length === 3))
  t.same([...told()].sort(), [100, 50, 80])
  await t.rejects(gateway.gateway.renew({ settings: hook('ftp://host') }), /limits\.budgets\.webhook\.url/)
})
