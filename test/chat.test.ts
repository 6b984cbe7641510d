import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connect as connectTo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, streamText, tool, type ToolSet } from 'ai'
import OpenAI, { toFile } from 'openai'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { use } from '../core/plugin.ts'
import type { SettingsInput } from '../core/settings.ts'
import openai from '../plugins/providers/openai.ts'
import rehearsal from '../plugins/providers/rehearsal.ts'
import { running, type Running } from './environments.ts'
import { backend, vector } from './contracts/stage.ts'
import type { Asked, Recorded, Take } from './fakes/recorded.ts'
import { watchedLimiter } from './fakes/watched-limiter.ts'
import { startProvider } from '../adapters/drill/provider.ts'
import { opensHttp } from './fakes/listening.ts'
import { until } from './until.ts'
import { slowness } from './slowness.ts'

const json = { 'content-type': 'application/json' }
const sse = { 'content-type': 'text/event-stream; charset=utf-8' }
const words = 'Two cafés, a 😀 and "10": 2.'
const hello = [{ role: 'user', content: 'Hi' }]
const secret = 'secret-of-the-backend'

/** A vendor's recorded answer to whatever is asked. */
const answers = async ({ path, body, headers }: Asked): Promise<Take> => {
  const folder = headers['x-vendor'] ?? 'openai'
  if (path.endsWith('/audio/speech'))
    return { headers: { 'content-type': 'audio/mpeg' }, body: Uint8Array.of(255, 243, 0) }
  const file = {
    '/v1/audio/transcriptions': 'transcription',
    '/v1/embeddings': 'embeddings',
    '/v1/images/generations': 'images',
    '/v1/models': 'models',
  }[path]
  if (file !== undefined) return { headers: json, body: await vector(`openai/${file}.json`) }
  const { stream, tools } = JSON.parse(body.toString()) as { stream?: boolean; tools?: unknown }
  const name = `${folder}/${tools === undefined ? 'chat' : 'tools'}`
  return stream
    ? { headers: sse, body: await vector(`${name}.sse`) }
    : { headers: json, body: await vector(`${name}.json`) }
}

const models: NonNullable<SettingsInput['models']> = {
  talk: {
    upstreams: [
      { provider: 'one', model: 'gpt-4o-2024-08-06' },
      { provider: 'two', model: 'other', priority: 2 },
    ],
    regions: ['eu'],
    price_config: { standard: { eu: { prompt_price_per_k: 0.5, completion_price_per_k: 2 } } },
  },
  thinking: { upstreams: [{ provider: 'thinker', model: 'Qwen/Qwen3-8B' }] },
  'text-embedding': { type: 'EMBEDDING', upstreams: [{ provider: 'one' }] },
  drawing: { type: 'IMAGE', upstreams: [{ provider: 'one' }] },
  speaking: { type: 'AUDIO_SPEECH', upstreams: [{ provider: 'one' }] },
  'whisper-1': { type: 'AUDIO_TRANSCRIPTION', upstreams: [{ provider: 'one' }] },
  sealed: { standard: false, confidential: true, upstreams: [{ provider: 'one' }] },
  rehearsal: { upstreams: [{ provider: 'rehearsal' }] },
}

interface Staged extends Running {
  readonly one: Recorded
  readonly two: Recorded
  /** The last body that the first backend was asked with. */
  asked(): Record<string, any>
  chat(body: object | string, headers?: Record<string, string>): Promise<Response>
}

/** A listening gateway before two recorded backends. */
const staged = async (t: Test, play: (request: Asked) => Take | Promise<Take> = answers): Promise<Staged> => {
  const one = await backend(t, play)
  const two = await backend(t, answers)
  const upstreams = [
    use(openai, { baseUrl: `${one.url}/v1`, apiKey: 'sk-of-the-operator' }, 'one'),
    use(openai, { baseUrl: `${two.url}/v1` }, 'two'),
    use(openai, { baseUrl: `${two.url}/v1`, headers: { 'x-vendor': 'vllm' } }, 'thinker'),
    use(rehearsal),
  ]
  const gateway = await running(
    t,
    { ...memory(), fetch: use(doors), upstreams },
    { models, routing: { retries: 0, breaker: { faults: 1000, ratio: 1 } } },
  )
  return {
    ...gateway,
    one,
    two,
    asked: () => JSON.parse(one.asked.at(-1)!.body.toString()),
    chat: (body, headers) => gateway.call('POST', '/std/chat/completions', body, headers),
  }
}

const nulls = { role: null, content: null, reasoning_content: null, tool_calls: null }

/** The chunk as the interface has it: all keys of its deltas, but for that of an end. */
const withDeltas = (chunk: any): any => ({
  ...chunk,
  choices: chunk.choices.map((choice: any) =>
    choice.finish_reason === null ? { ...choice, delta: { ...nulls, ...choice.delta } } : choice,
  ),
})

const events = (text: string): any[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)))

t.test('the usual clients, as they come', async (t) => {
  const stage = await staged(t)
  const baseURL = `${stage.base}/std`

  t.test('openai', async (t) => {
    const client = new OpenAI({ baseURL, apiKey: stage.key, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const whole = await client.chat.completions.create({ model: 'talk', messages })
    t.equal(whole.choices[0]!.message.content, words)
    t.equal(whole.model, 'talk', 'under the name that was asked for')
    t.match(whole._request_id, /^[0-9a-f-]{36}$/)
    t.same(stage.asked(), { model: 'gpt-4o-2024-08-06', messages: hello })
    t.equal(stage.one.asked.at(-1)!.headers.authorization, 'Bearer sk-of-the-operator', 'never the caller’s key')

    let text = ''
    const stream = await client.chat.completions.create({ model: 'talk', messages, stream: true })
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
    t.equal(text, words)

    const helped = client.chat.completions.stream({ model: 'talk', messages, stream_options: { include_usage: true } })
    const pieces: string[] = []
    helped.on('content', (piece) => void pieces.push(piece))
    t.equal((await helped.finalChatCompletion()).choices[0]!.message.content, words)
    t.equal(pieces.join(''), words)
    t.equal((await helped.totalUsage()).total_tokens, 30)

    const rehearsed = await client.chat.completions.create({ model: 'rehearsal', messages })
    t.match(rehearsed.choices[0]!.message.content, /rehearsal.*Hi$/)

    const embedded = await client.embeddings.create({ model: 'text-embedding', input: ['a', 'b'] })
    t.same(
      embedded.data.map(({ embedding }) => embedding),
      [
        [0.25, -0.5, 0.125],
        [1, 2, -3],
      ],
    )
    const drawn = await client.images.generate({ model: 'drawing', prompt: 'a dot', quality: 'high' })
    t.match(drawn.data![0]!.b64_json, /^iVBOR/)
    t.match(stage.asked(), { prompt: 'a dot', quality: 'high' })
    const spoken = await client.audio.speech.create({ model: 'speaking', voice: 'alloy', input: 'Hello' })
    t.equal(spoken.headers.get('content-type'), 'audio/mpeg')
    t.same(new Uint8Array(await spoken.arrayBuffer()), Uint8Array.of(255, 243, 0))
    const file = () => toFile(Uint8Array.of(82, 73, 70, 70), 'a.wav', { type: 'audio/wav' })
    const heard = await client.audio.transcriptions.create({ model: 'whisper-1', file: await file() })
    t.equal(heard.text, 'Hello there.')
    const more = { response_format: 'verbose_json' as const, timestamp_granularities: ['word' as const] }
    t.equal(
      (await client.audio.transcriptions.create({ model: 'whisper-1', file: await file(), ...more })).duration,
      2.5,
    )

    const listed = await client.models.list()
    t.same(
      listed.data.map((entry) => (entry as unknown as { model: string }).model),
      ['talk', 'thinking', 'drawing', 'speaking', 'whisper-1', 'rehearsal'],
    )
    await t.rejects(client.chat.completions.create({ model: 'nothing', messages }), { message: /^404 "?The model/ })
  })

  t.test('ai and @ai-sdk/openai-compatible', async (t) => {
    const provider = createOpenAICompatible({ name: 'sealgate', baseURL, apiKey: stage.key, includeUsage: true })
    const model = provider.chatModel('talk')
    const whole = await generateText({ model, prompt: 'Hi', maxRetries: 0 })
    t.match(whole, { text: words, finishReason: 'stop', usage: { inputTokens: 19, outputTokens: 11 } })
    const stream = streamText({ model, prompt: 'Hi', maxRetries: 0 })
    let text = ''
    for await (const piece of stream.textStream) text += piece
    t.equal(text, words)
    t.match(await stream.usage, { inputTokens: 19, outputTokens: 11 })
    const inputSchema = jsonSchema<any>({ type: 'object', properties: { city: { type: 'string' } } })
    // Its own types do not fit together under exactOptionalPropertyTypes.
    const tools = { weather: tool({ description: 'Tells the weather', inputSchema }) } as unknown as ToolSet
    const calling = await generateText({ model, prompt: 'Weather?', tools, maxRetries: 0 })
    t.match(calling.toolCalls, [{ toolName: 'weather', input: { city: 'Lima' } }, { toolCallId: 'call_9gZy2' }])
    const streamed = streamText({ model, prompt: 'Weather?', tools, maxRetries: 0 })
    t.match(await streamed.toolCalls, [{ toolName: 'weather', input: { city: 'Lima' } }, { toolCallId: 'call_9gZy2' }])
    t.match(await generateText({ model: provider.chatModel('thinking'), prompt: 'Hi', maxRetries: 0 }), {
      text: words,
      reasoningText: 'We count them.',
    })
  })

  t.test('@langchain/openai', async (t) => {
    const model = new ChatOpenAI({ model: 'talk', apiKey: stage.key, configuration: { baseURL }, maxRetries: 0 })
    const whole = await model.invoke('Hi')
    t.equal(whole.content, words)
    t.match(whole.usage_metadata, { input_tokens: 19, output_tokens: 11 })
    let text = ''
    for await (const piece of await model.stream('Hi')) text += piece.content
    t.equal(text, words)
  })
})

t.test('nothing is lost on the way, either way', async (t) => {
  const stage = await staged(t)
  const body = {
    messages: [
      { role: 'developer', content: 'Be brief.', name: 'maker' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'of_tomorrow', more: { deep: [1, null, 'é'] } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: '2' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } }],
    tool_choice: 'auto',
    response_format: { type: 'json_schema', json_schema: { name: 's', strict: true, schema: { type: 'object' } } },
    logprobs: true,
    top_logprobs: 2,
    reasoning_effort: 'low',
    stop: null,
    user: 'u',
    field_of_tomorrow: { deep: [{ er: 1.5e3 }] },
  }

  t.test('whole', async (t) => {
    const answer = await stage.chat({ ...body, model: 'talk', provider: 'one' })
    t.equal(answer.status, 200)
    t.same(stage.asked(), { ...body, model: 'gpt-4o-2024-08-06' }, 'all but what routes it')
    const told = JSON.parse((await vector('openai/tools.json')).toString())
    t.same(await answer.json(), { ...told, model: 'talk' }, 'all but its name')
  })

  for (const [name, vendor, path] of [
    ['talk', 'openai', 'one'],
    ['thinking', 'vllm', 'two'],
  ] as const) {
    t.test(`logprobs, thoughts and fields of ${vendor}`, async (t) => {
      const answer = await stage.chat({ model: name, messages: hello })
      t.same(await answer.json(), { ...JSON.parse((await vector(`${vendor}/chat.json`)).toString()), model: name })
      const asked = { model: name, messages: hello, stream: true }
      const streamed = await stage.chat({ ...asked, stream_options: { include_usage: true, of_tomorrow: 1 } })
      t.equal(streamed.headers.get('content-type'), 'text/event-stream')
      t.same(JSON.parse(stage[path].asked.at(-1)!.body.toString()).stream_options, {
        include_usage: true,
        of_tomorrow: 1,
      })
      const told = events((await vector(`${vendor}/chat.sse`)).toString())
      const text = await streamed.text()
      t.same(
        events(text),
        told.map((chunk) => ({ ...withDeltas(chunk), model: name })),
      )
      t.ok(text.endsWith('data: [DONE]\n\n'))
      const unasked = await (await stage.chat(asked)).text()
      const { usage: _, ...plain } = told[0]
      t.same(events(unasked).length, told.length - 1, 'the chunk with the usage stays away')
      t.same(events(unasked)[0], { ...withDeltas(plain), model: name })
      const open = await stage.call('POST', '/v1/chat/completions', {
        ...asked,
        stream_options: { include_usage: true },
      })
      const same = told.map((chunk) => ({ ...chunk, model: name }))
      t.same(events(await open.text()), same, 'the public route adds nothing')
      t.notMatch(unasked, /"usage"/)
      t.ok(unasked.endsWith('data: [DONE]\n\n'))
    })
  }

  t.test('who serves', async (t) => {
    const before = stage.two.asked.length
    t.equal((await stage.chat({ model: 'talk', messages: hello, provider: 'two' })).status, 200)
    t.equal(stage.two.asked.length, before + 1, 'the pinned one')
    t.equal(JSON.parse(stage.two.asked.at(-1)!.body.toString()).provider, undefined)
    const wrong = await stage.chat({ model: 'talk', messages: hello, provider: 'rehearsal' })
    t.equal(wrong.status, 400)
    t.match(await wrong.json(), { validator: { provider: 'expected one of one, two' } })
    const sealed = await stage.chat({ model: 'sealed', messages: hello })
    t.equal(sealed.status, 400)
    t.match(((await sealed.json()) as any).error, /available for encrypted inference only/)
    const drawing = await stage.chat({ model: 'drawing', messages: hello })
    t.equal(drawing.status, 400)
    t.match(await drawing.json(), { validator: { model: 'expected a chat model' } })
  })

  t.test('a key’s models and totals', async (t) => {
    const { credential, row } = await stage.gateway.keys.create({ models: ['talk', 'sealed'] })
    const own = { authorization: `Bearer ${credential}` }
    t.equal((await stage.chat({ model: 'talk', messages: hello }, own)).status, 200)
    t.equal(
      (await (await stage.chat({ model: 'talk', messages: hello, stream: true }, own)).text()).slice(-8),
      '[DONE]\n\n',
    )
    t.equal((await stage.chat({ model: 'thinking', messages: hello }, own)).status, 404, 'does not exist for it')
    const listed = (await (await stage.call('GET', '/std/models', undefined, own)).json()) as any
    t.same(
      listed.data.map(({ model }: any) => model),
      ['talk'],
    )
    t.same(
      ((await (await stage.call('GET', '/std/models?type=IMAGE')).json()) as any).data.map(({ model }: any) => model),
      ['drawing'],
    )
    t.equal((await stage.call('GET', '/std/models?type=VIDEO')).status, 400)
    const without = await stage.gateway.keys.create({ scopes: ['models.read'] })
    t.equal(
      (await stage.chat({ model: 'talk', messages: hello }, { authorization: `Bearer ${without.credential}` })).status,
      403,
    )
    t.equal((await stage.chat({ model: 'talk', messages: hello }, { authorization: 'Bearer none' })).status, 401)
    const used = async () => ((await (await stage.call('GET', `/admin/usage?key=${row.id}`)).json()) as any).data.usage
    t.ok(await until(async () => (await used())[0]?.requests === 2, 10_000, 200))
    t.match(await used(), [
      { key: row.id, model: 'talk', requests: 2, input: 38, output: 22, estimated: 0, unpriced: 0, cost: 0.063 },
    ])
    t.equal((await used()).length, 1)
  })
})

t.test('bad input is a clear refusal', async (t) => {
  const stage = await staged(t)
  const canary = 'Zx9canary'
  const ask = (more: object) => ({ model: 'talk', messages: hello, ...more })
  const cases: Record<string, readonly [body: object | string, status: number, field?: string]> = {
    'a role that is none': [ask({ messages: [{ role: canary, content: 'x' }] }), 400, 'messages.0.role'],
    'no messages': [ask({ messages: [] }), 400, 'messages'],
    'messages that are none': [ask({ messages: canary }), 400, 'messages'],
    'a message that is none': [ask({ messages: [canary] }), 400, 'messages.0'],
    'a part without a type': [
      ask({ messages: [{ role: 'user', content: [{ text: canary }] }] }),
      400,
      'messages.0.content',
    ],
    'no model': [{ messages: hello }, 400, 'model'],
    'stream as text': [ask({ stream: canary }), 400, 'stream'],
    'a provider out of pattern': [ask({ provider: `${canary}!` }), 400, 'provider'],
    'a provider too long': [ask({ provider: 'a'.repeat(65) }), 400, 'provider'],
    'a provider as a list': [ask({ provider: [canary] }), 400, 'provider'],
    'a provider as an empty list': [ask({ provider: [] }), 400, 'provider'],
    'a provider that is nobody': [ask({ provider: canary.toLowerCase() }), 400, 'provider'],
    'half of a body': [`{"model":"talk","messages":[{"role":"user","content":"${canary}`, 400],
    'a list': [`["${canary}"]`, 400],
    'a model that nobody serves': [ask({ model: canary }), 404],
    '50 MB': [ask({ messages: [{ role: 'user', content: canary + 'x'.repeat(50 * 1024 * 1024) }] }), 400],
  }
  for (const [name, [body, status, field]] of Object.entries(cases)) {
    const answer = await stage.chat(body)
    const text = await answer.text()
    t.equal(answer.status, status, `${name}: ${text.slice(0, 300)}`)
    const told = JSON.parse(text)
    t.match(told, { status, data: null, error: String, support_id: String }, name)
    if (field !== undefined) t.ok(told.validator?.[field], `${name} names ${field}: ${text.slice(0, 300)}`)
    t.notMatch(text + JSON.stringify([...answer.headers]), new RegExp(canary, 'i'), name)
  }
  t.equal(stage.one.asked.length + stage.two.asked.length, 0, 'no backend heard of any')

  const media: readonly (readonly [path: string, body: object, field: string])[] = [
    ['embeddings', { model: 'text-embedding', input: [] }, 'input'],
    ['embeddings', { model: 'text-embedding', input: 'x', dimensions: 0 }, 'dimensions'],
    ['embeddings', { model: 'talk', input: 'x' }, 'model'],
    ['images/generations', { model: 'drawing', prompt: '' }, 'prompt'],
    ['images/generations', { model: 'drawing', prompt: 'x', n: 11 }, 'n'],
    ['audio/speech', { model: 'speaking', input: 'x', speed: 9 }, 'speed'],
    ['audio/speech', { model: 'speaking', input: 'x', provider: 'A' }, 'provider'],
    ['audio/speech', { model: 'speaking', input: 'x', provider: ['one'] }, 'provider'],
    ['embeddings', { model: 'text-embedding', input: 'x', provider: [] }, 'provider'],
  ]
  for (const [path, body, field] of media) {
    const answer = await stage.call('POST', `/std/${path}`, body)
    t.equal(answer.status, 400, path)
    t.ok(((await answer.json()) as any).validator?.[field], `${path} names ${field}`)
  }
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('response_format', canary)
  const headers = { authorization: `Bearer ${stage.key}` }
  const answer = await fetch(`${stage.base}/std/audio/transcriptions`, { method: 'POST', headers, body: form })
  const told = (await answer.json()) as any
  t.equal(answer.status, 400)
  t.match(told.validator, { file: 'Expected an audio file', response_format: /"srt"/ })
  t.notMatch(JSON.stringify(told), canary)
})

t.test('a backend’s secrets stay its own', async (t) => {
  let take: Take = { body: '' }
  const stage = await staged(t, () => take)
  const error = await vector('openai/error-401.json')
  const half = (await vector('openai/chat.sse')).subarray(0, 1500)
  const broken = Buffer.concat([
    half,
    Buffer.from(`\n\ndata: {"error":{"message":"${secret}","code":"${secret}"}}\n\n`),
  ])
  const takes: Record<string, readonly [Take, status: number, streams?: true]> = {
    'a page': [{ headers: { 'content-type': 'text/html' }, body: `<!doctype html><p>${secret}` }, 503],
    'a page that says it is a stream': [{ headers: sse, body: `<!doctype html><p>${secret}` }, 503],
    'JSON that is no answer': [{ headers: json, body: `{"${secret}":1}` }, 503],
    'a text': [{ headers: json, body: `"${secret}"` }, 503],
    '401': [{ status: 401, headers: json, body: error }, 502],
    '403': [{ status: 403, headers: { ...json, 'x-secret': secret }, body: error }, 502],
    '400': [{ status: 400, headers: json, body: error }, 400],
    '404': [{ status: 404, headers: json, body: error }, 502],
    '500': [{ status: 500, headers: json, body: error }, 503],
    '301': [{ status: 301, headers: { location: `http://${secret}/` }, body: '' }, 502],
    'a stream that turns into an error': [{ headers: sse, body: broken }, 200, true],
    'a stream that is cut': [{ headers: sse, body: half, pace: { cut: 1500 } }, 200, true],
  }
  const places = [
    secret,
    'sk-of-the-operator',
    stage.one.url.slice(7),
    stage.two.url.slice(7),
    String(new URL(stage.one.url).port),
  ]
  for (const [name, [told, status, streams]] of Object.entries(takes)) {
    for (const stream of streams ? [true] : [false, true]) {
      take = told
      const answer = await stage.chat({ model: 'talk', messages: hello, stream, provider: 'one' })
      const text = await answer.text()
      t.equal(answer.status, status, `${name}, ${stream ? 'as a stream' : 'whole'}: ${text.slice(0, 300)}`)
      const seen = text + JSON.stringify([...answer.headers])
      for (const place of places) t.notMatch(seen, place, name)
      if (status === 200) {
        t.notMatch(text, /\[DONE\]/, `${name} does not end well`)
        t.match(events(text).at(-1), {
          error: { message: String, type: 'upstream_error', code: '503', support_id: String },
        })
      } else t.match(JSON.parse(text), { status, error: String, data: null })
    }
  }
  const facts = JSON.stringify(stage.logged.map(({ event, facts }) => [event, facts]))
  for (const place of places) t.notMatch(facts, place, 'in the log')
  t.ok(stage.logged.some(({ event }) => event === 'fault'))
})

/** A backend that speaks when it is told to. */
const spoken = async (t: Test) => {
  const open: ServerResponse[] = []
  const server = createServer((request: IncomingMessage, answer) => {
    request.resume().on('end', () => {
      answer.writeHead(200, sse)
      answer.flushHeaders()
      open.push(answer)
    })
  })
  return { url: `${await opensHttp(t, server)}/v1`, open }
}

t.test('each event is handed on at once, in one write', async (t) => {
  const { url, open } = await spoken(t)
  const adapters = { ...memory(), fetch: use(doors), upstreams: [use(openai, { baseUrl: url }, 'one')] }
  const gateway = await running(t, adapters, { models: { talk: { upstreams: [{ provider: 'one' }] } } })
  const sockets: Socket[] = []
  const writes: string[] = []
  gateway.server.prependListener('connection', (socket) => void sockets.push(socket))
  gateway.server.prependListener('request', (_, response: ServerResponse) => {
    const write = response.write.bind(response) as (...args: unknown[]) => boolean
    response.write = (...args: unknown[]) => {
      writes.push(String(args[0]))
      return write(...args)
    }
  })

  let seen = ''
  const url2 = new URL(`${gateway.base}/std/chat/completions`)
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  const asking = request(url2, { method: 'POST', headers, agent: false })
  asking.on('response', (answer) => answer.setEncoding('utf8').on('data', (part) => (seen += part)))
  asking.end(JSON.stringify({ model: 'talk', messages: hello, stream: true }))
  t.ok(await until(() => open.length === 1))
  const tell = (delta: object, finish: string | null = null) => {
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
    }
    open[0]!.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  const count = 40
  for (let at = 0; at < count; at++) {
    tell({ content: `word${at} ` })
    // The next word is only said when this one was heard, so none can hide behind another.
    if (!(await until(() => seen.includes(`word${at} `)))) return t.fail(`word ${at} is held back`)
  }
  t.equal(writes.length, count, 'one write an event')
  tell({}, 'stop')
  open[0]!.end('data: [DONE]\n\n')
  t.ok(await until(() => seen.endsWith('data: [DONE]\n\n')))
  const measured = await (await gateway.call('GET', '/metrics')).text()
  t.match(measured, 'sealgate_backend_seconds_count{provider="one",outcome="answered"} 1', 'and is measured')
  t.equal(writes.length, count + 2)

  const isUndelayed = (socket: object) => {
    const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'kSetNoDelay')
    return symbol !== undefined && (socket as Record<symbol, unknown>)[symbol] === true
  }
  t.ok(sockets.length > 0 && sockets.every(isUndelayed), 'small writes are not held back by the socket')
  const delaying = createServer({ noDelay: false }, (_, response) => response.end())
  const address = await opensHttp(t, delaying)
  const [[slow]] = await Promise.all([once(delaying, 'connection'), fetch(address)])
  t.notOk(isUndelayed(slow), 'and where they are, this is seen')
})

t.test('who leaves is not served on', async (t) => {
  const provider = await startProvider({ pace: 1, late: 0 })
  t.teardown(() => provider.close())
  const limiter = watchedLimiter()
  const upstreams = [use(openai, { baseUrl: provider.url }, 'one')]
  const names = ['C01', 'C02', 'C05', 'S02']
  const gateway = await running(
    t,
    { ...memory(), fetch: use(doors), rateLimiter: limiter.fitting, upstreams },
    {
      models: Object.fromEntries(names.map((name) => [name, { upstreams: [{ provider: 'one' }] }])),
    },
  )

  for (const [name, stream, bytes] of [
    ['C01', true, 0],
    ['C02', true, 2000],
    ['C05', false, 0],
  ] as const) {
    const conversation = `${name} leaves`
    const seen = provider.seen(conversation)
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    let read = 0
    const asking = request(`${gateway.base}/std/chat/completions`, { method: 'POST', headers, agent: false })
    asking
      .on('error', () => {})
      .on('response', (answer) => answer.on('data', (part) => (read += part.length)).on('error', () => {}))
    asking.end(JSON.stringify({ model: name, stream, messages: [{ role: 'user', content: conversation }] }))
    t.ok(await until(() => seen.open === 1 && read >= bytes), `${name} is under way`)
    t.equal(limiter.held(), 2, 'the places of the key and its organisation')
    t.equal(limiter.open(), 1)
    const left = Date.now()
    asking.destroy()
    t.ok(await until(() => seen.left !== null), `${name} is let go`)
    t.ok((seen.left! - left) / slowness() < 1000, `after ${seen.left! - left} ms`)
    t.ok(await until(() => limiter.held() === 0 && limiter.open() === 0), 'nothing stays held or reserved')
    t.equal(seen.calls, 1)
  }
  t.same(limiter.given(), { places: 6, reservations: 3 })
  t.notOk(
    gateway.logged.some(({ event }) => event === 'fault'),
    'and it is no fault',
  )
  const used = async () => ((await (await gateway.call('GET', '/admin/usage')).json()) as any).data.usage
  t.ok(await until(async () => (await used()).length === 3, 10_000, 200))
  const rows = Object.fromEntries((await used()).map((row: any) => [row.model, row]))
  t.match(rows, { C01: { unanswered: 1, output: 0 }, C02: { unanswered: 0, estimated: 1 }, C05: { unanswered: 1 } })
  t.ok(rows.C02.output > 0, 'what was said before is counted')

  const body = JSON.stringify({ model: 'C01', stream: true, messages: [{ role: 'user', content: 'in a row' }] })
  const asked =
    `POST /std/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const line = connectTo(Number(new URL(gateway.base).port), '127.0.0.1')
  line.write(asked.repeat(3))
  t.ok(await until(() => limiter.held() === 2), 'the first of three on one connection')
  await sleep(200)
  t.equal(limiter.held(), 2, 'those behind it hold nothing')
  line.destroy()
  t.ok(await until(() => limiter.held() === 0 && limiter.open() === 0), 'and those that wait go with it')
})
