import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI, { toFile } from 'openai'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { seal } from '../adapters/local/seal.ts'
import { running } from './environments.ts'
import { sealing } from './fakes/proxied.ts'
import { chunk, echo, sealedStage } from './fakes/sealing.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'
import { until } from './until.ts'
import { slowness } from './slowness.ts'

/** What the client throws, as far as it is told here. */
const faulty = (facts: {
  readonly status?: number
  readonly code?: string
  readonly type?: string
  readonly param?: string
  readonly message?: RegExp
}) => facts as { readonly code: string }

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming

/** The stream as one message, since frames may hold several tokens. */
const folded = async (openai: OpenAI, params: Params) => {
  const options = { include_usage: true }
  const chunks: OpenAI.ChatCompletionChunk[] = []
  for await (const chunk of await openai.chat.completions.create({ ...params, stream: true, stream_options: options }))
    chunks.push(chunk)
  const deltas = chunks.flatMap(({ choices }) => choices)
  return {
    ids: [...new Set(chunks.map(({ id }) => id))],
    models: [...new Set(chunks.map(({ model }) => model))],
    text: deltas.map(({ delta }) => delta.content ?? '').join(''),
    calls: deltas.flatMap(({ delta }) => delta.tool_calls ?? []),
    reasons: deltas.flatMap(({ finish_reason }) => finish_reason ?? []),
    usage: chunks.flatMap(({ usage }) => usage ?? []),
  }
}

/** Two answers are made at two times. */
const undated = <T extends object>(answer: T): T => ({ ...answer, created: 0 })

t.test('a program that knows nothing of sealing gets the same answers as on the standard route', async (t) => {
  const gateway = await running(t, memory())
  const proxy = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const plain = new OpenAI({ baseURL: `${gateway.base}/std`, apiKey: gateway.key, maxRetries: 0 })
  const tool = { type: 'function', function: { name: 'weather', parameters: { properties: { city: {} } } } } as const
  const hello = { model: 'rehearsal', messages: [{ role: 'user', content: 'Grüße, 世界 👋' }] } satisfies Params
  const cases: Record<string, Params> = {
    'a question': hello,
    'a system text and parameters': {
      ...hello,
      messages: [{ role: 'system', content: 'Be brief.' }, ...hello.messages],
      temperature: 0.5,
      max_completion_tokens: 7,
    },
    JSON: { ...hello, response_format: { type: 'json_object' } },
    'a tool': { ...hello, tools: [tool] },
    'a long text': { ...hello, messages: [{ role: 'user', content: 'word '.repeat(3000) }] },
  }
  for (const [name, params] of Object.entries(cases)) {
    const whole = (from: OpenAI) => from.chat.completions.create(params)
    t.same(undated(await whole(proxy.openai)), undated(await whole(plain)), name)
    t.same(undated(await folded(proxy.openai, params)), undated(await folded(plain, params)), `${name}, as a stream`)
  }
  const listed = await proxy.openai.models.list()
  t.same(
    listed.data.map(({ id, object }) => ({ id, object })),
    ['rehearsal', 'rehearsal-transcription'].map((id) => ({ id, object: 'model' })),
  )
  t.equal(
    gateway.logged.filter(({ facts }) => facts['route'] === 'POST /rvenc/chat/completions').length,
    10,
    'all of it sealed',
  )
  t.equal(await proxy.stop(), 0)
  t.equal(proxy.said().split('\n').length, 2, 'one line is all it says')
})

t.test('a call is left at once, a transcript comes in each form, and a wrong call is refused', async (t) => {
  let left = 0
  const stage = await sealedStage(t, {
    play(call, signal) {
      const text = String(call.body.messages.at(-1)!.content)
      if (text !== 'endless') return echo(call, signal)
      async function* chunks() {
        yield chunk({ content: 'one ' })
        await sleep(100, undefined, { signal })
        yield chunk({ content: 'two ' })
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            left = performance.now()
            reject(signal.reason)
          }),
        )
      }
      return { kind: 'chunks', chunks: chunks() }
    },
  })
  const proxy = await sealing(t, ['--base-url', stage.base, '--key', stage.apiKey, '--allow-insecure-dev'])
  const { openai } = proxy
  const asking = (content: string) => ({ model: 'quiet', messages: [{ role: 'user' as const, content }] })

  const abort = new AbortController()
  const stream = await openai.chat.completions.create({ ...asking('endless'), stream: true }, { signal: abort.signal })
  let text = ''
  let stopped = 0
  for await (const { choices } of stream) {
    text += choices[0]!.delta.content
    if (!text.includes('two')) continue
    stopped = performance.now()
    abort.abort()
  }
  t.equal(text, 'one two ')
  t.ok(await until(() => left > 0))
  t.ok((left - stopped) / slowness() < 1000, `the backend is left after ${Math.round(left - stopped)} ms`)

  const unknown = { status: 404, code: 'unknown_model', param: 'model', type: 'invalid_request_error' }
  await t.rejects(openai.chat.completions.create({ ...asking('x'), model: 'nobody' }), unknown)
  const empty = openai.chat.completions.create({ model: 'quiet', messages: [] })
  await t.rejects(empty, faulty({ status: 400, param: 'messages' }), 'an invalid request is never sealed')
  await t.rejects(openai.embeddings.create({ model: 'quiet', input: 'x' }), faulty({ status: 404 }))

  const file = await toFile(Buffer.from('RIFF'), 'a.wav')
  const { transcriptions } = openai.audio
  t.same(await transcriptions.create({ model: 'hearing', file }), { text: 'heard' })
  t.equal(await transcriptions.create({ model: 'hearing', file, response_format: 'text' }), 'heard\n')
  t.match(await transcriptions.create({ model: 'hearing', file, response_format: 'verbose_json', language: 'en' }), {
    text: 'heard',
    language: 'en',
    duration: 1,
    segments: [],
    words: [],
  })
  const subtitles = {
    srt: '1\n00:00:00,000 --> 00:00:01,000\nheard\n',
    vtt: 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nheard\n',
  }
  for (const [response_format, text] of Object.entries(subtitles)) {
    const asked = { model: 'hearing', file, response_format: response_format as 'srt' }
    t.equal(await transcriptions.create(asked), text, response_format)
  }
  const told = []
  for await (const event of await transcriptions.create({ model: 'hearing', file, stream: true })) told.push(event)
  t.same(told, [
    { type: 'transcript.text.delta', delta: 'heard' },
    { type: 'transcript.text.done', text: 'heard', usage: { type: 'duration', seconds: 1 } },
  ])
  await t.rejects(
    transcriptions.create({ model: 'hearing', file, response_format: 'wav' as 'srt' }),
    faulty({ status: 400, param: 'response_format' }),
  )

  const send = (path: string, headers: Record<string, string>, body: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request(proxy.url.replace('/v1', path), { method: 'POST', headers }, (answer) => {
        let text = ''
        answer.on('data', (part) => (text += part)).on('end', () => resolve({ status: answer.statusCode!, text }))
      })
      asked.on('error', reject).end(body)
    })
  const chat = '/v1/chat/completions'
  const body = JSON.stringify(asking('x'))
  t.equal((await send(chat, {}, body)).status, 200)
  for (const headers of [
    { host: 'evil.example' },
    { host: 'localhost.evil.example' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:3000' },
    { origin: new URL(proxy.url).origin },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    t.equal((await send(chat, headers, body)).status, 403, `a page of any origin, by ${Object.entries(headers).join()}`)
  }
  t.equal((await send(chat, { 'sec-fetch-site': 'none' }, body)).status, 200)
  for (const bad of ['{"canary', '[]', '"canary"', '']) {
    const { status, text } = await send(chat, {}, bad)
    t.equal(status, 400)
    t.same(Object.keys(JSON.parse(text).error), ['message', 'type', 'param', 'code'])
    t.notMatch(text, 'canary')
  }
  const { status } = await send(chat, { 'content-length': String(64 * 1024 * 1024) }, '').catch(() => ({ status: 413 }))
  t.equal(status, 413)
  t.equal(await proxy.stop(), 0)
})

t.test('a transcript keeps its usage and the numbers of its segments under the seal', async (t) => {
  const segment = { id: 0, seek: 0, start: 0, end: 1, text: 'Hi.', tokens: [7], temperature: 0.2 }
  const numbers = { avg_logprob: -0.25, compression_ratio: 1.5, no_speech_prob: 0.125 }
  const usage = { type: 'duration', seconds: 1 }
  const heard = { text: 'Hi.', language: 'english', duration: 1, segments: [{ ...segment, ...numbers }], usage }
  const play = () => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(heard) })
  const model = { type: 'AUDIO_TRANSCRIPTION', standard: false, confidential: true } as const
  const whisper = { ...model, upstreams: [{ provider: 'chat', model: 'whisper-1' }] }
  const doors = await sealedDoors(t, play, {}, { models: { whisper } })
  const { openai } = await sealing(t, ['--base-url', doors.base, '--key', doors.key, '--allow-insecure-dev'])
  const { transcriptions } = openai.audio
  const file = await toFile(Buffer.from('RIFF'), 'a.wav')
  const whole = await transcriptions.create({ model: 'whisper', file, response_format: 'verbose_json' })
  t.same(whole.segments, heard.segments)
  t.same(whole.usage, usage)
  t.same(await transcriptions.create({ model: 'whisper', file }), { text: 'Hi.', usage })
  const told = []
  for await (const event of await transcriptions.create({ model: 'whisper', file, stream: true })) told.push(event)
  t.match(told.at(-1), { type: 'transcript.text.done', usage })
})

t.test('it seals to nobody who proves nothing, and for nobody elsewhere', async (t) => {
  const gateway = await running(t, memory())
  const careful = await sealing(t, ['--base-url', gateway.base, '--key', gateway.key])
  const asked = { model: 'rehearsal', messages: [{ role: 'user' as const, content: 'x' }] }
  await t.rejects(
    careful.openai.chat.completions.create(asked),
    faulty({ code: 'insecure', message: /--allow-insecure-dev uses it/ }),
  )
  let calls = 0
  const counted = (url: string | URL | Request, init?: RequestInit) => (calls++, fetch(url, init))
  const eager = new OpenAI({ baseURL: careful.url, apiKey: 'x', fetch: counted })
  await t.rejects(eager.chat.completions.create(asked), faulty({ code: 'insecure' }))
  t.equal(calls, 1, 'and is not asked again')
  t.equal(gateway.logged.filter(({ facts }) => String(facts['route']).includes('chat')).length, 0)
  const wrong = await sealing(t, ['--base-url', gateway.base, '--key', 'sk_live_no', '--allow-insecure-dev'])
  await t.rejects(wrong.openai.chat.completions.create(asked), faulty({ status: 401, type: 'authentication_error' }))
  const lost = await sealing(t, ['--base-url', 'http://127.0.0.1:1', '--key', 'k', '--allow-insecure-dev'])
  await t.rejects(lost.openai.chat.completions.create(asked), faulty({ status: 502, code: 'unreachable' }))

  const good = ['--base-url', gateway.base, '--key', 'k']
  for (const bad of [
    ['--base-url', gateway.base],
    ['--key', 'k'],
    ['--key', 'k', '--base-url', 'ftp://x'],
    ['--key', 'k', '--base-url', 'x'],
    [...good, '--host', '0.0.0.0'],
    [...good, '--host', '192.168.1.1'],
    [...good, '--host', '127.0.0.1.example'],
    [...good, '--host', '::'],
    [...good, '--port', 'x'],
    [...good, '--measurements', 'no'],
    [...good, '--what'],
    [...good, '--origin', '*'],
    [...good, '--origin', 'http://localhost:3000/'],
    [...good, '--origin', 'null'],
    [...good, '--token', 'short'],
  ]) {
    await t.rejects(seal(bad, {}), bad.join(' '))
  }
})
