import '../../fakes/unwatched.ts'
import t from 'tap'
import { Unconfigured } from '../../../core/errors.ts'
import { secondsOf, soundOf, wavOf } from '../../../plugins/shared/sounds/wav.ts'
import type { MadeFile } from '../../../core/ports/tool.ts'
import audioGenerateFromText from '../../../plugins/tools/audioGenerateFromText.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { atWork, jsonTake, modelOf, type AtWork } from '../../fakes/at-work.ts'
import type { Asked, Take } from '../../fakes/recorded.ts'

const speaking = modelOf('voice', { type: 'AUDIO_SPEECH' })
const silent = () => jsonTake({}, 500)
const offline = (t: Parameters<typeof atWork>[0], settings: object = {}) =>
  atWork(t, audioGenerateFromText, {}, silent, settings)
const run = ({ tool }: AtWork, text: string): Promise<MadeFile> =>
  tool.kind === 'makes-file' ? tool.run({ text }, AbortSignal.timeout(20_000)) : Promise.reject(new Error(tool.kind))

/** A second a character, as a server streams it: without its length. */
const speaks = ({ body }: Asked): Take => {
  const { input, response_format } = JSON.parse(String(body))
  if (response_format !== 'wav') return { headers: { 'content-type': 'audio/mpeg' }, body: `mp3 of ${input}` }
  const samples = Buffer.alloc(input.length * 2, input.at(0))
  const wav = Buffer.from(wavOf({ rate: 1, channels: 1, bits: 16, samples }))
  wav.writeUInt32LE(0xffffffff, 4)
  wav.writeUInt32LE(0xffffffff, 40)
  return { headers: { 'content-type': 'audio/wav' }, body: wav }
}

t.test('contract', (t) =>
  conform(t, tool.contract, async (t) => ({
    tool: (await offline(t)).tool,
    good: { params: { text: 'Good morning.' } },
    bad: { params: { text: '日本語のテキスト' } },
  })),
)

t.test('speaks by itself where no model does', async (t) => {
  const { name, mime, bytes } = await run(
    await offline(t),
    'Good morning. The train to Oxford leaves at ten past nine.',
  )
  t.same([name, mime], ['speech.wav', 'audio/wav'])
  const sound = soundOf(bytes)!
  t.ok(secondsOf(sound) > 3 && secondsOf(sound) < 6, `${secondsOf(sound)} seconds`)
  const other = await run(await offline(t, { voice: 'kal16', format: 'pcm' }), 'Good morning.')
  t.equal(other.name, 'speech.pcm')
  t.notSame(other.bytes, bytes)
})

t.test('the configured model speaks, with its voice and format', async (t) => {
  const settings = { voice: 'alloy', format: 'mp3' }
  const tool = await atWork(t, audioGenerateFromText, speaking, speaks, settings)
  const made = await run(tool, 'Bonjour.')
  t.same([made.name, made.mime, String(made.bytes)], ['speech.mp3', 'audio/mpeg', 'mp3 of Bonjour.'])
  t.equal(tool.asked[0]!.path, '/audio/speech')
  t.same(JSON.parse(String(tool.asked[0]!.body)), {
    model: 'its-voice',
    input: 'Bonjour.',
    voice: 'alloy',
    response_format: 'mp3',
  })
})

t.test('a long text is asked for in parts, and is one file', async (t) => {
  const tool = await atWork(t, audioGenerateFromText, speaking, speaks)
  const sentences = Array.from(
    { length: 200 },
    (_, index) => `${index} bottles are on the wall, and one of them falls.`,
  )
  const made = await run(tool, sentences.join(' '))
  const inputs = tool.asked.map(({ body }) => JSON.parse(String(body)).input as string)
  t.ok(inputs.length >= 3 && inputs.every((input) => input.length <= 4000), `${inputs.length} parts`)
  t.equal(inputs.join(' '), sentences.join(' '), 'nothing is lost')
  t.equal(secondsOf(soundOf(made.bytes)!), inputs.join('').length)
})

t.test('a model that is named and not there is not replaced', async (t) => {
  const work = await offline(t, { model: 'gone' })
  const fault = await run(work, 'Hello').catch((error: unknown) => error)
  t.ok(fault instanceof Unconfigured, 'the operator wants another voice')
  t.match(fault, { validator: { models: 'Expected a speech model' } })
})
