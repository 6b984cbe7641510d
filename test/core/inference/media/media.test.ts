import '../../../fakes/unwatched.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { memory } from '../../../../adapters/memory/index.ts'
import { createGateway } from '../../../../core/gateway.ts'
import {
  Upstream,
  type DrawCall,
  type EmbedCall,
  type SpeakCall,
  type TranscribeCall,
} from '../../../../core/ports/upstream.ts'
import { given } from '../../../fitted.ts'

const calls: Record<string, unknown>[] = []
const saw = (call: TranscribeCall | SpeakCall | DrawCall | EmbedCall) => void calls.push({ ...call })

const everything: Upstream = {
  name: 'everything',
  models: async () => [],
  async chat() {
    throw new Error('not asked for')
  },
  async transcribe(call) {
    saw(call)
    const segments = [
      { text: ' Hello --> there.', start: 0, end: 1.5 },
      { text: 'Bye.', start: 3661.25, end: 3662, speaker: 1 },
    ]
    const words = [{ text: 'Hello', start: 0, end: 0.5 }]
    return { text: 'Hello there. Bye.', language: 'en', duration: 3662, segments, words }
  },
  async speak(call) {
    saw(call)
    return { mime: 'audio/wav', bytes: Uint8Array.of(1, 2, 3) }
  },
  async draw(call) {
    saw(call)
    return [{ mime: 'image/png', bytes: Uint8Array.of(255, 0) }]
  },
  async embed(call) {
    saw(call)
    return { vectors: call.texts.map((_, index) => Float32Array.of(index, 0.5)), usage: { input: 4, output: 0 } }
  },
}

const of = (
  type: 'CHAT' | 'AUDIO_TRANSCRIPTION' | 'AUDIO_SPEECH' | 'IMAGE' | 'EMBEDDING' | 'DECISION',
  more: object = {},
) => ({
  type,
  upstreams: [{ provider: 'everything', model: `its-${type}` }],
  ...more,
})

const gateway = createGateway(
  { ...memory(), upstreams: [given(Upstream, 'everything', () => everything)] },
  {
    models: {
      talk: of('CHAT'),
      hear: of('AUDIO_TRANSCRIPTION'),
      say: of('AUDIO_SPEECH'),
      draw: of('IMAGE'),
      vectors: of('EMBEDDING'),
      decides: of('DECISION'),
      sealed: of('CHAT', { standard: false, confidential: true }),
    },
  },
)
const server = createServer(gateway.listener)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
t.teardown(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await gateway.close()
})
const { credential } = await gateway.keys.create({})

const ask = async (path: string, body?: object | FormData, key = credential) => {
  calls.length = 0
  const form = body instanceof FormData
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/std${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, ...(!form && { 'content-type': 'application/json' }) },
    ...(body && { body: form ? body : JSON.stringify(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const type = response.headers.get('content-type') ?? ''
  return {
    status: response.status,
    type,
    bytes,
    body: type.startsWith('application/json') ? JSON.parse(String(bytes)) : String(bytes),
  }
}

t.test('embeddings', async (t) => {
  const one = await ask('/embeddings', { model: 'vectors', input: 'text', dimensions: 2 })
  t.same(one.body, {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0, 0.5] }],
    model: 'vectors',
    usage: { prompt_tokens: 4, total_tokens: 4 },
  })
  t.same(calls, [{ model: 'its-EMBEDDING', texts: ['text'], dimensions: 2, extra: {} }])
  const two = await ask('/embeddings', { model: 'vectors', input: ['a', 'b'], encoding_format: 'base64' })
  const packed = Buffer.from(two.body.data[1].embedding, 'base64')
  t.same([packed.readFloatLE(0), packed.readFloatLE(4), packed.length], [1, 0.5, 8])
  for (const input of ['', [], [1, 2], undefined])
    t.equal((await ask('/embeddings', { model: 'vectors', input })).status, 400)
  t.equal((await ask('/embeddings', { model: 'talk', input: 'x' })).status, 400, 'another kind of model')
  t.equal((await ask('/embeddings', { model: 'nothing', input: 'x' })).status, 404)
})

t.test('transcriptions', async (t) => {
  const form = (fields: Readonly<Record<string, string>>, file = true) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    if (file) form.append('file', new Blob([Uint8Array.of(7, 8)], { type: 'audio/wav' }), 'a.wav')
    return form
  }
  const plain = await ask(
    '/audio/transcriptions',
    form({ model: 'hear', language: 'en', temperature: '0.2', 'timestamp_granularities[]': 'word' }),
  )
  t.same(plain.body, { text: 'Hello there. Bye.' })
  t.match(calls[0], {
    model: 'its-AUDIO_TRANSCRIPTION',
    language: 'en',
    temperature: 0.2,
    granularities: ['word'],
    audio: { name: 'a.wav', mime: 'audio/wav' },
  })
  t.same([...(calls[0]!['audio'] as { bytes: Uint8Array }).bytes], [7, 8])
  const as = async (response_format: string) =>
    (await ask('/audio/transcriptions', form({ model: 'hear', response_format }))).body
  t.equal(await as('text'), 'Hello there. Bye.\n')
  t.equal(
    await as('srt'),
    '1\n00:00:00,000 --> 00:00:01,500\nHello -> there.\n\n2\n01:01:01,250 --> 01:01:02,000\nBye.\n',
  )
  t.equal(
    await as('vtt'),
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello -> there.\n\n01:01:01.250 --> 01:01:02.000\nBye.\n',
  )
  t.match(await as('verbose_json'), {
    language: 'en',
    duration: 3662,
    segments: [{ id: 0 }, { id: 1, speaker: 1 }],
    words: [{ word: 'Hello' }],
  })
  const bad = await ask(
    '/audio/transcriptions',
    form({ model: 'hear', response_format: 'poem', temperature: 'hot' }, false),
  )
  t.equal(bad.status, 400)
  t.same(Object.keys(bad.body.validator).sort(), ['file', 'response_format', 'temperature'])
  t.notOk(JSON.stringify(bad.body).includes('poem'), 'what was received is not told')
})

t.test('speech', async (t) => {
  const answer = await ask('/audio/speech', {
    model: 'say',
    input: 'Hello',
    voice: 'v',
    response_format: 'wav',
    speed: 2,
    instructions: 'Slowly',
  })
  t.same([answer.status, answer.type, [...answer.bytes]], [200, 'audio/wav', [1, 2, 3]])
  t.same(calls, [
    {
      model: 'its-AUDIO_SPEECH',
      text: 'Hello',
      voice: 'v',
      instructions: 'Slowly',
      format: 'wav',
      speed: 2,
      extra: {},
    },
  ])
  t.equal((await ask('/audio/speech', { model: 'say', input: 'Hello', speed: 9 })).status, 400)
})

t.test('images', async (t) => {
  const answer = await ask('/images/generations', {
    model: 'draw',
    prompt: 'A cat',
    n: 1,
    size: '512x512',
    style: 'vivid',
  })
  t.same(answer.body.data, [{ b64_json: '/wA=' }])
  t.ok(Number.isInteger(answer.body.created))
  t.same(calls, [{ model: 'its-IMAGE', prompt: 'A cat', count: 1, size: '512x512', extra: { style: 'vivid' } }])
  const linked = await ask('/images/generations', { model: 'draw', prompt: 'A cat', response_format: 'url' })
  t.same(linked.body.data, [{ url: 'data:image/png;base64,/wA=' }])
})

t.test('the catalog', async (t) => {
  const names = async (query = '', key = credential) =>
    (await ask(`/models${query}`, undefined, key)).body.data.map(({ model }: { model: string }) => model)
  t.same(await names(), ['talk', 'hear', 'say', 'draw'])
  t.same(await names('?type=IMAGE'), ['draw'])
  t.same(await names('', (await gateway.keys.create({ models: ['say', 'vectors'] })).credential), ['say'])
  t.equal((await ask('/models?type=DECISION')).status, 400)
  t.equal((await ask('/models', undefined, 'sk_live_wrong')).status, 401)
})

t.test('usage is told afterwards', async (t) => {
  await new Promise((resolve) => setTimeout(resolve, 1200))
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/usage`, {
    headers: { authorization: `Bearer ${credential}` },
  })
  const { data } = (await response.json()) as {
    data: { usage: readonly { model: string; input: number; audio_seconds: number }[] }
  }
  const by = new Map(data.usage.map((row) => [row.model, row]))
  t.equal(by.get('vectors')!.input, 8)
  t.equal(by.get('hear')!.audio_seconds, 5 * 3662)
})
