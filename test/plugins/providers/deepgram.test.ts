import t from 'tap'
import { BadRequest } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import type { TranscribeCall, Upstream } from '../../../core/ports/upstream.ts'
import deepgram from '../../../plugins/providers/deepgram.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream } from '../../contracts/upstream.ts'
import { backend, eventStream, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { json, never } from '../../fakes/vendor.ts'

const recording: Recording = {
  provider: deepgram,
  settings: (url) => ({ apiKey: 'dg-1', baseUrl: `${url}/v1` }),
  model: 'nova-3-general',
  vectors: 'deepgram',
  stream: eventStream,
  lists: /^\/v1\/models$/,
  chats: /^\/v1\/listen\?/,
}

/** The contract asks by chat: here a transcript is the answer. */
const transcribing = (upstream: Upstream): Upstream => ({
  ...upstream,
  models: async (signal) => (await upstream.models(signal)).map((model) => ({ ...model, type: 'CHAT' })),
  async chat({ model }, signal) {
    const audio = { name: 'a.wav', mime: 'audio/wav', bytes: Buffer.from('{}') }
    const { text } = await upstream.transcribe!({ model, audio }, signal)
    const message = { role: 'assistant', content: text }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return { kind: 'completion', completion: { id: '1', object: 'chat.completion', created: 1, model, choices } }
  },
})

t.test('the provider keeps the contract of upstreams', async (t) => {
  const skip = 'it does not chat'
  await conform(
    t,
    upstream.contract,
    async (t) => {
      const stage = await staged(t, recording)
      return { ...stage, upstream: transcribing(stage.upstream) }
    },
    {
      'calls tools in a stream as in one piece': skip,
      'lets go of a stream that is left': skip,
      'reports usage': skip,
      'fields that nobody knows go through, both ways': skip,
      'an error inside a stream throws, behind what came before': skip,
    },
  )
})

const audio = { name: 'a.mp3', mime: 'audio/mpeg\r\nx: y', bytes: new Uint8Array([0, 1, 255]) }
const call: TranscribeCall = { model: 'nova-3', audio }

t.test('requests have the documented form', async (t) => {
  const server = await backend(t, async () => ({ headers: json, body: await vector('deepgram/chat.json') }))
  const upstream = await provided(t, deepgram, { apiKey: 'dg-1', baseUrl: `${server.url}/v1/` })
  const asked = async (more: Partial<TranscribeCall>) => {
    await upstream.transcribe!({ ...call, ...more }, never)
    const { method, path, headers, body } = server.asked.at(-1)!
    const { pathname, searchParams } = new URL(path, 'http://x')
    t.equal(`${method} ${pathname}`, 'POST /v1/listen')
    t.equal(headers.authorization, 'Token dg-1')
    t.equal(headers['content-type'], 'audio/mpegx y')
    t.same([...body], [0, 1, 255], 'the sound as it is')
    return Object.fromEntries(searchParams)
  }
  const always = { model: 'nova-3', punctuate: 'true', utterances: 'true', paragraphs: 'true', mip_opt_out: 'true' }
  t.same(await asked({}), { ...always, detect_language: 'true' })
  t.same(await asked({ language: 'de', diarize: true, smartFormat: true, prompt: 'x', granularities: ['word'] }), {
    ...always,
    language: 'de',
    diarize: 'true',
    smart_format: 'true',
  })
  t.same(await asked({ language: 'multi', diarize: false, smartFormat: false }), { ...always, language: 'multi' })
  await t.rejects(upstream.transcribe!({ ...call, translate: true }, never), BadRequest)
  const own = await provided(t, deepgram, { apiKey: 'dg-1', baseUrl: `${server.url}/v1`, query: { keyterm: 'Zoë' } })
  await own.transcribe!(call, never)
  t.equal(new URL(server.asked.at(-1)!.path, 'http://x').searchParams.get('keyterm'), 'Zoë')
})

t.test('the transcript names the speaker and the time of each word', async (t) => {
  const recorded = await vector('deepgram/chat.json')
  const server = await backend(t, () => ({ headers: json, body: recorded }))
  const upstream = await provided(t, deepgram, { apiKey: 'dg-1', baseUrl: server.url })
  const { native, ...transcript } = await upstream.transcribe!({ ...call, diarize: true }, never)
  t.same(native, JSON.parse(recorded.toString()), 'as the backend told it')
  const confidence = 0.9987
  t.match(transcript, {
    text: 'Two cafés? Three.',
    language: 'en',
    duration: 2.25,
    segments: [
      { text: 'Two cafés?', start: 0.08, end: 1.12, speaker: 0, confidence },
      { text: 'Three.', start: 1.5, end: 1.9, speaker: 1, confidence },
    ],
    words: [
      { text: 'Two', start: 0.08, end: 0.4, speaker: 0, confidence: 0.9991 },
      { text: 'cafés?', start: 0.4, end: 1.12, speaker: 0 },
      { text: 'Three.', start: 1.5, end: 1.9, speaker: 1 },
    ],
  })
})

t.test('the list names each model once', async (t) => {
  const server = await backend(t, async () => ({ headers: json, body: await vector('deepgram/models.json') }))
  const upstream = await provided(t, deepgram, { apiKey: 'dg-1', baseUrl: server.url })
  t.same(await upstream.models(never), [
    { id: 'nova-3-general', type: 'AUDIO_TRANSCRIPTION' },
    { id: 'nova-2-medical', type: 'AUDIO_TRANSCRIPTION' },
  ])
  t.equal(server.asked[0]!.headers.authorization, 'Token dg-1')
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(deepgram, {}), /apiKey/)
})
