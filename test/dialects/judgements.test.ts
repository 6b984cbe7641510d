import '../fakes/unwatched.ts'
import { GoogleGenAI } from '@google/genai'
import { OpenRouter } from '@openrouter/sdk'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { fetch as doors } from '../../adapters/production/platform.ts'
import { plugin, use } from '../../core/plugin.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import cohere from '../../plugins/providers/cohere.ts'
import openai from '../../plugins/providers/openai.ts'
import openrouter from '../../plugins/providers/openrouter.ts'
import together from '../../plugins/providers/together.ts'
import vllm from '../../plugins/providers/vllm.ts'
import { backend } from '../contracts/stage.ts'
import { running, unhurried } from '../environments.ts'
import { sealing } from '../fakes/proxied.ts'
import type { Take } from '../fakes/recorded.ts'

const json = { 'content-type': 'application/json' }
const documents = ['By the river.', 'In a bank.', 'The heron waits.']

/** A vector that counts letters: texts with the same letters are alike. */
const vectorOf = (text: string): Float32Array =>
  Float32Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => text.toLowerCase().split(letter).length - 1)

const vectors = plugin({
  port: Upstream,
  name: 'vectors',
  create: (): Upstream => ({
    name: 'vectors',
    models: async () => [{ id: 'vectors', type: 'EMBEDDING' }],
    embed: async ({ texts, dimensions = 26 }) => ({
      vectors: texts.map((text) => vectorOf(text).slice(0, dimensions)),
      usage: { input: 7 * texts.length, output: 0 },
    }),
  }),
})

const scores = (body: string): string => {
  const { documents } = JSON.parse(body) as { readonly documents: readonly string[] }
  const results = documents.map((_, index) => ({ index, relevance_score: (index + 1) / 10 }))
  return JSON.stringify({ id: 'theirs', results, usage: { total_tokens: 33 } })
}

const opened = async (t: Test) => {
  const plays: { answer: ((path: string, body: string) => Take) | null } = { answer: null }
  const vendor = await backend(t, ({ path, body }) => {
    const text = body.toString()
    if (plays.answer !== null) return plays.answer(path, text)
    if (path.endsWith('/rerank')) return { headers: json, body: scores(text) }
    if (path.endsWith('/moderations')) {
      const results = [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } }]
      return { headers: json, body: JSON.stringify({ id: 'modr-1', model: 'theirs', results }) }
    }
    if (path.endsWith('/embeddings')) {
      const { input } = JSON.parse(text) as { readonly input: readonly string[] }
      const data = input.map((each, index) => ({ index, embedding: Array.from(vectorOf(each)) }))
      return { headers: json, body: JSON.stringify({ data, usage: { prompt_tokens: 9, total_tokens: 9 } }) }
    }
    if (path.endsWith('/input_tokens'))
      return { headers: json, body: '{"object":"response.input_tokens","input_tokens":21}' }
    return { status: 404, headers: json, body: '{}' }
  })
  const account = (path: string) => ({ apiKey: 'k', baseUrl: vendor.url + path })
  const upstreams = [
    use(vectors),
    use(cohere, account(''), 'cohere'),
    use(together, account('/v1'), 'together'),
    use(openrouter, account('/api/v1'), 'openrouter'),
    use(vllm, { baseUrl: `${vendor.url}/v1`, type: 'EMBEDDING' }, 'vllm'),
    use(openai, { ...account('/v1'), api: 'responses' }, 'openai'),
    use(openai, { ...account('/v1'), api: 'chat' }, 'plain'),
  ]
  const embeds = (provider: string, model: string) => ({ type: 'EMBEDDING' as const, upstreams: [{ provider, model }] })
  const models = {
    ...Object.fromEntries(
      ['cohere', 'together', 'openrouter', 'vllm'].map((name) => [name, embeds(name, 'rerank-v4')]),
    ),
    'cohere-vectors': embeds('cohere', 'embed-v4'),
    vectors: { ...embeds('vectors', 'vectors'), confidential: true },
    'omni-moderation-latest': { upstreams: [{ provider: 'openai', model: 'omni' }] },
    counted: { upstreams: [{ provider: 'openai', model: 'gpt-own' }] },
    plain: { upstreams: [{ provider: 'plain', model: 'gpt-own' }] },
    silent: { upstreams: [{ provider: 'cohere', model: 'command' }] },
  }
  // A backend that rests would answer every case alike.
  const routing = { retries: 0, breaker: { faults: 1_000_000, ratio: 1 } }
  const gateway = await running(t, { ...memory(), fetch: use(doors), upstreams }, { models, ...unhurried, routing })
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await gateway.call('POST', path, body, headers)
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any }
  }
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.base}/v1`, maxRetries: 0 })
  return { ...gateway, vendor, plays, post, client }
}

t.test('rerankers of four vendors are asked by their own routes', async (t) => {
  const doors = await opened(t)
  const routes = { cohere: '/v2/rerank', together: '/v1/rerank', openrouter: '/api/v1/rerank', vllm: '/v1/rerank' }
  for (const [model, path] of Object.entries(routes)) {
    const { status, body } = await doors.post('/v1/rerank', { model, query: 'Herons?', documents, top_n: 2 })
    t.equal(status, 200, JSON.stringify(body))
    t.match(body, {
      object: 'rerank',
      model,
      results: [
        { index: 2, relevance_score: 0.3, document: { text: documents[2] } },
        { index: 1, relevance_score: 0.2 },
      ],
      usage: { prompt_tokens: 33, total_tokens: 33 },
      meta: { engine: 'native' },
    })
    t.equal(body.results.length, 2)
    const request = doors.vendor.asked.at(-1)!
    t.equal(request.path, path)
    t.same(JSON.parse(request.body.toString()), { model: 'rerank-v4', query: 'Herons?', documents, top_n: 3 })
  }
  const atCohere = await doors.post('/v2/rerank', { model: 'cohere', query: 'Herons?', documents: [{ text: 'x' }] })
  t.match(atCohere.body, { results: [{ index: 0, document: { text: 'x' } }] }, 'the path of Cohere’s client')
  const bare = await doors.post('/v1/rerank', { model: 'cohere', query: 'x', documents, return_documents: false })
  t.notOk('document' in bare.body.results[0])
})

t.test('vectors serve where no reranker does, and the answer says so', async (t) => {
  const doors = await opened(t)
  const asked = { model: 'vectors', query: 'heron waits', documents }
  const { body } = await doors.post('/v1/rerank', asked)
  t.match(body, { meta: { engine: 'embeddings' }, usage: { prompt_tokens: 28 } })
  t.equal(body.results[0].index, 2, 'the text with the same letters')
  t.ok(body.results.every(({ relevance_score: score }: any) => score >= 0 && score <= 1))
  const beside = await doors.post('/v1/rerank', { ...asked, model: 'cohere-vectors' })
  t.match(beside.body, { meta: { engine: 'embeddings' } }, 'an embedding model of a vendor that has rerankers too')
  t.equal(doors.vendor.asked.at(-1)!.path, '/compatibility/v1/embeddings')
  const router = new OpenRouter({ apiKey: doors.key, serverURL: `${doors.base}/v1`, retryConfig: { strategy: 'none' } })
  const answer: any = await router.rerank.rerank({ requestBody: { ...asked, topN: 1 } })
  t.match(answer, { model: 'vectors', results: [{ index: 2, document: { text: documents[2] } }] }, 'a stock client')
  const same = await doors.post('/v1/rerank', { ...asked, documents: ['ab', 'ba', 'zz'], query: 'ab' })
  t.same(
    same.body.results.map(({ index }: any) => index),
    [0, 1, 2],
    'equal ones stay in order',
  )
})

t.test('a wrong rerank is refused, and a wrong answer is the backend’s fault', async (t) => {
  const doors = await opened(t)
  const asked = { model: 'cohere', query: 'x', documents }
  const failed = async (more: object, status: number, param: string | null) => {
    const answer = await doors.post('/v1/rerank', { ...asked, ...more })
    t.match([answer.status, answer.body.error.param], [status, param], JSON.stringify(more).slice(0, 60))
  }
  await failed({ model: 'none' }, 404, null)
  await failed({ model: 'counted' }, 400, 'model')
  await failed({ query: '' }, 400, 'query')
  await failed({ documents: [] }, 400, 'documents')
  await failed({ documents: [{ image: 'x' }] }, 400, 'documents.0')
  await failed({ documents: Array.from({ length: 1001 }, () => 'x') }, 400, 'documents')
  await failed({ top_n: 0 }, 400, 'top_n')
  const { credential } = await doors.gateway.keys.create({ scopes: ['tools.execute'] })
  t.equal((await doors.post('/v1/rerank', asked, { authorization: `Bearer ${credential}` })).status, 403)
  t.equal((await doors.post('/v1/rerank', asked, { authorization: 'Bearer sk-none' })).status, 401)
  for (const results of [
    [],
    [{ index: 0, relevance_score: 1 }],
    [0, 0, 1].map((index) => ({ index, relevance_score: 1 })),
    [0, 1, 2, 2].map((index) => ({ index, relevance_score: 1 })),
    [0, 1, 3].map((index) => ({ index, relevance_score: 1 })),
    [0, 1, 2].map((index) => ({ index, relevance_score: 'much' })),
  ]) {
    doors.plays.answer = () => ({ headers: json, body: JSON.stringify({ results }) })
    t.equal((await doors.post('/v1/rerank', asked)).status, 503)
  }
})

t.test('moderations go to a backend that moderates', async (t) => {
  const doors = await opened(t)
  const made = await doors.client.moderations.create({ input: 'I will hurt you.' })
  t.match(made, { id: 'modr-1', model: 'omni-moderation-latest', results: [{ flagged: true }] })
  t.same(JSON.parse(doors.vendor.asked.at(-1)!.body.toString()), { model: 'omni', input: 'I will hurt you.' })
  const input = [
    { type: 'text' as const, text: 'x' },
    { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
  ]
  await doors.client.moderations.create({ model: 'omni-moderation-latest', input })
  t.same(JSON.parse(doors.vendor.asked.at(-1)!.body.toString()).input, input)
  const failed = async (more: object, like: object) =>
    t.match(await doors.client.moderations.create({ input: 'x', ...more }).catch((error: unknown) => error), like)
  await failed({ model: 'silent' }, { status: 400, param: 'model', message: /backend moderates/ })
  await failed({ model: 'none' }, { status: 404 })
  await failed({ input: [] }, { status: 400, param: 'input' })
  doors.plays.answer = () => ({ headers: json, body: '{}' })
  await failed({}, { status: 503 })
})

t.test('tokens of Responses are counted by the backend, or estimated', async (t) => {
  const doors = await opened(t)
  const count = (model: string, more: object = {}): Promise<any> =>
    doors.client.responses.inputTokens.count({ model, input: 'Hello', ...more })
  t.same(await count('counted', { instructions: 'Be short.' }), { object: 'response.input_tokens', input_tokens: 21 })
  const [request] = doors.vendor.asked
  t.equal(request!.path, '/v1/responses/input_tokens')
  t.same(JSON.parse(request!.body.toString()), { model: 'gpt-own', input: 'Hello', instructions: 'Be short.' })
  const other = await doors.post('/v1/messages/count_tokens', {
    model: 'counted',
    messages: [{ role: 'user', content: 'x' }],
  })
  t.match(other.body, { input_tokens: 21 }, 'for other doors, too')
  const guess = await doors.post('/v1/responses/input_tokens', { model: 'plain', input: 'Hello' })
  t.match([guess.status, guess.body.input_tokens > 0], [200, true])
  t.equal(guess.headers.get('x-sealgate-estimated'), 'true')
  t.equal(doors.vendor.asked.length, 2)
  t.match(await count('none').catch((error: unknown) => error), { status: 404 })
  t.match(await count('counted', { input: 7 }).catch((error: unknown) => error), { status: 400, param: 'input' })
})

t.test('Gemini’s client makes vectors by any embedding model, clear and sealed', async (t) => {
  const doors = await opened(t)
  const proxy = await sealing(t, ['--base-url', doors.base, '--allow-insecure-dev'], { SEALGATE_KEY: doors.key })
  for (const [baseUrl, apiKey] of [
    [doors.base, doors.key],
    [proxy.url.replace(/\/v1$/, ''), 'x'],
  ] as const) {
    const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } })
    const asked = { model: 'vectors', contents: ['abba', 'c'], config: { outputDimensionality: 3 } }
    const { embeddings } = await google.models.embedContent(asked)
    t.same(
      embeddings?.map(({ values }) => values),
      [
        [2, 2, 0],
        [0, 0, 1],
      ],
      baseUrl,
    )
    const rank = await fetch(`${baseUrl}/v1/rerank`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: 'vectors', query: 'heron waits', documents }),
    })
    t.match(await rank.json(), { results: [{ index: 2 }], meta: { engine: 'embeddings' } })
  }
  const path = '/v1beta/models/vectors'
  const content = { parts: [{ text: 'ab' }, { text: 'a' }] }
  const one = await doors.post(`${path}:embedContent`, { content, taskType: 'RETRIEVAL_QUERY' })
  t.same(one.body.embedding.values.slice(0, 2), [2, 1], 'the parts are one text')
  t.equal(one.headers.get('x-sealgate-dropped'), 'taskType')
  const snake = { content, task_type: 'RETRIEVAL_QUERY', output_dimensionality: 2 }
  const spelled = await doors.post(`${path}:embedContent`, snake)
  t.same(spelled.body.embedding.values, [2, 1], 'either spelling counts')
  t.equal(spelled.headers.get('x-sealgate-dropped'), 'taskType')
  const failed = async (verb: string, body: object, status: number, field: RegExp, model = path) => {
    const answer = await doors.post(`${model}:${verb}`, body)
    t.equal(answer.status, status, JSON.stringify(answer.body))
    t.match(answer.body.error.message, field)
  }
  await failed('embedContent', { content: { parts: [] } }, 400, /content\.parts/)
  await failed('embedContent', { content: { parts: [{ inlineData: {} }] } }, 400, /content\.parts\.0\.text/)
  await failed('embedContent', { content, outputDimensionality: 0 }, 400, /outputDimensionality/)
  await failed('embedContent', { content, model: 'models/other' }, 400, /model/)
  await failed('batchEmbedContents', { requests: [] }, 400, /requests/)
  const unlike = [{ content }, { content, outputDimensionality: 2 }]
  await failed('batchEmbedContents', { requests: unlike }, 400, /requests\.1\.outputDimensionality/)
  await failed('embedContent', { content }, 404, /does not exist/, '/v1beta/models/none')
  await failed('embedContent', { content }, 400, /route/, '/v1beta/models/counted')
})
