import '../../fakes/unwatched.ts'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import { decodeAudio } from '../../../plugins/tools/shared/audio.ts'
import { wavOf } from '../../../plugins/shared/sounds/wav.ts'
import audioDiarization from '../../../plugins/tools/audioDiarization.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { quietClock } from '../../slowness.ts'
import { bytesOf, madeOf, opened, params, skip, toolOf } from './tried.ts'

const made = () => toolOf(audioDiarization)
const soundOf = (name: string) => bytesOf(`audio/${name}`)
const listen = (bytes: Uint8Array, signal = AbortSignal.timeout(150_000)) => madeOf(made(), opened(bytes), {}, signal)

/** Whose turn it was, and its seconds. */
type Truth = readonly (readonly [speaker: number, start: number, end: number])[]

const two: Truth = [
  [1, 0.36, 3.98],
  [2, 4.74, 8.59],
  [1, 9.47, 16.56],
  [2, 17.09, 20.89],
]
const three: Truth = [
  [1, 0.37, 2.86],
  [2, 3.18, 7.65],
  [3, 7.95, 11.09],
  [1, 11.65, 14.57],
  [3, 14.84, 18.5],
  [2, 18.75, 25.71],
]

/** The share of the speech that is given to the one who speaks. */
const right = (truth: Truth, segments: readonly { speaker: string; start: number; end: number }[]): number => {
  const shared = truth.flatMap(([speaker, start, end]) =>
    segments
      .filter((segment) => segment.speaker === `Speaker ${speaker}`)
      .map((segment) => Math.max(0, Math.min(end, segment.end) - Math.max(start, segment.start))),
  )
  const sum = (seconds: readonly number[]) => seconds.reduce((all, second) => all + second, 0)
  return sum(shared) / sum(truth.map(([, start, end]) => end - start))
}

const silence = wavOf({ rate: 8_000, channels: 2, bits: 16, samples: new Uint8Array(8_000 * 4 * 2) })

t.test('contract', { skip }, async (t) => {
  const good = { params, file: opened(silence) }
  const bad = { params, file: opened(Buffer.from('words, and nobody who speaks them')) }
  await conform(t, tool.contract, () => ({ tool: made(), good, bad }))
})

t.test('tells who speaks when', { skip }, async (t) => {
  const names = ['dialogue-of-two.ogg', 'dialogue-of-three.mp3', 'monologue-in-a-video.mp4']
  const heard = await Promise.all(names.map(async (name) => listen(await soundOf(name))))
  const [dialogue, trialogue, monologue] = heard
  t.match(dialogue, { duration: 21.73, speakers: 2, truncated: false })
  t.ok(right(two, dialogue.segments) > 0.95, `of two: ${right(two, dialogue.segments)}`)
  t.match(trialogue, { speakers: 3, truncated: false })
  t.ok(right(three, trialogue.segments) > 0.95, `of three: ${right(three, trialogue.segments)}`)
  t.match(monologue, { speakers: 1, segments: [{ speaker: 'Speaker 1' }] })
  t.ok(right([[1, 0.23, 7.41]], monologue.segments) > 0.9, 'the sound track of a video')
  for (const { guess } of heard) {
    t.equal(guess.by, 'pitch and timbre', 'the result says that it is a guess')
    t.ok(guess.confidence > 0.5 && guess.confidence <= 1, `and how sure: ${guess.confidence}`)
  }
})

t.test('a recording without speech has no speaker', { skip }, async (t) => {
  const guess = { by: 'pitch and timbre', confidence: null }
  t.same(await listen(silence), { duration: 2, speakers: 0, segments: [], truncated: false, guess })
})

t.test('a file that claims ten hours is refused before decoding', { skip }, async (t) => {
  const wav = Buffer.from(wavOf({ rate: 16_000, channels: 1, bits: 16, samples: new Uint8Array(32_000) }))
  wav.writeUInt32LE(36_000 * 32_000, 40)
  const mp4 = Buffer.from(await soundOf('monologue-in-a-video.mp4'))
  const head = mp4.indexOf('mvhd')
  mp4.writeUInt32BE(mp4.readUInt32BE(head + 16) * 36_000, head + 20)
  for (const [name, bytes] of Object.entries({ wav, mp4 })) {
    const clock = quietClock()
    await t.rejects(listen(bytes), Unreadable, name)
    const ms = clock()
    t.ok(ms < 2_000, `${name}: ${ms} ms`)
  }
})

t.test('a file with a million empty chunks before its sound is refused before decoding', { skip }, async (t) => {
  const chunk = Buffer.from('junk\0\0\0\0', 'latin1')
  const chunked = (count: number) =>
    Buffer.concat([silence.subarray(0, 12), Buffer.alloc(count * chunk.length, chunk), silence.subarray(12)])
  t.match(await listen(chunked(1_000)), { speakers: 0 })
  await t.rejects(listen(chunked(1_000_000)), Unreadable)
  const begun = process.cpuUsage().user
  for (let nth = 0; nth < 5; nth++) await t.rejects(listen(chunked(1_000_000)), Unreadable)
  t.ok(process.cpuUsage().user - begun < 400_000, `${process.cpuUsage().user - begun} µs`)
})

t.test('reads so much and no more, from a file of its own that it removes', { skip }, async (t) => {
  const folder = t.testdir({})
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  t.teardown(() => (before === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = before)))
  const bytes = await soundOf('dialogue-of-three.mp3')
  const decoded = decodeAudio(bytes, 12.5)
  const lengths: number[] = []
  for await (const samples of decoded.blocks(AbortSignal.timeout(20_000))) {
    lengths.push(samples.length)
    const [own] = await readdir(folder)
    t.equal((await stat(join(folder, own!))).mode & 0o777, 0o700)
    t.equal((await stat(join(folder, own!, 'sound'))).mode & 0o777, 0o600)
  }
  t.same([lengths, decoded.seconds, decoded.truncated], [[160_000, 40_000], 12.5, true])
  for await (const _ of decodeAudio(bytes).blocks(AbortSignal.timeout(20_000))) break
  await t.rejects(listen(bytes, AbortSignal.timeout(100)), { name: 'TimeoutError' })
  await t.rejects(listen(bytes.subarray(0, 100)), Unreadable)
  t.same(await readdir(folder), [], 'left early, stopped or broken: nothing stays')
})

t.test('opens no other file', { skip }, async (t) => {
  const other = join(process.cwd(), 'test/vectors/files/audio/dialogue-of-two.ogg')
  await t.rejects(listen(Buffer.from(`#EXTM3U\n#EXTINF:10,\n${other}\n#EXT-X-ENDLIST\n`)), Unreadable)
  await t.rejects(listen(Buffer.from(`ffconcat version 1.0\nfile ${other}\n`)), Unreadable)
})

t.test('the error names the missing program', async (t) => {
  const before = process.env['PATH']
  process.env['PATH'] = t.testdir({})
  t.teardown(() => (process.env['PATH'] = before))
  await t.rejects(listen(new Uint8Array(8)), new Unconfigured({ validator: { ffprobe: 'Expected to be installed' } }))
})
