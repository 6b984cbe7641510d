import './fakes/unwatched.ts'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { UpstreamFailed } from '../core/errors.ts'
import { tokensOf } from '../core/inference/metering/tokens.ts'
import { plugin, use } from '../core/plugin.ts'
import type { EmbedCall } from '../core/ports/embed.ts'
import { Upstream } from '../core/ports/upstream.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import type { CheckedReceipt } from '../plugins/sealed/client/receipts.ts'
import { SealgateError } from '../plugins/sealed/client/error.ts'
import { toolHouse } from './fakes/agent.ts'
import { sealing } from './fakes/proxied.ts'
import { traces } from './fakes/traces.ts'
import { until } from './until.ts'

/** A gateway whose model makes vectors of the lengths of texts, in the clear and sealed. */
const stage = async (t: Test) => {
  const calls: EmbedCall[] = []
  const vectors = plugin({
    port: Upstream,
    name: 'vectors',
    create: (): Upstream => ({
      name: 'vectors',
      models: async () => [{ id: 'small', type: 'EMBEDDING' }],
      async embed(call) {
        calls.push(call)
        if (call.texts[0] === 'breaks') throw new UpstreamFailed(undefined, { again: false })
        const usage = { input: call.texts[0] === 'uncounted' ? 0 : 9, output: 0 }
        return { vectors: call.texts.map(({ length }) => Float32Array.of(length, 0.5)), usage }
      },
    }),
  })
  const embedder = { type: 'EMBEDDING' as const, upstreams: [{ provider: 'vectors' }] }
  const models = { small: { ...embedder, confidential: true }, open: embedder }
  const house = await toolHouse(t, [], { upstreams: [use(vectors)], settings: { models, routing: { retries: 0 } } })
  const client = connect({ baseUrl: house.base, apiKey: house.key, policy: { allowInsecureDev: true } })
  return { ...house, calls, client }
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof SealgateError ? error.code : error),
  )

t.test('sealed vectors are those of the clear route, and nothing of the texts is readable outside', async (t) => {
  const scene = await stage(t)
  const root = 'canaryqheron'
  for (const more of [{}, { encoding_format: 'base64' as const }, { dimensions: 2 }]) {
    const asked = { model: 'small', input: [`${root} waits`, 'The ferry'], ...more }
    const clear = await (await scene.call('POST', '/v1/embeddings', asked)).json()
    const seen = scene.logged.length
    t.same(await scene.client.embeddings.create(asked), clear)
    t.same(scene.calls.at(-1), scene.calls.at(-2), 'the backend is asked the same')
    const facts = Buffer.from(JSON.stringify(scene.logged.slice(seen)))
    t.same(traces([root], new Map([['log', facts]])), [])
  }
  const receipts: CheckedReceipt[] = []
  const receipt = (one: CheckedReceipt) => void receipts.push(one)
  await scene.client.embeddings.create({ model: 'small', input: root }, { receipt })
  const facts = { route: 'rvenc/embeddings', model: 'small', backend: 'vectors', tokens: { input: 9, output: 0 } }
  t.match(receipts, [{ facts }], 'with a receipt')
  const isBooked = async () => (await (await scene.call('GET', '/admin/usage?limit=100')).text()).includes('"small"')
  t.ok(await until(isBooked), 'its use is booked')
})

t.test('sealed vectors that no backend counts are booked and told by the gateway’s guess', async (t) => {
  const { client } = await stage(t)
  const receipts: CheckedReceipt[] = []
  const receipt = (one: CheckedReceipt) => void receipts.push(one)
  const { usage } = await client.embeddings.create({ model: 'small', input: 'uncounted' }, { receipt })
  const input = tokensOf('uncounted')
  t.same(usage, { prompt_tokens: input, total_tokens: input, estimated: true })
  t.match(receipts, [{ facts: { tokens: { input, output: 0 } } }])
})

t.test('what fails has its code inside the seal', async (t) => {
  const scene = await stage(t)
  const { create } = scene.client.embeddings
  t.equal(await codeOf(create({ model: 'none', input: 'x' })), 'unknown_model')
  t.equal(await codeOf(create({ model: 'open', input: 'x' })), 'unknown_model', 'a model in the clear alone')
  t.equal(await codeOf(create({ model: 'small', input: [] })), 'invalid_parameters')
  t.equal(await codeOf(create({ model: 'small', input: [1, 2] })), 'refused', 'the model takes no tokens')
  t.equal(await codeOf(create({ model: 'small', input: 'breaks' })), 'upstream_failed')
  const { credential } = await scene.gateway.keys.create({ models: ['open'] })
  const other = connect({ baseUrl: scene.base, apiKey: credential, policy: { allowInsecureDev: true } })
  t.equal(
    await codeOf(other.embeddings.create({ model: 'small', input: 'x' })),
    'unknown_model',
    'and so does another key',
  )
})

t.test('sealgate seal makes them for stock clients', async (t) => {
  const scene = await stage(t)
  const proxy = await sealing(t, ['--base-url', scene.base, '--allow-insecure-dev'], { SEALGATE_KEY: scene.key })
  const openai = new OpenAI({ baseURL: proxy.url, apiKey: 'x', maxRetries: 0 })
  const { data, response } = await openai.embeddings.create({ model: 'small', input: ['one', 'three'] }).withResponse()
  t.same(
    data.data.map(({ embedding }) => embedding),
    [
      [3, 0.5],
      [5, 0.5],
    ],
  )
  t.match(response.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  t.equal(await openai.embeddings.create({ model: 'none', input: 'x' }).catch(({ status }) => status), 404)
  const routes = scene.logged.flatMap(({ event, facts }) => (event === 'request' ? [String(facts['route'])] : []))
  t.ok(routes.includes('POST /rvenc/embeddings'))
  t.notOk(routes.some((route) => /\/(v1|std)\/embeddings/.test(route)), 'nothing goes in the clear') // prettier-ignore
})
