import '../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Unconfigured, Unreadable, UpstreamFailed } from '../../../core/errors.ts'
import { secondsOf, soundOf, wavOf } from '../../../plugins/shared/sounds/wav.ts'
import transcribeAudioToText from '../../../plugins/tools/transcribeAudioToText.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { atWork, jsonTake, modelOf, type AtWork } from '../../fakes/at-work.ts'
import type { Asked, Take } from '../../fakes/recorded.ts'
import { bytesOf, madeOf, opened, params, skip } from './tried.ts'

const hearing = modelOf('ears', { type: 'AUDIO_TRANSCRIPTION' })
const named = (bytes: Uint8Array) => opened(bytes, 'secret plans.ogg', 'audio/ogg')
const dialogue = await bytesOf('audio/dialogue-of-two.ogg')

const write = ({ tool }: AtWork, bytes: Uint8Array, more: object = {}) => madeOf(tool, named(bytes), more)

const atEars = (t: Test, play: (request: Asked) => Take | Promise<Take>) =>
  atWork(t, transcribeAudioToText, hearing, play)

/** The fields of the form that a backend was sent, and the file in it. */
const formOf = async ({ headers, body }: Asked) => {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type']! },
  }).formData()
  const { file, ...fields } = Object.fromEntries(form) as { file: File; [field: string]: unknown }
  return { fields, name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) }
}

const spoken = {
  task: 'transcribe',
  language: 'english',
  duration: 21.7,
  text: ' I never finish more than two. Did you enjoy it?',
  segments: [
    { id: 0, start: 0.3, end: 3.98, text: ' I never finish more than two.' },
    { id: 1, start: 4.7400001, end: 8.6, text: ' Did you enjoy it?' },
  ],
}

t.test('contract', { skip }, async (t) => {
  const good = { params: { ...params, language: 'en' }, file: named(dialogue) }
  const bad = { params: { ...params, language: 'en-GB' }, file: named(Buffer.from('words, but none that are heard')) }
  await conform(t, tool.contract, async (t) => ({ ...(await atEars(t, () => jsonTake(spoken))), good, bad }))
})

t.test('a file as every model takes it goes as it is, but for its name', { skip }, async (t) => {
  const ears = await atEars(t, () => jsonTake(spoken))
  const bytes = dialogue
  t.same(await write(ears, bytes, { language: 'en' }), {
    text: 'I never finish more than two. Did you enjoy it?',
    language: 'english',
    duration: 21.73,
    segments: [
      { start: 0.3, end: 3.98, text: 'I never finish more than two.' },
      { start: 4.74, end: 8.6, text: 'Did you enjoy it?' },
    ],
    truncated: false,
    model: 'ears',
  })
  const { fields, name, type, bytes: sent } = await formOf(ears.asked[0]!)
  t.same(fields, {
    model: 'its-ears',
    response_format: 'verbose_json',
    language: 'en',
    'timestamp_granularities[]': 'segment',
  })
  t.same([name, type], ['audio.ogg', 'audio/ogg'])
  t.ok(Buffer.from(bytes).equals(sent), 'the bytes as they are')
  t.notOk(ears.asked[0]!.body.includes('secret plans'), 'nothing of its name')
})

t.test('other formats go as WAV, and a model without times has one segment', { skip }, async (t) => {
  const ears = await atEars(t, () => jsonTake({ text: 'Nothing but words. ' }))
  const { stdout } = spawnSync(
    'ffmpeg',
    ['-v', 'quiet', '-i', 'pipe:0', '-vn', '-c:a', 'pcm_alaw', '-f', 'matroska', 'pipe:1'],
    { input: await bytesOf('audio/dialogue-of-three.mp3') },
  )
  t.match(await write(ears, stdout), {
    text: 'Nothing but words.',
    language: null,
    segments: [{ start: 0, end: Number, text: 'Nothing but words.' }],
  })
  const { name, type, bytes } = await formOf(ears.asked[0]!)
  const sound = soundOf(bytes)!
  t.same([name, type, sound.rate, sound.channels, sound.bits], ['audio.wav', 'audio/wav', 16_000, 1, 16])
  t.ok(Math.abs(secondsOf(sound) - 26.27) < 0.1, `${secondsOf(sound)} seconds`)
})

t.test('a large file goes in pieces that end at pauses, two at once', { skip }, async (t) => {
  const rate = 16_000
  const samples = Buffer.alloc(1_660 * rate, Buffer.from([98, 98, 98, 98, 158, 158, 158, 158]))
  for (const pause of [590, 1_190]) samples.fill(128, pause * rate, (pause + 1) * rate)
  t.ok(samples.length > 25 * 1024 * 1024, 'over 25 MB')
  let open = 0
  let most = 0
  let meet = () => {}
  const met = new Promise<void>((resolve) => (meet = resolve))
  const ears = await atEars(t, async ({ body }) => {
    most = Math.max(most, ++open)
    if (open === 2) meet()
    await Promise.race([met, wait(5_000)])
    await wait(50)
    open--
    const seconds = secondsOf(soundOf(body.subarray(body.indexOf('RIFF')))!)
    const place = body.length < 16_000_000 ? 'last' : 'other'
    const segments = [{ start: 1, end: Math.floor(seconds), text: place }]
    return jsonTake({ text: place, segments, language: place === 'last' ? 'german' : 'english' })
  })
  const { text, language, duration, segments, truncated } = await write(
    ears,
    wavOf({ rate, channels: 1, bits: 8, samples }),
  )
  t.same([text, language, duration, truncated], ['other other last', 'english', 1_660, false])
  t.equal(most, 2)
  for (const [at, start] of [1, 591.5, 1_191.5].entries()) {
    t.ok(Math.abs(segments[at].start - start) < 0.35, `${segments[at].start} near ${start}`)
  }
  for (const { body } of ears.asked) t.ok(body.length < 25 * 1024 * 1024, `${body.length} bytes`)
})

t.test('a fault in one piece is the answer, and nothing stays', { skip }, async (t) => {
  const folder = t.testdir({})
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  t.teardown(() => (before === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = before)))
  const silence = wavOf({ rate: 8_000, channels: 1, bits: 8, samples: Buffer.alloc(8_000 * 1_201, 128) })
  await t.rejects(write(await atEars(t, () => jsonTake({}, 500)), silence), UpstreamFailed)
  t.same(await readdir(folder), [])
})

t.test('a transcript over the limit is cut and marked', { skip }, async (t) => {
  const ears = await atEars(t, () => jsonTake({ text: 'so it goes '.repeat(50_000) }))
  const { text, segments, truncated } = await write(ears, dialogue)
  t.same([text.length, segments, truncated], [400_000, [], true])
})

t.test('an unreadable file is refused before a model is asked', { skip }, async (t) => {
  const ears = await atEars(t, () => jsonTake(spoken))
  const wav = Buffer.from(wavOf({ rate: 16_000, channels: 1, bits: 16, samples: new Uint8Array(32_000) }))
  wav.writeUInt32LE(36_000 * 32_000, 40)
  await t.rejects(write(ears, wav), Unreadable, 'ten hours, by its header')
  const silent = await readFile('test/vectors/files/video/eight-colours-silent.mkv')
  await t.rejects(write(ears, silent), Unreadable, 'a video without sound')
  t.equal(ears.asked.length, 0)
  const deaf = await atWork(t, transcribeAudioToText, modelOf('eyes'), () => jsonTake(spoken))
  const expected = { models: 'Expected a transcription model' }
  await t.rejects(write(deaf, dialogue), new Unconfigured({ validator: expected }))
})
