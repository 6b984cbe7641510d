import '../../fakes/unwatched.ts'
import { execFileSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import t from 'tap'
import { Unconfigured, Unreadable, UpstreamFailed } from '../../../core/errors.ts'
import { secondsOf, soundOf } from '../../../plugins/shared/sounds/wav.ts'
import videoDescribeAndCaption from '../../../plugins/tools/videoDescribeAndCaption.ts'
import type { OpenFile } from '../../../core/ports/tool.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { atWork, jsonTake, modelOf, said, type AtWork } from '../../fakes/at-work.ts'
import type { Asked } from '../../fakes/recorded.ts'
import { bytesOf, madeOf, opened, params, skip } from './tried.ts'

const seeing = modelOf('eyes', { input_modalities: ['text', 'image'] })
const hearing = modelOf('ears', { type: 'AUDIO_TRANSCRIPTION' })
const colours = ['red', 'green', 'blue', 'white', 'black', 'yellow', 'cyan', 'magenta']
const speech = 'Eight colours, one after the other, each for a second.'
const answer = {
  caption: 'Eight colours.',
  description: 'One colour follows the other.',
  scenes: [
    { time: 4, description: 'It is black.' },
    { time: '0:01', description: 'It is green.' },
    { time: 900, description: 'It ends.' },
    'nonsense',
  ],
}

const plays = ({ path }: Asked) =>
  path.endsWith('/transcriptions') ? jsonTake({ text: speech }) : said(JSON.stringify(answer))

const fileOf = async (name: string) => opened(await bytesOf(`video/${name}`))

const watch = ({ tool }: AtWork, file: OpenFile, signal = AbortSignal.timeout(30_000)) => madeOf(tool, file, {}, signal)

/** What the backend was shown: pictures with the words before them, and the words behind the last. */
const shown = ({ asked: requests }: AtWork) => {
  const { body } = requests.find(({ path }) => path.endsWith('/chat/completions'))!
  const parts = JSON.parse(String(body)).messages[0].content as { text?: string; image_url?: { url: string } }[]
  const at = parts.flatMap(({ image_url }, index) => (image_url ? [index] : []))
  return {
    pictures: at.map((index) =>
      Buffer.from(parts[index]!.image_url!.url.replace(/^data:image\/jpeg;base64,/, ''), 'base64'),
    ),
    labels: at.map((index) => parts[index - 1]!.text ?? ''),
    rest: parts.slice(at.at(-1)! + 1).map(({ text }) => text),
  }
}

/** The colour in the middle of each picture, by a decoder that takes valid ones alone. */
const coloursOf = (pictures: readonly Buffer[]): readonly string[] => {
  const given = ['-v', 'error', '-xerror', '-f', 'image2pipe', '-c:v', 'mjpeg', '-i', '-', '-vf', 'scale=1:1']
  const raw = execFileSync('ffmpeg', [...given, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'], {
    input: Buffer.concat(pictures),
  })
  return pictures.map((_, index) => {
    const bits = [...raw.subarray(index * 3, index * 3 + 3)].map((value) => (value > 128 ? 1 : 0)).join('')
    return {
      '100': 'red',
      '010': 'green',
      '001': 'blue',
      '111': 'white',
      '000': 'black',
      '110': 'yellow',
      '011': 'cyan',
      '101': 'magenta',
    }[bits]!
  })
}

t.test('contract', { skip }, async (t) => {
  const good = { params, file: await fileOf('eight-colours-silent.mkv') }
  const bad = { params, file: opened(Buffer.from('words, not a video')) }
  await conform(t, tool.contract, async (t) => ({
    tool: (await atWork(t, videoDescribeAndCaption, seeing, plays)).tool,
    good,
    bad,
  }))
})

t.test('a video gives eight frames in order, and its transcript', { skip }, async (t) => {
  const folders = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('video-'))
  const before = await folders()
  const tool = await atWork(t, videoDescribeAndCaption, { ...hearing, ...seeing }, plays)
  const result = await watch(tool, await fileOf('eight-colours-with-speech.mp4'))
  const { duration, ...rest } = result
  t.ok(duration > 7.5 && duration <= 8, `${duration} seconds`)
  t.same(rest, {
    caption: 'Eight colours.',
    description: 'One colour follows the other.',
    scenes: [
      { time: 1, description: 'It is green.' },
      { time: 4, description: 'It is black.' },
      { time: duration, description: 'It ends.' },
    ],
    transcript: speech,
    model: 'eyes',
    truncated: false,
  })
  const { pictures, labels, rest: words } = shown(tool)
  t.same(coloursOf(pictures), colours)
  t.match(labels[0], /^Picture 1 of 8, at 0\.4\d? of 7\.\d+ seconds:$/)
  t.match(labels[7], /^Picture 8 of 8, at 7\.\d+ of/)
  t.same(words, [`What is said in the video:\n${speech}`])

  const form = tool.asked.find(({ path }) => path.endsWith('/transcriptions'))!.body
  t.ok(form.includes('its-ears'), 'the model is named')
  const sound = soundOf(form.subarray(form.indexOf('RIFF')))!
  t.match(sound, { rate: 16_000, channels: 1, bits: 16 })
  const heard = new Int16Array(sound.samples.slice().buffer).slice(0, 3 * 16_000)
  t.ok(secondsOf(sound) > 3 && Math.hypot(...heard) / Math.sqrt(heard.length) > 300, 'somebody speaks')
  t.same(await folders(), before, 'nothing stays behind')
})

t.test('other containers, one without a length', { skip }, async (t) => {
  for (const name of ['eight-colours-without-length.webm', 'eight-colours.avi']) {
    const tool = await atWork(t, videoDescribeAndCaption, seeing, plays)
    const { transcript, duration } = await watch(tool, await fileOf(name))
    t.equal(transcript, null, 'nobody listens')
    t.ok(duration > 7.5 && duration < 8.3, `${name}: ${duration} seconds`)
    t.same(coloursOf(shown(tool).pictures), colours, name)
    t.equal(tool.asked.length, 1)
  }
})

t.test('silence, and a sound that is refused', { skip }, async (t) => {
  const hears = (status: number) =>
    atWork(t, videoDescribeAndCaption, { ...hearing, ...seeing }, (request) =>
      request.path.endsWith('/transcriptions') ? jsonTake({ error: {} }, status) : plays(request),
    )
  const silent = await hears(500)
  t.equal((await watch(silent, await fileOf('eight-colours-silent.mkv'))).transcript, null)
  t.equal(silent.asked.length, 1, 'there was nothing to transcribe')
  const file = await fileOf('eight-colours-with-speech.mp4')
  t.match(await watch(await hears(400), file), { transcript: null, caption: 'Eight colours.' })
  const fault = await watch(await hears(500), file).catch((error: unknown) => error)
  t.ok(fault instanceof UpstreamFailed, 'may be tried again')
})

t.test('a file that is no video, and a gateway without a seeing model', { skip }, async (t) => {
  const tool = await atWork(t, videoDescribeAndCaption, seeing, plays)
  const fault = (bytes: Uint8Array, by = tool) => watch(by, opened(bytes)).catch((error: unknown) => error)
  const { bytes } = await fileOf('eight-colours-with-speech.mp4')
  t.ok((await fault(bytes.subarray(0, 3000))) instanceof Unreadable, 'cut off')
  const list = Buffer.from(`#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n`)
  t.ok((await fault(list)) instanceof Unreadable, 'a list of files')
  t.equal(tool.asked.length, 0)
  const blind = await atWork(t, videoDescribeAndCaption, modelOf('blind'), plays)
  t.ok((await fault(bytes, blind)) instanceof Unconfigured, 'no model that sees')
  const controller = new AbortController()
  const reason = new Error('enough')
  const work = watch(tool, opened(bytes), controller.signal)
  setImmediate(() => controller.abort(reason))
  t.equal(await work.catch((error: unknown) => error), reason)
})
