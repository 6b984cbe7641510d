import '../../fakes/unwatched.ts'
import Anthropic from '@anthropic-ai/sdk'
import { createClient } from '@keyv/redis'
import OpenAI, { RateLimitError } from 'openai'
import t, { type Test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { fetch as doors } from '../../../adapters/production/platform.ts'
import redisLimiter from '../../../adapters/production/redis/rate-limiter.ts'
import type { Adapters } from '../../../core/gateway.ts'
import { use } from '../../../core/plugin.ts'
import type { SettingsInput } from '../../../core/settings.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import { connect } from '../../../plugins/sealed/client/client.ts'
import { backend } from '../../contracts/stage.ts'
import { running } from '../../environments.ts'
import { upstreamsAt } from '../../fakes/doors.ts'
import { sealing } from '../../fakes/proxied.ts'
import { startRedis } from '../../fakes/redis.ts'
import { scripted } from '../../fakes/scripted.ts'
import { sealedDoors } from '../../fakes/sealed-doors.ts'
import { given } from '../../fitted.ts'

type Windows = NonNullable<NonNullable<SettingsInput['quotas']>['windows']>

const userSecret = 'the same for all processes of this gateway'
const price = { prompt_price_per_k: 0.001, completion_price_per_k: 0.001 }
const priced = { price_config: { standard: { eu: price } } }
const settings = (windows: Windows): SettingsInput => ({
  models: {
    one: { ...priced, upstreams: [{ provider: 'chat' }] },
    two: { ...priced, upstreams: [{ provider: 'chat' }] },
    claude: { ...priced, upstreams: [{ provider: 'messages', model: 'claude-opus-4-8' }] },
  },
  quotas: { userSecret, windows },
})

const redis = await startRedis()
t.teardown(() => redis?.close())
let prefixes = 0

/** Where counts are kept, and what that store holds. */
const stores: Readonly<Record<string, () => Partial<Adapters>>> = {
  memory: () => ({}),
  ...(redis !== null && {
    Redis: () => ({ rateLimiter: use(redisLimiter, { url: redis.url, prefix: `q${prefixes++}`, patience: 2_000 }) }),
  }),
}

const house = async (t: Test, store: Partial<Adapters>, windows: Windows) => {
  const { url, asked: requests } = await backend(
    t,
    scripted(() => [{ say: 'Hello.' }]),
  )
  const gateway = await running(
    t,
    { ...memory(), fetch: use(doors), upstreams: upstreamsAt(url), ...store },
    settings(windows),
  )
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${gateway.base}/v1`, apiKey, maxRetries: 0 })
  const client = clientOf(gateway.key)
  const ask = (more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}, by = client) =>
    by.chat.completions
      .create({ model: 'one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, ...more })
      .withResponse()
  const refused = (...call: Parameters<typeof ask>): Promise<RateLimitError> =>
    ask(...call).then(
      () => Promise.reject(new Error('The call is not refused')),
      (error: unknown) => (error instanceof RateLimitError ? error : Promise.reject(error)),
    )
  const renew = (windows: Windows) => gateway.gateway.renew({ settings: settings(windows) })
  return { ...gateway, asked: requests, clientOf, ask, refused, renew }
}

const statusOf = (error: { readonly status?: number }) => error.status

/** The refusal names this window, and its end as the time of the next try. */
const names = (t: Test, error: RateLimitError, window: string, most: number, longest: number) => {
  const { headers } = error
  t.equal(headers.get('x-sealgate-window'), window)
  t.equal(headers.get('x-ratelimit-limit-requests'), String(most))
  t.equal(headers.get('x-ratelimit-remaining-requests'), '0')
  const wait = Date.parse(headers.get('x-sealgate-window-reset')!) - Date.now()
  t.ok(wait > 0 && wait <= longest * 1000, `${wait} ms`)
  // A refusal adds up to half a minute, so that callers come back apart.
  const after = Number(headers.get('retry-after')) * 1000
  t.ok(after >= wait - 1_000 && after <= wait + 32_000, `retry-after of ${after} ms is the end of the window`)
}

for (const [store, adapters] of Object.entries(stores)) {
  t.test(`several windows of a key hold at once, counted in ${store}`, async (t) => {
    const windows = (most: number): Windows => [
      { of: 'key', requests: most, per: 'hour' },
      { of: 'key', requests: 3, per: 'day' },
    ]
    const gateway = await house(t, adapters(), windows(2))
    t.equal((await gateway.ask()).response.headers.get('x-ratelimit-remaining-requests'), '1', 'of the tighter window')
    await gateway.ask()
    names(t, await gateway.refused(), 'key/requests/hour', 2, 3_600)
    await gateway.renew(windows(10))
    await gateway.ask()
    names(t, await gateway.refused(), 'key/requests/day', 3, 86_400)
    const { credential } = await gateway.gateway.keys.create({})
    await t.resolves(gateway.ask({}, gateway.clientOf(credential)), 'another key has windows of its own')
    t.equal(gateway.asked.length, 4, 'no refused call reaches a backend')
  })

  t.test(`windows of a model hold for all keys together, counted in ${store}`, async (t) => {
    const gateway = await house(t, adapters(), [{ of: 'gateway', model: 'one', requests: 1, per: 'day' }])
    const { credential } = await gateway.gateway.keys.create({})
    await gateway.ask()
    names(t, await gateway.refused({}, gateway.clientOf(credential)), 'gateway/requests/day', 1, 86_400)
    await t.resolves(gateway.ask({ model: 'two' }), 'another model has none')
  })

  t.test(`end users have budgets and windows, counted in ${store}`, async (t) => {
    const gateway = await house(t, adapters(), [
      { of: 'endUser', requests: 2, per: 'hour' },
      { of: 'endUser', cost: 0.00002, per: 'day' },
    ])
    await gateway.ask({ user: 'ann@example.com' })
    const poor = await gateway.refused({ user: 'ann@example.com' })
    t.equal(poor.code, 'budget_exceeded')
    t.equal(poor.headers.get('x-sealgate-budget'), 'endUser/day')
    t.ok(Number(poor.headers.get('retry-after')) > 0)
    t.notMatch(JSON.stringify(poor.error), /ann/, 'the words name no user')
    await t.resolves(gateway.ask({ user: 'bob' }), 'another user has a budget of its own')
    await t.resolves(gateway.ask(), 'a call without a user has none')

    const responses = gateway.clientOf(gateway.key).responses.create({ model: 'one', input: 'Hi', safety_identifier: 'ann@example.com' }) // prettier-ignore
    t.equal(await responses.then(() => 0, statusOf), 429, 'by Responses')
    const messages = new Anthropic({ baseURL: gateway.base, apiKey: gateway.key, maxRetries: 0 }).messages.create({
      ...{ model: 'claude', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] },
      metadata: { user_id: 'ann@example.com' },
    })
    t.equal(await messages.then(() => 0, statusOf), 429, 'by Messages')

    await gateway.renew([{ of: 'endUser', requests: 1, per: 'hour' }])
    names(t, await gateway.refused({ user: 'bob' }), 'endUser/requests/hour', 1, 3_600)
  })
}

t.test('a sealed call names its end user by a header; a user under the seal has no window', async (t) => {
  const windows: Windows = [{ of: 'endUser', requests: 1, per: 'day' }]
  const doors = await sealedDoors(t, scripted(() => [{ say: 'Hello.' }]), { talk: 'chat' }, { quotas: { userSecret, windows } }) // prettier-ignore
  const ask = async (named: string | null) => {
    const headed: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      if (named !== null) headers.set('x-sealgate-user', named)
      return fetch(input, { ...init, headers })
    }
    const client = connect({
      baseUrl: doors.base,
      apiKey: doors.key,
      policy: { allowInsecureDev: true },
      fetch: headed,
    })
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    return client.chat.completions.create({ model: 'talk', messages, user: 'ann' })
  }
  await ask(null)
  await t.resolves(ask(null), 'the gateway reads no name under the seal')
  await ask('ann')
  await t.rejects(ask('ann'), { name: 'SealgateError', status: 429 })
  await t.resolves(ask('bob'), 'another user has a window of its own')
  await t.rejects(ask('x'.repeat(257)), { name: 'SealgateError', status: 400 })
  const proxy = await sealing(t, ['--base-url', doors.base, '--allow-insecure-dev'], { SEALGATE_KEY: doors.key })
  const through = async (user: string) => {
    const answer = await fetch(`${proxy.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sealgate-user': user },
      body: JSON.stringify({ model: 'talk', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await answer.text()
    return answer.status
  }
  t.equal(await through('carol'), 200)
  await t.rejects(ask('carol'), { name: 'SealgateError', status: 429 }, 'sealgate seal passes the header on')
  t.notMatch(JSON.stringify(doors.logged), /ann|bob/)
})

t.test('tokens and costs of one key or team are held alike, and what was not used comes back', async (t) => {
  const gateway = await house(t, {}, [{ of: 'key', tokens: 80, per: 'day' }])
  const { response } = await gateway.ask({ max_tokens: 60 })
  t.equal(response.headers.get('x-ratelimit-limit-tokens'), '80')
  const second = await gateway.ask()
  t.equal(second.response.headers.get('x-ratelimit-remaining-tokens'), '39', '30 were told, and 11 are reserved')
  const third = await gateway.refused({ max_tokens: 60 })
  t.equal(third.headers.get('x-sealgate-window'), 'key/tokens/day')
  t.equal(third.headers.get('x-ratelimit-remaining-tokens'), '0')
})

t.test('a request for vectors names its end user as a chat does', async (t) => {
  const vector: Upstream = {
    name: 'vectors',
    models: async () => [],
    embed: async ({ texts }) => ({ vectors: texts.map(() => new Float32Array(1)), usage: { input: 1, output: 0 } }),
  }
  const models = { vector: { type: 'EMBEDDING' as const, upstreams: [{ provider: 'vectors' }] } }
  const windows: Windows = [{ of: 'endUser', requests: 1, per: 'day' }]
  const adapters = { ...memory(), upstreams: [given(Upstream, 'vectors', () => vector)] }
  const gateway = await running(t, adapters, { models, quotas: { userSecret, windows } })
  const statuses = async (more: object) => {
    const ask = () => gateway.call('POST', '/v1/embeddings', { model: 'vector', input: 'Hi', ...more })
    return [(await ask()).status, (await ask()).status]
  }
  t.same(await statuses({ user: 'ann' }), [200, 429])
  t.same(await statuses({ safety_identifier: 'bob' }), [200, 429])
  t.same(await statuses({ user: '' }), [200, 200], 'an empty name is none')
})

t.test('a call that no model gets costs no window', async (t) => {
  const gateway = await house(t, {}, [
    { of: 'key', requests: 1, per: 'day' },
    { of: 'organization', model: 'two', cost: 0.000001, per: 'day' },
  ])
  const long = { role: 'user' as const, content: 'x'.repeat(4_000) }
  t.equal((await gateway.refused({ model: 'two', messages: [long] })).headers.get('retry-after'), null, 'no time helps')
  await t.resolves(gateway.ask())
})

if (redis !== null)
  t.test('the store knows no end user', async (t) => {
    const gateway = await house(t, stores['Redis']!(), [{ of: 'endUser', requests: 2, per: 'day' }])
    await gateway.ask({ user: 'ann@example.com' })
    const client = await createClient({ url: redis.url }).connect()
    t.teardown(() => client.close())
    const keys = await client.keys('*quota/requests/endUser*')
    t.ok(keys.length > 0)
    t.notMatch(
      [await client.keys('*'), gateway.logged]
        .flat()
        .map((value) => JSON.stringify(value))
        .join('\n'),
      /ann/,
    )
  })
