import './fakes/unwatched.ts'
import OpenAI, { toFile } from 'openai'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { plugin, use } from '../core/plugin.ts'
import { Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import deepgram from '../plugins/providers/deepgram.ts'
import flite from '../plugins/providers/flite.ts'
import gemini from '../plugins/providers/gemini.ts'
import openai from '../plugins/providers/openai.ts'
import rehearsal from '../plugins/providers/rehearsal.ts'
import { running, unhurried, type Running } from './environments.ts'
import { jsonTake, said } from './fakes/at-work.ts'
import { type Asked, type Recorded, type Take } from './fakes/recorded.ts'
import { backend, vector } from './contracts/stage.ts'
import { until } from './until.ts'
import { failed } from './helpers.ts'

const sse = { 'content-type': 'text/event-stream' }
const eventsOf = (...all: readonly object[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const heardEvents = [
  { type: 'transcript.text.delta', delta: 'Hello', logprobs: [{ token: 'Hello', logprob: -0.1, bytes: [72] }] },
  { type: 'transcript.text.delta', delta: ' there.' },
  { type: 'transcript.text.done', text: 'Hello there.', usage: { type: 'duration', seconds: 3 } },
]
const picture = JSON.parse((await vector('openai/images.json')).toString())
const drawn = { ...picture, data: [{ ...picture.data[0], revised_prompt: 'One dot, alone' }] }
const verbose = JSON.parse((await vector('openai/transcription.json')).toString())

const answers = async ({ path, body }: Asked): Promise<Take> => {
  const asked = body.toString('latin1')
  if (path.includes('/listen')) {
    return { headers: { 'content-type': 'application/json' }, body: await vector('deepgram/chat.json') }
  }
  if (/audio\/trans/.test(path)) {
    return asked.includes('gpt-4o-transcribe') && /name="stream"\r\n\r\ntrue/.test(asked)
      ? { headers: sse, body: eventsOf(...heardEvents) }
      : jsonTake(verbose)
  }
  if (path.endsWith('/audio/speech')) {
    return { headers: { 'content-type': 'audio/mpeg' }, body: Buffer.alloc(2000, 7), pace: { stall: 1000 } }
  }
  if (/images\/(generations|edits)/.test(path)) return jsonTake(drawn)
  if (path.includes(':generateContent')) {
    const parts = [{ inlineData: { mimeType: 'image/png', data: picture.data[0].b64_json } }]
    const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 30 }
    return jsonTake({ candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata })
  }
  if (path.endsWith('/embeddings')) {
    const { input } = JSON.parse(asked)
    const data = input.map((_: unknown, index: number) => ({ index, embedding: [index, 1] }))
    return jsonTake({ data, usage: { prompt_tokens: 5, total_tokens: 5 } })
  }
  return said('Hi')
}

/** A backend that speaks in one piece alone. */
const speaker = plugin({
  port: Upstream,
  name: 'speaker',
  create: (): Upstream => ({
    name: 'speaker',
    models: async () => [],
    speak: async () => ({ mime: 'audio/wav', bytes: Buffer.from('RIFF, and a sound') }),
  }),
})

const of = (type: string, provider: string, model: string) =>
  ({ type, upstreams: [{ provider, model }] }) as NonNullable<SettingsInput['models']>[string]

const models: NonNullable<SettingsInput['models']> = {
  talk: { upstreams: [{ provider: 'openai', model: 'gpt-4o' }] },
  claude: { upstreams: [{ provider: 'gemini', model: 'gemini-2.5-pro' }] },
  'whisper-1': of('AUDIO_TRANSCRIPTION', 'openai', 'whisper-1'),
  live: of('AUDIO_TRANSCRIPTION', 'openai', 'gpt-4o-transcribe'),
  nova: of('AUDIO_TRANSCRIPTION', 'deepgram', 'nova-3'),
  voice: of('AUDIO_SPEECH', 'openai', 'gpt-4o-mini-tts'),
  spoken: of('AUDIO_SPEECH', 'speaker', 'any'),
  puck: of('AUDIO_SPEECH', 'gemini', 'gemini-2.5-flash-preview-tts'),
  offline: of('AUDIO_SPEECH', 'flite', 'flite'),
  draws: of('IMAGE', 'openai', 'gpt-image-1'),
  banana: of('IMAGE', 'gemini', 'gemini-2.5-flash-image'),
  vectors: of('EMBEDDING', 'openai', 'text-embedding-3-small'),
  words: of('EMBEDDING', 'rehearsal', 'rehearsal-embedding'),
}

interface Scene extends Running {
  readonly backend: Recorded
  /** The last body that a backend was asked with: JSON, or a form as text. */
  asked(): any
}

const staged = async (t: Test, play: (request: Asked) => Take | Promise<Take> = answers): Promise<Scene> => {
  const recorded = await backend(t, play)
  const upstreams = [
    use(openai, { baseUrl: `${recorded.url}/v1` }),
    use(deepgram, { apiKey: 'k', baseUrl: `${recorded.url}/v1` }),
    use(gemini, { apiKey: 'k', baseUrl: `${recorded.url}/v1beta` }),
    use(speaker),
    use(flite),
    use(rehearsal),
  ]
  const gateway = await running(
    t,
    { ...memory(), fetch: use(doors), upstreams },
    { models, routing: { retries: 0, breaker: { faults: 1000, ratio: 1 } }, ...unhurried },
  )
  const asked = () => {
    const { headers, body } = recorded.asked.at(-1)!
    return headers['content-type'] === 'application/json' ? JSON.parse(body.toString()) : body.toString('latin1')
  }
  return { ...gateway, backend: recorded, asked }
}

const clientOf = (gateway: Running, door: string) =>
  new OpenAI({ baseURL: gateway.base + door, apiKey: gateway.key, maxRetries: 0 })
const wav = () => toFile(Buffer.from('RIFF'), 'a.wav', { type: 'audio/wav' })
const png = (name: string) => toFile(Buffer.from(`PNG ${name}`), name, { type: 'image/png' })

/** A form by hand, for fields that a client would not send. */
const formed = async (gateway: Running, path: string, fields: Readonly<Record<string, string>>) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([new Uint8Array(9)]), 'a.wav')
  return fetch(gateway.base + path, { method: 'POST', headers: { authorization: `Bearer ${gateway.key}` }, body: form })
}

/** What a client throws for an answer of this status. */
const refused = (status: number) => ({ status }) as unknown as Error

const all = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const one of source) found.push(one)
  return found
}

for (const door of ['/std', '/v1']) {
  t.test(`${door}: a transcript keeps what the backend told`, async (t) => {
    const stage = await staged(t)
    const { transcriptions, translations } = clientOf(stage, door).audio
    const file = await wav()
    const whole = await transcriptions.create({ model: 'whisper-1', file, response_format: 'verbose_json' })
    t.same(whole.segments, verbose.segments, 'segments as the backend gave them')
    t.same(whole.usage, verbose.usage)
    t.same(await transcriptions.create({ model: 'whisper-1', file }), { text: verbose.text, usage: verbose.usage })
    const other = await transcriptions.create({ model: 'nova', file, response_format: 'verbose_json' })
    for (const segment of other.segments!) {
      for (const field of ['seek', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob'] as const)
        t.type(segment[field], 'number', `${field}, which stock clients ask of every segment`)
      t.type(segment.tokens, Array)
    }
    const english = await translations.create({ model: 'whisper-1', file, response_format: 'verbose_json' })
    t.match(english, { text: verbose.text, task: 'translate' })
    t.match(stage.backend.asked.at(-1)!.path, /audio\/translations/)
    const { credential } = await stage.gateway.keys.create({ scopes: ['audio.transcription'] })
    await t.rejects(
      new OpenAI({ baseURL: stage.base + door, apiKey: credential, maxRetries: 0 }).audio.translations.create({
        model: 'whisper-1',
        file,
      }),
      refused(403),
    )
    await transcriptions.create({ model: 'whisper-1', file, include: ['logprobs'] })
    t.match(stage.asked(), /name="include\[\]"\r\n\r\nlogprobs/, 'fields that the gateway does not know go on')
    const by = await transcriptions.create({ model: 'nova', file, response_format: 'diarized_json' as 'json' })
    t.ok(
      (by as any).segments.every(({ speaker }: any) => /^[A-Z]+$/.test(speaker)),
      'speakers have letters',
    )
    await t.rejects(
      transcriptions.create({ model: 'whisper-1', file, response_format: 'diarized_json' as 'json' }),
      refused(400),
      'nobody is told apart by a model that can’t',
    )
  })

  t.test(`${door}: a transcript that is asked as a stream comes as events, or is refused`, async (t) => {
    const stage = await staged(t)
    const { transcriptions } = clientOf(stage, door).audio
    const file = await wav()
    const told = await all(await transcriptions.create({ model: 'live', file, stream: true }))
    t.same(told, heardEvents, 'the events of a backend as they are')
    for (const model of ['whisper-1', 'nova']) {
      const made = await all(await transcriptions.create({ model, file, stream: true }))
      const text = made.map((event) => (event.type === 'transcript.text.delta' ? event.delta : '')).join('')
      const last = made.at(-1) as OpenAI.Audio.TranscriptionTextDoneEvent
      t.equal(last.type, 'transcript.text.done', `${model} tells the whole at once`)
      t.equal(text.trim(), last.text.trim())
      t.match((last as any).usage, { type: 'duration', seconds: Number }, `${model} tells what is charged`)
    }
    for (const response_format of ['srt', 'vtt', 'text', 'verbose_json']) {
      const answer = await formed(stage, `${door}/audio/transcriptions`, {
        model: 'live',
        stream: 'true',
        response_format,
      })
      t.equal(answer.status, 400, response_format)
    }
  })

  t.test(`${door}: a streamed transcript by speakers tells them, or is refused`, async (t) => {
    const stage = await staged(t)
    const fields = { stream: 'true', response_format: 'diarized_json' }
    const by = await formed(stage, `${door}/audio/transcriptions`, { model: 'nova', ...fields })
    const pieces = (await by.text()).split('\n\n').filter((line) => line.includes('transcript.text.segment'))
    t.ok(pieces.length > 0)
    for (const piece of pieces) t.match(JSON.parse(piece.slice(6)), { speaker: /^[A-Z]+$/, start: Number, end: Number })
    const without = await formed(stage, `${door}/audio/transcriptions`, { model: 'whisper-1', ...fields })
    t.equal(without.status, 400)
    t.match(await without.text(), /does not tell speakers apart/)
  })

  t.test(`${door}: a transcript that breaks ends its stream in an error`, async (t) => {
    let status = 200
    const stage = await staged(t, () =>
      status === 200
        ? { headers: sse, body: eventsOf(...heardEvents.slice(0, 2)) }
        : jsonTake({ error: { message: 'secret-of-the-backend' } }, status),
    )
    const { transcriptions } = clientOf(stage, door).audio
    const heard = async () => all(await transcriptions.create({ model: 'live', file: await wav(), stream: true }))
    const fault: any = await failed(heard())
    t.ok(fault instanceof OpenAI.APIError, 'an end mark is missed')
    status = 500
    await t.rejects(heard(), refused(503), 'before the first event it has its status')
  })

  t.test(`${door}: speech is passed on as it comes`, async (t) => {
    const stage = await staged(t)
    const client = clientOf(stage, door)
    const spoken = await client.audio.speech.create({
      model: 'voice',
      voice: 'alloy',
      input: 'Hello',
      instructions: 'Whisper',
    })
    t.match(stage.asked(), { instructions: 'Whisper', input: 'Hello' })
    const reader = spoken.body!.getReader()
    let size = 0
    while (size < 1000) size += (await reader.read()).value!.length
    t.equal(size, 1000, 'the beginning is here while the backend still holds the rest')
    await reader.cancel()
    t.ok(await until(async () => (await stage.backend.open()) === 0), 'a caller that leaves ends it')
    const whole = await client.audio.speech.create({
      model: 'spoken',
      voice: 'slt',
      input: 'Hi',
      response_format: 'wav',
    })
    const sound = Buffer.from(await whole.arrayBuffer())
    t.equal(sound.toString('latin1', 0, 4), 'RIFF')
    t.equal(Number(whole.headers.get('content-length')), sound.length)
    const asEvents = await stage.call('POST', `${door}/audio/speech`, {
      model: 'spoken',
      voice: 'slt',
      input: 'Hi',
      response_format: 'wav',
      stream_format: 'sse',
    })
    const told = (await asEvents.text()).match(/^data: .*$/gm)!.map((line) => JSON.parse(line.slice(6)))
    const parts = told.filter(({ type }) => type === 'speech.audio.delta')
    t.ok(Buffer.concat(parts.map(({ audio }) => Buffer.from(audio, 'base64'))).equals(sound))
    t.match(told.at(-1), { type: 'speech.audio.done', usage: { input_tokens: 1 } })
  })

  t.test(`${door}: the id of a voice goes on to OpenAI’s format, and other backends refuse it`, async (t) => {
    const stage = await staged(t)
    const voice = { id: 'voice_1' }
    await (await clientOf(stage, door).audio.speech.create({ model: 'voice', voice, input: 'Hello' })).body!.cancel()
    t.same(stage.asked().voice, voice)
    for (const [model, wish] of [
      ['puck', voice],
      ['offline', voice],
      ['voice', { ...voice, name: 'b' }],
    ]) {
      const answer = await stage.call('POST', `${door}/audio/speech`, { model, voice: wish, input: 'Hello' })
      t.equal(answer.status, 400)
      t.match(await answer.text(), /"voice|voice"/, 'the refusal names the field')
    }
  })

  t.test(`${door}: speech that breaks before its first byte has a status, and is cut later`, async (t) => {
    let pace: Take['pace'] = { end: 0 }
    const stage = await staged(t, () => ({
      headers: { 'content-type': 'audio/mpeg' },
      body: Buffer.alloc(2000),
      ...(pace && { pace }),
    }))
    const { speech } = clientOf(stage, door).audio
    const asked = { model: 'voice', voice: 'alloy', input: 'Hello' } as const
    await t.rejects(speech.create(asked), refused(503))
    pace = { cut: 1000 }
    await t.rejects((await speech.create(asked)).arrayBuffer(), /terminated/)
  })

  t.test(`${door}: images keep usage and the prompt that was drawn, and come as events`, async (t) => {
    const stage = await staged(t)
    const { images } = clientOf(stage, door)
    const { usage, quality, size, background, output_format } = picture
    const about = { usage, quality, size, background, output_format }
    const whole = await images.generate({ model: 'draws', prompt: 'a dot' })
    t.match(whole, { ...about, data: [{ b64_json: /^iVBOR/, revised_prompt: 'One dot, alone' }] })
    const told = await all(await images.generate({ model: 'draws', prompt: 'a dot', stream: true, partial_images: 2 }))
    t.match(told, [{ type: 'image_generation.completed', b64_json: /^iVBOR/, ...about }])
    t.notOk('stream' in stage.asked() || 'partial_images' in stage.asked(), 'the backend draws whole images')
    const counted = async () => (await stage.call('GET', '/admin/usage')).text()
    const isCharged = async () => /"input":100,"output":100,/.test(await counted())
    t.ok(await until(isCharged), 'its own counts are what is charged')
  })

  t.test(`${door}: images are edited by backends that can`, async (t) => {
    const stage = await staged(t)
    const { images } = clientOf(stage, door)
    const two = [await png('one.png'), await png('two.png')]
    const edited = await images.edit({ model: 'draws', image: two, mask: await png('mask.png'), prompt: 'Red', n: 1, quality: 'high' }) // prettier-ignore
    t.match(edited.data, [{ b64_json: /^iVBOR/ }])
    const form = stage.asked()
    t.match(stage.backend.asked.at(-1)!.path, /images\/edits/)
    for (const part of ['PNG one.png', 'PNG two.png', 'PNG mask.png', 'name="quality"\r\n\r\nhigh', 'gpt-image-1'])
      t.ok(form.includes(part), part)
    const told = await all(await images.edit({ model: 'draws', image: two[0]!, prompt: 'Red', stream: true }))
    t.match(told, [{ type: 'image_edit.completed' }])
    const other = await images.edit({ model: 'banana', image: two[0]!, prompt: 'Red' })
    t.match(other, { data: [{ b64_json: /^iVBOR/ }], usage: { input_tokens: 12, output_tokens: 30 } })
    t.match(stage.asked().contents[0].parts, [{ inlineData: { mimeType: 'image/png' } }, { text: 'Red' }])
    await t.rejects(images.edit({ model: 'banana', image: two[0]!, mask: two[1]!, prompt: 'Red' }), refused(400)) // prettier-ignore
    await t.rejects(images.edit({ model: 'draws', image: [], prompt: 'Red' }), refused(400))
  })

  t.test(`${door}: tokens are embedded by backends that take them`, async (t) => {
    const stage = await staged(t)
    const { embeddings } = clientOf(stage, door)
    const lists = [[1, 2, 3], [4]]
    t.equal((await embeddings.create({ model: 'vectors', input: lists })).data.length, 2)
    t.same(stage.asked().input, lists)
    t.equal((await embeddings.create({ model: 'vectors', input: [7, 8] })).data.length, 1)
    t.same(stage.asked().input, [[7, 8]])
    await t.rejects(embeddings.create({ model: 'words', input: [7, 8] }), refused(400))
    for (const input of [[], [[]], [1.5], [-1], ['a', 1], [['a']]])
      t.equal((await stage.call('POST', `${door}/embeddings`, { model: 'vectors', input })).status, 400)
  })

  t.test(`${door}: vectors that no backend counts are charged by the guess`, async (t) => {
    const stage = await staged(t, () => jsonTake({ data: [{ index: 0, embedding: [1] }] }))
    const answer = await stage.call('POST', `${door}/embeddings`, { model: 'vectors', input: 'word'.repeat(9) })
    t.equal(answer.status, 200)
    await answer.body!.cancel()
    const used = async () => ((await (await stage.call('GET', '/admin/usage')).json()) as any).data.usage[0]
    await until(async () => (await used()) !== undefined)
    t.match(await used(), { requests: 1, input: 9, estimated: 1 })
  })

  t.test(`${door}: fields of vectors and speech that the gateway does not know go on`, async (t) => {
    const stage = await staged(t)
    for (const [path, body] of [
      ['embeddings', { model: 'vectors', input: ['a'], input_type: 'query', truncate: 'END', user: 'u' }],
      ['audio/speech', { model: 'voice', input: 'a', voice: 'af', lang_code: 'e', stream_format: 'audio' }],
    ] as const) {
      const answer = await stage.call('POST', `${door}/${path}`, body)
      t.equal(answer.status, 200, path)
      await answer.body!.cancel()
      const { user: _, stream_format: __, model: ___, encoding_format: ____, ...others } = stage.asked()
      const { user, stream_format, model, ...known } = body as Record<string, unknown>
      t.same(others, known)
      t.same([stage.asked().user, stage.asked().stream_format], [undefined, undefined], 'what is the gateway’s stays')
    }
  })

  t.test(`${door}: provider as an object goes on to the backend`, async (t) => {
    const stage = await staged(t)
    const provider = { order: ['x'], allow_fallbacks: false }
    const messages = [{ role: 'user', content: 'Hi' }]
    for (const [path, body] of [
      ['chat/completions', { model: 'talk', messages }],
      ['embeddings', { model: 'vectors', input: 'a' }],
      ['images/generations', { model: 'draws', prompt: 'a' }],
      ['audio/speech', { model: 'voice', input: 'a' }],
    ] as const) {
      const answer = await stage.call('POST', `${door}/${path}`, { ...body, provider })
      t.equal(answer.status, 200, path)
      await answer.body!.cancel()
      t.same(stage.asked().provider, provider)
      const pinned = await stage.call('POST', `${door}/${path}`, { ...body, provider: 'openai' })
      await pinned.body!.cancel()
      t.equal(stage.asked().provider, undefined, 'a name pins, and is the gateway’s')
      t.equal((await stage.call('POST', `${door}/${path}`, { ...body, provider: 'gemini' })).status, 400)
    }
  })
}
