import Anthropic from '@anthropic-ai/sdk'
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import type { Fitting } from '../core/container.ts'
import { plugin, use } from '../core/plugin.ts'
import { Observer, type Trace } from '../core/ports/observer.ts'
import { Clock, Fetch } from '../core/ports/platform.ts'
import { type ChatCall, Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import anthropic from '../plugins/providers/anthropic.ts'
import { backend, vector } from './contracts/stage.ts'
import { environments, running, unhurried } from './environments.ts'
import type { Asked, Take } from './fakes/recorded.ts'
import { sealing } from './fakes/proxied.ts'
import { filesIn, type Places, traces } from './fakes/traces.ts'
import { installed, unwanted } from './programs/installed.ts'
import { programs } from './programs/programs.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

const json = { 'content-type': 'application/json' }
const price = { standard: { eu: { prompt_price_per_k: 1, completion_price_per_k: 1 } } }
const marker = `zq${randomBytes(12).toString('hex')}`
const token = `sk-ant-oat01-${marker}`
const body = { model: 'own', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] }

/** The vendor takes both credentials, and says what it was asked with. */
const vendor = async ({ path, headers, body }: Asked): Promise<Take> => {
  if (headers.authorization === 'Bearer sk-ant-oat01-refused-credential')
    return { status: 401, headers: json, body: `{"type":"error","error":{"type":"authentication_error","message":"${headers.authorization} is over"}}` } // prettier-ignore
  if (path.endsWith('/count_tokens')) return { headers: json, body: '{"input_tokens":21}' }
  if (path.includes('/models')) return { headers: json, body: '{"data":[],"has_more":false}' }
  const streams = /"stream":true/.test(body.toString())
  return {
    headers: streams ? { 'content-type': 'text/event-stream' } : json,
    body: await vector(`anthropic/chat.${streams ? 'sse' : 'json'}`),
  }
}

/** Everything that observers are told, as text. */
const watching = (told: string[]) => {
  const note = (...facts: readonly unknown[]) => void told.push(JSON.stringify(facts))
  const trace: Trace = {
    chose: note,
    asks: (attempt) => (note(attempt), note),
    broke: note,
    began: () => note('began'),
    used: note,
    ended: note,
  }
  return given(Observer, 'watching', () => ({
    isWatching: () => true,
    begin: (request) => (note(request), trace),
    left: note,
    failed: note,
  }))
}

/** Providers of the same vendor: `passes` passes the caller's key, `keeps` does not, `only` has no key of its own. */
const house = async (t: Test, watch: readonly Fitting<unknown>[] = [], settings: SettingsInput = {}) => {
  const server = await backend(t, vendor)
  const adapters = await environments['production']!(t)
  const seen: ChatCall[] = []
  const spy = plugin({
    port: Upstream,
    name: 'spy',
    needs: { fetch: Fetch, clock: Clock },
    create: ({ fetch, clock }): Upstream => {
      const real = anthropic.create({ fetch, clock }, { apiKey: 'sk-ant-house', baseUrl: server.url, passCallerKey: false, betas: [], generation: {}, version: undefined }, 'spy') // prettier-ignore
      return { ...real, wire: () => null, chat: (call, signal) => (seen.push(call), real.chat!(call, signal)) }
    },
  })
  const gateway = await running(
    t,
    {
      ...adapters,
      parts: [...(adapters.parts ?? []), ...watch],
      fetch: use(doors),
      upstreams: [
        use(anthropic, { apiKey: 'sk-ant-house', baseUrl: server.url, passCallerKey: true }, 'passes'),
        use(anthropic, { apiKey: 'sk-ant-house', baseUrl: server.url }, 'keeps'),
        use(anthropic, { baseUrl: server.url, passCallerKey: true }, 'only'),
        use(spy),
      ],
    },
    {
      models: Object.fromEntries(
        Object.entries({ own: 'passes', 'claude-opus-4-8': 'passes', keeps: 'keeps', only: 'only', spy: 'spy' }).map(
          ([name, provider]) => [name, { price_config: price, upstreams: [{ provider, model: 'claude-sonnet-4-6' }] }],
        ),
      ),
      routing: { retries: 0 },
      ...unhurried,
      ...settings,
    },
  )
  const ask = (headers: Record<string, string>, model = 'own') =>
    fetch(`${gateway.base}/v1/messages`, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify({ ...body, model }) }) // prettier-ignore
  return { ...gateway, server, seen, ask, last: () => server.asked.at(-1)!.headers }
}

const beside = (key: string) => ({ authorization: `Bearer ${token}`, 'x-sealgate-key': key })

t.test('Anthropic’s own client passes its subscription to the vendor, beside the gateway’s key', async (t) => {
  const gateway = await house(t)
  for (const header of ['x-sealgate-key', 'api-key']) {
    const client = new Anthropic({
      authToken: token,
      apiKey: null,
      baseURL: gateway.base,
      maxRetries: 0,
      defaultHeaders: { [header]: gateway.key, 'anthropic-beta': 'oauth-2025-04-20' },
    })
    t.ok((await client.messages.create(body)).content.length > 0, header)
    t.match(gateway.last(), { authorization: `Bearer ${token}`, 'anthropic-beta': 'oauth-2025-04-20' })
    t.notOk(header in gateway.last(), 'the key of the gateway stays here')
    const stream = client.messages.stream(body)
    t.ok((await stream.finalMessage()).content.length > 0, 'streamed')
    t.equal(gateway.last().authorization, `Bearer ${token}`)
    t.equal((await client.messages.countTokens({ model: 'own', messages: body.messages })).input_tokens, 21)
    t.equal(gateway.last().authorization, `Bearer ${token}`, 'a count, too')
    for await (const model of client.models.list()) t.ok(model.id)
  }
})

const claude = programs.find(({ name }) => name === 'Claude Code')!

t.test('Claude Code passes its subscription', { skip: unwanted(claude), timeout: 600_000 }, async (t) => {
  const gateway = await house(t)
  const program = await installed(t, {
    ...claude,
    async start({ base, key }, home, prompt) {
      const { args, env: { ANTHROPIC_API_KEY: _, ...env } = {} } = await claude.start({ base, key }, home, prompt)
      return {
        args,
        env: { ...env, CLAUDE_CODE_OAUTH_TOKEN: token, ANTHROPIC_CUSTOM_HEADERS: `x-sealgate-key: ${key}` },
      }
    },
  })
  const { home } = await program.home('subscription', 'A note')
  t.not(await program.inTheClear(gateway, home, 'Say hello'), '')
  const chats = gateway.server.asked.filter(({ path }) => path.startsWith('/v1/messages'))
  t.ok(chats.length > 0, `${chats.length} calls`)
  for (const { headers } of chats) {
    t.match(headers, { authorization: `Bearer ${token}`, 'anthropic-beta': /oauth/ })
    t.notOk('x-sealgate-key' in headers)
  }
})

t.test('tokens of such a call are counted and cost nothing; without it they cost as ever', async (t) => {
  const { key, organization } = unhurried.limits!
  const gateway = await house(t, [], { limits: { key: key!, organization: { ...organization, costPerDay: 0.001 } } })
  const used = async (): Promise<any> => ((await (await gateway.call('GET', '/admin/usage')).json()) as any).data.usage
  for (let turn = 0; turn < 3; turn++) t.equal((await gateway.ask(beside(gateway.key))).status, 200)
  t.ok(await until(async () => (await used())[0]?.requests === 3))
  const [row] = await used()
  t.ok(row.input > 0 && row.output > 0, 'tokens')
  t.match(row, { model: 'own', cost: 0, estimated: 0 })
  t.equal((await gateway.ask(beside(gateway.key), 'keeps')).status, 429, 'a backend that does not take it costs')
  t.equal((await gateway.ask({ 'x-api-key': gateway.key })).status, 429, 'the operator’s credential costs')
})

t.test('a provider without the setting never gets the credential', async (t) => {
  const gateway = await house(t)
  for (const model of ['keeps', 'spy']) {
    t.equal((await gateway.ask(beside(gateway.key), model)).status, 200, model)
    t.equal(gateway.last().authorization, 'Bearer sk-ant-house', model)
  }
  t.equal(gateway.seen.length, 1)
  t.notMatch(JSON.stringify(gateway.seen), marker, 'its plugin is not told of it')
  t.equal((await gateway.ask({ 'x-api-key': gateway.key })).status, 200)
  t.equal(gateway.last().authorization, 'Bearer sk-ant-house', 'the key of the operator, where no other came')
  t.notMatch(JSON.stringify(gateway.server.asked.map(({ headers }) => headers)), gateway.key)
})

t.test('the sealed road never carries the credential', async (t) => {
  const gateway = await running(t, memory(), unhurried)
  const seen: string[] = []
  gateway.server.on('request', ({ rawHeaders }) => void seen.push(rawHeaders.join('\n')))
  const proxy = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const sent = JSON.stringify({ ...body, model: 'rehearsal' })
  const answer = await fetch(`${proxy.url}/messages`, { method: 'POST', headers: beside(gateway.key), body: sent })
  t.equal(answer.status, 200, await answer.text())
  t.ok(seen.some((headers) => headers.includes(`Bearer ${gateway.key}`)))
  t.notMatch(seen.join('\n'), marker)
  t.notMatch(seen.join('\n'), /x-sealgate-key/i)
})

t.test('each wrong thing alone is refused', async (t) => {
  const gateway = await house(t)
  const asked = gateway.server.asked.length
  const { credential: other } = await gateway.gateway.keys.create({})
  const refused: readonly (readonly [string, Record<string, string>])[] = [
    ['no key of the gateway', { authorization: `Bearer ${token}` }],
    ['a key that is none', { ...beside(gateway.key), 'x-sealgate-key': 'sk_live_none' }],
    ['two keys', { ...beside(gateway.key), 'api-key': other }],
    ['another key in place of the credential', { ...beside(gateway.key), authorization: `Bearer ${other}` }],
    ['a credential of another form', { ...beside(gateway.key), authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }],
    ['the key in a header that is not for it', { authorization: `Bearer ${token}`, 'x-api-key': gateway.key }],
  ]
  for (const [name, headers] of refused) t.equal((await gateway.ask(headers)).status, 401, name)
  t.equal(gateway.server.asked.length, asked, 'no vendor is asked')
  const chat = await fetch(`${gateway.base}/v1/chat/completions`, { method: 'POST', headers: { ...json, ...beside(gateway.key) }, body: JSON.stringify(body) }) // prettier-ignore
  t.equal(chat.status, 401, 'a door of another dialect')

  const missing = await gateway.ask({ 'x-sealgate-key': gateway.key }, 'only')
  t.match([missing.status, await missing.json()], [401, { error: { code: 'caller_key_missing' } }])
  t.equal((await gateway.ask(beside(gateway.key), 'only')).status, 200)
  const over = { ...beside(gateway.key), authorization: 'Bearer sk-ant-oat01-refused-credential' }
  for (let turn = 0; turn < 12; turn++) {
    const answer = await gateway.ask(over)
    t.equal(answer.status, 401)
    const text = await answer.text()
    t.match(JSON.parse(text), { error: { type: 'authentication_error', code: 'caller_key_refused' } })
    t.notMatch(text, 'refused-credential')
  }
  t.equal((await gateway.ask({ 'x-api-key': gateway.key })).status, 200, 'nor is the backend taken for a broken one')
})

t.test('nothing of the credential stays in logs, stores, traces and errors', async (t) => {
  const told: string[] = []
  const gateway = await house(t, [watching(told)])
  const places: Places = new Map()
  const keep = async (name: string, answer: Response) =>
    places.set(name, Buffer.from(`${JSON.stringify([...answer.headers])}\n${await answer.text()}`))
  for (const model of ['own', 'only', 'keeps', 'nobody'])
    await keep(model, await gateway.ask(beside(gateway.key), model))
  await keep('refused', await gateway.ask({ authorization: `Bearer ${token}` }))
  await keep('malformed', await fetch(`${gateway.base}/v1/messages`, { method: 'POST', headers: { ...json, ...beside(gateway.key) }, body: '{' })) // prettier-ignore
  await gateway.server.close()
  await keep('broken', await gateway.ask(beside(gateway.key)))
  for (const path of ['/metrics', '/admin/usage', '/admin/keys', '/admin/audit']) await keep(path, await gateway.call('GET', path)) // prettier-ignore
  await gateway.gateway.drain(5_000)
  await gateway.gateway.close()
  places.set('log', Buffer.from(JSON.stringify(gateway.logged, (_, value) => (value instanceof Error ? causes(value) : value)))) // prettier-ignore
  places.set('traces', Buffer.from(told.join('\n')))
  for (const [name, bytes] of await filesIn(t.testdirName)) places.set(name, bytes)
  t.match(places.get('log')!.toString(), /"event":"request"/)
  t.match(places.get('traces')!.toString(), /passes/)
  t.same(traces([marker], places), [])
  t.same(traces(['claude-sonnet-4-6'], new Map([['traces', places.get('traces')!]])).length > 0, true, 'the search finds what is there') // prettier-ignore
})

/** What an error says, with all that caused it. */
const causes = (error: Error): readonly unknown[] => [
  ...[error.name, error.message, { ...error }],
  ...(error.cause instanceof Error ? causes(error.cause) : []),
]
