import './fakes/unwatched.ts'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { UpstreamFailed } from '../core/errors.ts'
import { plugin, use } from '../core/plugin.ts'
import { Observer } from '../core/ports/observer.ts'
import { countedSoFar } from '../core/ports/chat.ts'
import { type ChatCall, Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import anthropic from '../plugins/providers/anthropic.ts'
import gemini from '../plugins/providers/gemini.ts'
import ollama from '../plugins/providers/ollama.ts'
import openai from '../plugins/providers/openai.ts'
import typesafe from '../plugins/providers/typesafe.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { backend, provided } from './contracts/stage.ts'
import { running } from './environments.ts'
import { actor, chunk, failed, say, stop, usage } from './fakes/backends.ts'
import { type Behind, own, upstreamsAt } from './fakes/doors.ts'
import { given } from './fitted.ts'
import { until } from './until.ts'

type Use = Parameters<NonNullable<Observer['used']>>[0]

/** A gateway of these backends, and the bills of its calls. */
const house = async (t: Parameters<typeof running>[0], more: object, settings: SettingsInput) => {
  const bills: Use[] = []
  const watching = plugin({
    port: Observer,
    name: 'bills',
    create: () => ({ used: (use: Use) => void bills.push(use) }),
  })
  const adapters = memory()
  const gateway = await running(
    t,
    { ...adapters, fetch: use(doors), parts: [...adapters.parts, use(watching)], ...more },
    settings,
  )
  const next = async (): Promise<Use> => {
    t.ok(await until(() => bills.length > 0))
    return bills.shift()!
  }
  return { ...gateway, next }
}

const messages = [{ role: 'user', content: 'Hi' }]
const counts = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 }

/** Two models of one vendor: the first one is away. */
const chain = (type: 'CHAT' | 'EMBEDDING', provider: string, ...models: readonly string[]) => ({
  type,
  upstreams: models.map((model, at) => ({ provider, model, priority: at + 1 })),
})

t.test('a call has the price of the model that answered, of several that one vendor lists', async (t) => {
  const failing = (model: string) => {
    if (model === 'gpt-4.1' || model === 'text-embedding-3-large') throw new UpstreamFailed(undefined, { again: true })
  }
  const ours: Upstream = {
    name: 'a',
    vendor: 'openai',
    models: async () => [],
    async chat({ model }: ChatCall) {
      failing(model)
      const chunks = (async function* () {
        yield* [say('ok'), stop, usage(1_000, 1_000)]
      })()
      return { kind: 'chunks', chunks }
    },
    async embed({ model, texts }) {
      failing(model)
      return { vectors: texts.map(() => new Float32Array([1])), usage: { input: 1_000, output: 0 } }
    },
    async decide({ model }) {
      failing(model)
      const distribution = { probabilities: [0.5, 0.5], reads: 1 }
      return { distributions: [distribution], usage: { input: 1_000, output: 0 }, engine: 'own' }
    },
  }
  const server = await backend(t, ({ body }) => {
    const { model, stream } = JSON.parse(body.toString()) as { model: string; stream?: boolean }
    if (model === 'gpt-4.1') return { status: 500, body: '{}' }
    const events = [say('ok'), stop, { ...chunk({}), choices: [], usage: counts }]
    const message = { role: 'assistant', content: 'ok' }
    const whole = { ...chunk({}), choices: [{ index: 0, message, finish_reason: 'stop' }], usage: counts }
    return stream === true
      ? {
          headers: { 'content-type': 'text/event-stream' },
          body: [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
        }
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(whole) }
  })
  const wired = await provided(t, openai, { apiKey: 'k', baseUrl: server.url })
  const upstreams = [
    given(Upstream, 'a', () => ours),
    given(Upstream, 'b', () => ({ ...wired, name: 'b', vendor: 'openai' })),
  ]
  const models = {
    behind: chain('CHAT', 'a', 'gpt-4.1', 'gpt-4.1-mini'),
    'behind straight': chain('CHAT', 'b', 'gpt-4.1', 'gpt-4.1-mini'),
    straight: chain('CHAT', 'b', 'gpt-4.1-mini', 'gpt-4.1'),
    vectors: chain('EMBEDDING', 'a', 'text-embedding-3-large', 'text-embedding-3-small'),
  }
  const gateway = await house(t, { upstreams }, { models, routing: { retries: 0 } })
  for (const model of ['behind', 'behind straight', 'straight'])
    for (const stream of [false, true]) {
      const answer = await gateway.call('POST', '/v1/chat/completions', { model, messages, stream })
      t.match(await answer.text(), 'ok')
      t.match(
        await gateway.next(),
        { model, cost: 1_000 * 0.4 + 1_000 * 1.6 },
        `${model}, ${stream ? 'streamed' : 'whole'}`,
      )
    }
  const vectors = await gateway.call('POST', '/v1/embeddings', { model: 'vectors', input: 'Hi' })
  t.equal(vectors.status, 200)
  t.match(await gateway.next(), { model: 'vectors', cost: 1_000 * 0.02 })
  const questions = { q: { type: 'noul', instructions: 'Is it so?' } }
  const decided = await gateway.call('POST', '/compat/v1/decision', { model: 'behind', state: 'Hi', questions })
  t.equal(decided.status, 200, await decided.text())
  t.match(await gateway.next(), { model: 'behind', cost: 1_000 * 0.4 })
})

const events = (...all: readonly object[]): string => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

/** The head of an answer of Messages, and its first words; the backend says nothing after them. */
const head = (usage: object) => ({
  type: 'message_start',
  message: { id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, usage },
})
const words = (text: string) => [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
]
const cachedHead = head({
  ...{ input_tokens: 10, cache_read_input_tokens: 5_000, cache_creation_input_tokens: 400, output_tokens: 1 },
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 300 },
})
const reason = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 77 } }

const pieces = (usageMetadata: object, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text: 'Hello there' }] }, ...(finishReason && { finishReason }) }],
  ...{ usageMetadata, modelVersion: 'g', responseId: 'r' },
})
const thinking = {
  promptTokenCount: 900,
  cachedContentTokenCount: 600,
  candidatesTokenCount: 3,
  thoughtsTokenCount: 5_000,
}

const price_config = {
  standard: {
    x: {
      ...{ prompt_price_per_k: 0.001, completion_price_per_k: 0.002, cached_price_per_k: 0.0001 },
      ...{ cache_write_price_per_k: 0.003, cache_write_1h_price_per_k: 0.005 },
    },
  },
}

t.test('a stream that is cut costs what its backend has counted so far', async (t) => {
  const known = { output: 3, input: 5_410, cached: 5_000 }
  const cases = {
    claude: [events(cachedHead, ...words('Hello there')), known, 10 + 500 + 100 * 3 + 300 * 5 + 3 * 2],
    ended: [events(cachedHead, ...words('Hello there'), reason), { ...known, output: 77 }, 10 + 500 + 1_800 + 154],
    'counts at the end': [
      events(head({ input_tokens: 0 }), ...words('Hello there')),
      { input: 6, cached: 0, output: 3 },
      12,
    ],
    gemini: [events(pieces(thinking)), { input: 900, cached: 600, output: 5_003 }, 300 + 60 + 5_003 * 2],
  } as const
  const server = await backend(t, ({ path, body }) => {
    const model = path.includes('gemini') ? 'gemini' : (JSON.parse(body.toString()).model as keyof typeof cases)
    return { headers: { 'content-type': 'text/event-stream' }, body: cases[model][0], pace: { stall: 1e6 } }
  })
  const upstreams = [
    use(anthropic, { apiKey: 'k', baseUrl: server.url }),
    use(gemini, { apiKey: 'k', baseUrl: `${server.url}/v1beta` }),
  ]
  const models = Object.fromEntries(
    Object.keys(cases).map((model) => {
      const provider = model === 'gemini' ? 'gemini' : 'anthropic'
      return [model, { price_config, upstreams: [{ provider, model }] }]
    }),
  )
  for (const straight of [true, false]) {
    const gateway = await house(t, { upstreams }, { models, routing: { straight } })
    for (const [model, [, used, cost]] of Object.entries(cases))
      for (const path of ['/v1/messages', '/v1/chat/completions']) {
        const leaving = new AbortController()
        const answer = await fetch(gateway.base + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, max_tokens: 9, stream: true, messages }),
          signal: leaving.signal,
        })
        let text = ''
        for await (const part of answer.body!) {
          text += Buffer.from(part).toString()
          if (text.includes('Hello')) break
        }
        leaving.abort()
        t.match(await gateway.next(), { model, ...used, cost }, `${model} by ${path}`)
        t.notMatch(text, 'estimated', 'no caller gets these counts')
      }
  }
})

t.test('a rescued stream costs what each of its backends has counted', async (t) => {
  const details = { prompt_tokens_details: { cached_tokens: 4_000 }, estimated: true }
  const soFar = { prompt_tokens: 5_000, completion_tokens: 1, total_tokens: 5_001, ...details }
  const [text, rest] = [
    'Hello there, this is it.',
    say(' All.', { [countedSoFar]: { ...soFar, prompt_tokens: 7_000 } }),
  ]
  const upstreams = [
    given(Upstream, 'a', () => actor('a', [say(text, { [countedSoFar]: soFar }), failed(null)])),
    given(Upstream, 'b', () => actor('b', [rest, stop, usage(20, 10)], [rest, failed(null)])),
  ]
  const models = {
    small: { price_config, continues: true, upstreams: [{ provider: 'a' }, { provider: 'b', priority: 2 }] },
  }
  const gateway = await house(t, { upstreams }, { models, routing: { retries: 1 } })
  const call = { model: 'small', messages, stream: true, stream_options: { include_usage: true } }
  const ask = async () => (await gateway.call('POST', '/v1/chat/completions', call)).text()
  const whole = await ask()
  t.match(whole, '"prompt_tokens":5020')
  t.match(whole, '"completion_tokens":16')
  t.match(await gateway.next(), { input: 5_020, cached: 4_000, output: 16, cost: 1_020 + 400 + 32 })
  await ask()
  t.match(await gateway.next(), { input: 12_000, cached: 8_000, output: 8 }, 'the second one broke too')
})

t.test('each part of a rescued stream has the price of its own backend', async (t) => {
  const text = 'Hello there, this is it.'
  const counted = (input: number, output: number) => ({
    [countedSoFar]: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  })
  const last = [[say(' All.'), stop, usage(20, 10)], [say(' All.'), stop], failed(null)]
  const part = [say(text, counted(150_000, 6)), failed(null)]
  const upstreams = [
    given(Upstream, 'a', () => ({ ...actor('a', part, part, part, failed(null)), vendor: 'openai' })),
    given(Upstream, 'b', () => ({ ...actor('b', ...last), vendor: 'gemini' })),
  ]
  const chain = [
    { provider: 'a', model: 'gpt-4.1' },
    { provider: 'b', model: 'gemini-2.5-pro', priority: 2 },
  ]
  const models = { small: { continues: true, upstreams: chain } }
  const gateway = await house(t, { upstreams }, { models, routing: { retries: 0 } })
  const call = { model: 'small', messages, stream: true }
  const ask = async () => {
    await (await gateway.call('POST', '/v1/chat/completions', call)).text()
    return gateway.next()
  }
  const before = 150_000 * 2 + 6 * 8
  t.match(await ask(), { backend: 'b', input: 150_020, output: 16, cost: before + 20 * 1.25 + 10 * 10 })
  const [prompt, answer] = [6 + 6, 2]
  t.match(await ask(), { input: 150_000 + prompt, output: 8, cost: before + prompt * 1.25 + answer * 10 }, 'uncounted')
  t.match(await ask(), { backend: 'a', input: 150_000, output: 6, cost: before }, 'nobody goes on')
})

t.test('prompts of a decision that another backend answers have the price of their own backend', async (t) => {
  let prompts = 0
  const talking = (name: string, vendor: string, fails: (prompt: number) => boolean): Upstream => ({
    name,
    vendor,
    models: async () => [],
    async chat() {
      if (fails(++prompts)) throw failed(500)
      const top_logprobs = ['yes', 'no'].map((token) => ({ token, logprob: Math.log(0.4) }))
      const logprobs = { content: [{ ...top_logprobs[0]!, top_logprobs }] }
      const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'length', logprobs }]
      const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 }
      return { kind: 'completion', completion: { ...chunk({}), choices, usage } }
    },
  })
  const chain = [
    { provider: 'a', model: 'gpt-4.1' },
    { provider: 'b', model: 'gemini-2.5-pro', priority: 2 },
  ]
  const questions = Object.fromEntries(['p', 'q'].map((id) => [id, { type: 'noul', instructions: `Is it ${id}?` }]))
  const part = { input: 100, output: 1 }
  for (const [answers, status, used] of [
    [4, 200, { backend: 'b', input: 3 * 100, output: 3, cost: 100 * 2 + 8 + 200 * 1.25 + 2 * 10 }],
    [3, 503, { backend: 'b', input: 2 * 100, output: 2, cost: 100 * 2 + 8 + 100 * 1.25 + 10 }],
    [0, 503, { backend: 'a', ...part, cost: 100 * 2 + 8 }],
  ] as const) {
    prompts = 0
    const upstreams = [
      given(Upstream, 'a', () => talking('a', 'openai', (prompt) => prompt > 1)),
      given(Upstream, 'b', () => talking('b', 'gemini', (prompt) => prompt > answers)),
    ]
    const models = { small: { decide: true, upstreams: chain } }
    const gateway = await house(t, { upstreams }, { models, routing: { retries: 0 } })
    const answer = await gateway.call('POST', '/compat/v1/decision', { model: 'small', state: 'Hi', questions })
    const text = await answer.text()
    t.equal(answer.status, status, text)
    if (status === 200) t.match(text, '"usage":{"input_tokens":300,"output_tokens":3}', 'the caller is told all of it')
    t.match(await gateway.next(), used, `${answers} prompts`)
  }
  prompts = 0
  const upstreams = [given(Upstream, 'a', () => talking('a', 'openai', (prompt) => prompt === 2))]
  const models = { small: { decide: true, upstreams: [chain[0]!] } }
  const gateway = await house(t, { upstreams }, { models, routing: { retries: 1 } })
  await (await gateway.call('POST', '/compat/v1/decision', { model: 'small', state: 'Hi', questions })).text()
  t.match(await gateway.next(), { input: 3 * 100, output: 3, cost: 3 * (200 + 8) }, 'and where it is tried again')
})

t.test('a backend that decides by itself and gives no use is paid for what it tells', async (t) => {
  const usage = { input_tokens: 100, output_tokens: 1 }
  const good = { type: 'noul', noul: 0.5 }
  let answers: readonly (object | null)[] = []
  let at = 0
  const server = await backend(t, () => {
    const answer = answers[at++] ?? null
    const told = answer === null ? { detail: 'away' } : { answers: { q1: answer, q2: good }, usage }
    return { status: answer === null ? 500 : 200, body: JSON.stringify(told) }
  })
  const settings = { baseUrl: server.url, decisions: true }
  const own = { typesafe: await provided(t, typesafe, { apiKey: 'k', baseUrl: server.url }), ollama: await provided(t, ollama, settings) } // prettier-ignore
  const careless = { ...own.typesafe, decide: async () => ({ distributions: [], usage: { input: 100, output: 1 }, engine: 'own' }) } // prettier-ignore
  const questions = Object.fromEntries(['p', 'q'].map((id) => [id, { type: 'noul', instructions: `Is it ${id}?` }]))
  for (const [name, upstream, played, input] of [
    ['an answer of another form', own.typesafe, [{ type: 'noul' }], 100],
    ['answers that are missing', careless, [], 100],
    ['a question of two that failed', own.ollama, [good, null], 100],
    ['a question of two that has another form', own.ollama, [good, {}], 200],
  ] as const) {
    ;[at, answers] = [0, played]
    const upstreams = [given(Upstream, 'a', () => ({ ...upstream, name: 'a' }))]
    const models = { small: { decide: true, upstreams: [{ provider: 'a', model: 'm' }] } }
    const gateway = await house(t, { upstreams }, { models, routing: { retries: 0 } })
    const answer = await gateway.call('POST', '/compat/v1/decision', { model: 'small', state: 'Hi', questions })
    t.match(await answer.text(), 'error', name)
    t.match(await gateway.next(), { backend: 'a', input, output: input / 100 }, name)
  }
})

t.test('images cost what was drawn where nobody counts, and not what was wanted', async (t) => {
  const drawer: Upstream = {
    name: 'a',
    models: async () => [],
    draw: async () => [{ mime: 'image/png', bytes: new Uint8Array(3) }],
  }
  const prices = { standard: { x: { image_price: 0.04 } } }
  const models = { pictures: { type: 'IMAGE' as const, price_config: prices, upstreams: [{ provider: 'a' }] } }
  const gateway = await house(t, { upstreams: [given(Upstream, 'a', () => drawer)] }, { models })
  for (const stream of [false, true]) {
    const call = { model: 'pictures', prompt: 'A house', n: 3, stream }
    const answer = await gateway.call('POST', '/v1/images/generations', call)
    t.equal(answer.status, 200)
    await answer.text()
    t.match(await gateway.next(), { model: 'pictures', cost: 40_000 })
  }
})

t.test('a sound costs its guessed length where the backend tells none, or none that can be', async (t) => {
  let duration: unknown
  const server = await backend(t, () => ({
    headers: { 'content-type': 'application/json' },
    body: `{"text":"Hi","duration":${JSON.stringify(duration)}}`,
  }))
  const prices = { standard: { x: { audio_price_per_min: 0.6 } } }
  const models = {
    ears: { type: 'AUDIO_TRANSCRIPTION' as const, price_config: prices, upstreams: [{ provider: 'openai' }] },
  }
  const gateway = await house(t, { upstreams: [use(openai, { apiKey: 'k', baseUrl: server.url })] }, { models })
  for (const [told, seconds] of [
    ['4.5', 4.5],
    [-60, 2],
    ['1e999', 2],
    ['', 2],
    [null, 2],
  ] as const) {
    duration = told
    const body = new FormData()
    body.set('model', 'ears')
    body.set('file', new Blob([new Uint8Array(32_000)]), 'a.mp3')
    const headers = { authorization: `Bearer ${gateway.key}` }
    const answer = await fetch(`${gateway.base}/v1/audio/transcriptions`, { method: 'POST', headers, body })
    t.equal(answer.status, 200, await answer.text())
    t.match(await gateway.next(), { cost: seconds * 10_000 }, String(told))
  }
})

t.test('a streamed sound costs its guessed length where the backend tells one without an end', async (t) => {
  let seconds = ''
  const done = () => `{"type":"transcript.text.done","text":"Hi","usage":{"type":"duration","seconds":${seconds}}}`
  const server = await backend(t, () => ({
    headers: { 'content-type': 'text/event-stream' },
    body: `data: ${done()}\n\ndata: [DONE]\n\n`,
  }))
  const prices = { standard: { x: { audio_price_per_min: 0.6 } } }
  const models = {
    ears: { type: 'AUDIO_TRANSCRIPTION' as const, price_config: prices, upstreams: [{ provider: 'openai' }] },
  }
  const gateway = await house(t, { upstreams: [use(openai, { apiKey: 'k', baseUrl: server.url })] }, { models })
  const bills = { '4.5': 4.5, '1e999': 2, '-1': 2, 'null': 2 } // prettier-ignore
  for (const [told, cost] of Object.entries(bills)) {
    seconds = told
    const body = new FormData()
    for (const [name, value] of [['model', 'ears'], ['stream', 'true']] as const) body.set(name, value) // prettier-ignore
    body.set('file', new Blob([new Uint8Array(32_000)]), 'a.mp3')
    const headers = { authorization: `Bearer ${gateway.key}` }
    const answer = await fetch(`${gateway.base}/v1/audio/transcriptions`, { method: 'POST', headers, body })
    t.match(await answer.text(), 'transcript.text.done')
    t.match(await gateway.next(), { cost: cost * 10_000 }, told)
  }
})

t.test('an answer whose backend counts nothing is paid for by a guess, in each dialect', async (t) => {
  let usage: unknown
  const text = 'Hi, you there'
  const whole: Readonly<Record<string, () => object>> = {
    messages: () => ({ id: 'm', content: [{ type: 'text', text }], stop_reason: 'end_turn', usage }),
    gemini: () => ({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }], usageMetadata: usage }),
    responses: () => ({ id: 'r', output: [{ type: 'message', content: [{ type: 'output_text', text }] }], usage }),
    converse: () => ({ output: { message: { content: [{ text }] } }, stopReason: 'end_turn', usage }),
  }
  let model = ''
  const headers = { 'content-type': 'application/json' }
  const { url } = await backend(t, () => ({ headers, body: JSON.stringify(whole[model]!()) }))
  const models = Object.fromEntries(
    Object.keys(whole).map((name) => [name, { upstreams: [{ provider: name, model: own[name as Behind] }] }]),
  )
  const { call, next } = await house(t, { upstreams: upstreamsAt(url) }, { models })
  const none = ['input_tokens', 'output_tokens', 'promptTokenCount', 'inputTokens'].map((name) => [name, null])
  for (model of Object.keys(whole))
    for (usage of [undefined, null, {}, 5, Object.fromEntries(none)]) {
      const answer = await call('POST', '/v1/chat/completions', { model, messages })
      t.match([answer.status, await answer.text()], [200, text])
      t.match(await next(), { input: 6, output: 4 }, `${model} ${JSON.stringify(usage)}`)
    }
})
