import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import type { Fitting } from '../core/container.ts'
import { use } from '../core/plugin.ts'
import type { Upstream } from '../core/ports/upstream.ts'
import azure from '../plugins/providers/azure.ts'
import bedrock from '../plugins/providers/bedrock.ts'
import groq from '../plugins/providers/groq.ts'
import { running, unhurried } from './environments.ts'
import type { Asked, Take } from './fakes/recorded.ts'
import { wrapped } from './fakes/event-frames.ts'
import { backend, vector } from './contracts/stage.ts'

const json = { 'content-type': 'application/json' }
const messages = [{ role: 'user', content: 'Hi' }]

/** A gateway whose one model has this backend. */
const opened = async (
  t: Test,
  model: string,
  play: (request: Asked) => Take | Promise<Take>,
  fit: (url: string) => Fitting<Upstream>,
) => {
  const server = await backend(t, play)
  const upstreams = [fit(server.url)]
  const models = { small: { upstreams: [{ provider: upstreams[0]!.name, model }] } }
  const settings = { models, routing: { retries: 0 }, ...unhurried }
  return { ...(await running(t, { ...memory(), fetch: use(doors), upstreams }, settings)), server }
}

t.test('a caller is told which fields the backend of a model refuses', async (t) => {
  const doors = await opened(
    t,
    'openai/gpt-oss-120b',
    async ({ body }) =>
      body.includes('"stream":true')
        ? { headers: { 'content-type': 'text/event-stream' }, body: await vector('groq/chat.sse') }
        : { headers: json, body: await vector('groq/chat.json') },
    (url) => use(groq, { apiKey: 'k', baseUrl: url }),
  )
  for (const stream of [false, true]) {
    const body = { model: 'small', messages, stream, logprobs: true, store: false, logit_bias: { 1: 2 }, seed: 3 }
    const answer = await doors.call('POST', '/v1/chat/completions', body)
    t.equal(answer.headers.get('x-sealgate-dropped'), 'logprobs, logit_bias')
    await answer.text()
    const sent = JSON.parse(doors.server.asked.at(-1)!.body.toString())
    t.notOk('logprobs' in sent || 'logit_bias' in sent)
    t.equal(sent.seed, 3)
  }
})

t.test('a sign-in that fails is never the caller’s 401', async (t) => {
  const entra = (authority: string) => ({ tenantId: 'tenant', clientId: 'c', clientSecret: 'hidden', authority })
  const doors = await opened(
    t,
    'mine',
    async ({ path }) =>
      path.startsWith('/tenant/')
        ? { status: 401, headers: json, body: await vector('azure/token-error.json') }
        : { headers: json, body: await vector('azure/chat.json') },
    (url) => use(azure, { baseUrl: url, entra: entra(url) }),
  )
  const answer = await doors.call('POST', '/v1/chat/completions', { model: 'small', messages })
  t.equal(answer.status, 502)
  t.notMatch(await answer.text(), /secret-of-the-backend|hidden|AADSTS/)
})

t.test('a request of the Messages dialect reaches Claude on Bedrock as it is', async (t) => {
  const recorded = vector('anthropic/chat.sse')
  const doors = await opened(
    t,
    'eu.anthropic.claude-sonnet-4-6-v1:0',
    async ({ path }) =>
      path.endsWith('-stream')
        ? { headers: { 'content-type': 'application/vnd.amazon.eventstream' }, body: wrapped(await recorded) }
        : { headers: json, body: await vector('anthropic/chat.json') },
    (url) => use(bedrock, { region: 'eu-west-1', apiKey: 'k', baseUrl: url, listUrl: url }),
  )
  const cached = [{ type: 'text', text: 'Be short.', cache_control: { type: 'ephemeral' } }]
  const body = { model: 'small', max_tokens: 9, system: cached, messages }
  const answer = await doors.call('POST', '/v1/messages', body)
  t.match(await answer.json(), { type: 'message', model: 'small' })
  const { path, body: sent } = doors.server.asked.at(-1)!
  t.equal(path, '/model/eu.anthropic.claude-sonnet-4-6-v1%3A0/invoke')
  t.match(JSON.parse(sent.toString()), { anthropic_version: 'bedrock-2023-05-31', system: cached, max_tokens: 9 })
  const stream = await doors.call('POST', '/v1/messages', { ...body, stream: true })
  const named = (text: string) => text.match(/^event: .*$/gm)
  t.same(named(await stream.text()), named((await recorded).toString()), 'each event has its name')
})
