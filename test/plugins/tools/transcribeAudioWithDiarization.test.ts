import '../../fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import cache from '../../../adapters/memory/cache.ts'
import { clock, log, random } from '../../../adapters/memory/platform.ts'
import { fetch } from '../../../adapters/production/platform.ts'
import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import type { Part } from '../../../plugins/tools/shared/audio-transcript.ts'
import { attributeByBackend, speakerTurns } from '../../../plugins/tools/shared/attribute-speech.ts'
import { inference } from '../../../core/inference/inference.ts'
import { catalog } from '../../../plugins/shared/models/catalog.ts'
import { use } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import type { Spoken } from '../../../core/ports/upstream.ts'
import { Settings, SettingsShape } from '../../../core/settings.ts'
import deepgram from '../../../plugins/providers/deepgram.ts'
import transcribeAudioWithDiarization from '../../../plugins/tools/transcribeAudioWithDiarization.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { atWork, jsonTake, modelOf, type AtWork } from '../../fakes/at-work.ts'
import { backend, vector } from '../../contracts/stage.ts'
import { fitted, given } from '../../fitted.ts'
import { bytesOf, madeOf, opened, params, skip } from './tried.ts'

const asOgg = (bytes: Uint8Array) => opened(bytes, 'some', 'audio/ogg')
const twoVoices = await bytesOf('audio/dialogue-of-two.ogg')

const write = ({ tool }: AtWork, bytes: Uint8Array, more: object = {}) => madeOf(tool, asOgg(bytes), more)

const modelNamed = (name: string) => modelOf(name, { type: 'AUDIO_TRANSCRIPTION' })
const atOpenai = (t: Test, answer: object, name = 'ears') =>
  atWork(t, transcribeAudioWithDiarization, modelNamed(name), () => jsonTake(answer))

const atDeepgram = async (t: Test): Promise<AtWork> => {
  const recorded = await vector('deepgram/chat.json')
  const server = await backend(t, () => ({ headers: { 'content-type': 'application/json' }, body: recorded }))
  const told = v.parse(SettingsShape, { models: modelNamed('ears') })
  const container = fitted(
    ...[given(Settings, 'settings', () => told), use(catalog), use(inference)],
    ...[use(clock), use(random), use(log), use(cache), use(fetch), use(transcribeAudioWithDiarization)],
    use(deepgram, { apiKey: 'dg-1', baseUrl: `${server.url}/v1` }, 'backend'),
  )
  t.teardown(() => container.dispose())
  return { tool: container.supply({ tools: Tool }).tools[0] as Tool, asked: server.asked }
}

t.test('contract', { skip }, async (t) => {
  const good = { params: { ...params, language: 'en' }, file: asOgg(twoVoices) }
  const bad = { params: { ...params, language: 'en-GB' }, file: asOgg(Buffer.from('words that nobody hears')) }
  await conform(t, tool.contract, async (t) => ({ ...(await atDeepgram(t)), good, bad }))
})

t.test('by the words of a backend that tells speakers apart', { skip }, async (t) => {
  const ears = await atDeepgram(t)
  t.same(await write(ears, twoVoices, { language: 'en-GB' }), {
    text: 'Two cafés? Three.',
    language: 'en',
    duration: 21.73,
    speakers: 2,
    turns: [
      { speaker: 'Speaker 1', start: 0.08, end: 1.12, text: 'Two cafés?' },
      { speaker: 'Speaker 2', start: 1.5, end: 1.9, text: 'Three.' },
    ],
    truncated: false,
    model: 'ears',
    diarization: 'backend',
  })
  const { searchParams } = new URL(ears.asked[0]!.path, 'http://backend')
  t.match(Object.fromEntries(searchParams), { model: 'its-ears', diarize: 'true', language: 'en-GB' })
})

t.test('by the segments of one, with speakers by name', { skip }, async (t) => {
  const ears = await atOpenai(t, JSON.parse(String(await vector('openai/diarized.json'))), 'diarize')
  t.match(await write(ears, twoVoices), {
    turns: [
      { speaker: 'Speaker 1', start: 0, end: 1.1, text: 'Hi.' },
      { speaker: 'Speaker 2', start: 1.3, end: 3.2, text: 'Hello.' },
    ],
    diarization: 'backend',
  })
  t.match(String(ears.asked[0]!.body), /diarized_json/)
})

t.test('voices separate speakers when the backend gives only words and times', { skip }, async (t) => {
  const words = [
    { start: 9.5, end: 10, word: 'We' },
    { start: 12, end: 12.4, word: 'walked' },
    { start: 16, end: 16.5, word: 'home' },
    { start: 17.2, end: 17.6, word: 'And' },
    { start: 20, end: 20.8, word: 'then' },
  ]
  const ears = await atOpenai(t, {
    text: 'Good morning. Who is there? We walked home. And then?',
    language: 'english',
    segments: [
      { start: 0.3, end: 2, text: ' Good' },
      { start: 2, end: 4, text: ' morning.' },
      { start: 4.8, end: 8.6, text: ' Who is there?' },
      { start: 9.4, end: 21, text: ' We walked home. And then?' },
    ],
    words,
  })
  t.match(await write(ears, twoVoices), {
    speakers: 2,
    turns: [
      { speaker: 'Speaker 1', start: 0.3, end: 4, text: 'Good morning.' },
      { speaker: 'Speaker 2', start: 4.8, end: 8.6, text: 'Who is there?' },
      { speaker: 'Speaker 1', start: 9.5, end: 16.5, text: 'We walked home.' },
      { speaker: 'Speaker 2', start: 17.2, end: 20.8, text: 'And then?' },
    ],
    diarization: 'local',
    guess: { by: 'pitch and timbre', confidence: Number },
  })
})

t.test('words without times belong to the only speaker, and otherwise to none', { skip }, async (t) => {
  const expected = { models: 'Expected a transcription model that tells when things are said' }
  const ears = await atOpenai(t, { text: 'All at once.' })
  const monologue = write(ears, await bytesOf('audio/monologue-in-a-video.mp4'))
  const dialogue = write(ears, twoVoices)
  await t.rejects(dialogue, new Unconfigured({ validator: expected }))
  t.match(await monologue, {
    speakers: 1,
    turns: [{ speaker: 'Speaker 1', start: 0, text: 'All at once.' }],
  })
})

t.test('nothing said is no turn', { skip }, async (t) => {
  const ears = await atOpenai(t, { text: '', segments: [] })
  t.match(await write(ears, await bytesOf('audio/monologue-in-a-video.mp4')), { text: '', speakers: 0, turns: [] })
  const silent = await readFile('test/vectors/files/video/eight-colours-silent.mkv')
  await t.rejects(write(ears, silent), Unreadable)
})

t.test('a backend counts anew in each piece, our ears tell who is who', async (t) => {
  const spoken = (speaker: number, start: number, end: number, text: string): Spoken => ({ speaker, start, end, text })
  const part = (...segments: readonly Spoken[]): Part => ({
    ...{ text: '', language: null, words: [], timed: true },
    segments,
  })
  const parts = [
    part(spoken(0, 0, 9, 'I begin.'), spoken(1, 10, 19, 'I go on.')),
    part(spoken(0, 20, 29, 'So do I.'), spoken(1, 30, 39, 'I began.'), spoken(2, 40, 41, 'Me too.')),
  ]
  const turns = [
    { speaker: 0, start: 0, end: 9.5 },
    { speaker: 1, start: 9.8, end: 29.5 },
    { speaker: 0, start: 29.8, end: 41 },
  ]
  t.same(speakerTurns(parts, attributeByBackend(parts, turns)), [
    { speaker: 1, start: 0, end: 9, text: 'I begin.' },
    { speaker: 2, start: 10, end: 29, text: 'I go on. So do I.' },
    { speaker: 1, start: 30, end: 39, text: 'I began.' },
    { speaker: 3, start: 40, end: 41, text: 'Me too.' },
  ])
})
