import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { use } from '../core/plugin.ts'
import openai from '../plugins/providers/openai.ts'
import { running, unhurried } from './environments.ts'
import { jsonTake } from './fakes/at-work.ts'
import { backend, vector } from './contracts/stage.ts'

/** Packages that this one does not depend on; they are installed only where somebody asks for them. */
const skip = process.env['SEALGATE_PROGRAMS'] !== '1' && 'SEALGATE_PROGRAMS=1 installs and runs them'
const packages = ['openai@7', 'ai@7', '@ai-sdk/openai@4', '@langchain/openai@1', '@langchain/core@1']

t.setTimeout(300_000)

t.test('openai 7, the AI SDK with its transcription, and LangChain take media as they come', { skip }, async (t) => {
  const place = await mkdtemp(join(tmpdir(), 'sealgate-stock-'))
  t.teardown(() => rm(place, { recursive: true, force: true }))
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--prefix', place, ...packages], {
    maxBuffer: 1 << 26,
  })
  const near = createRequire(join(place, 'package.json'))
  const load = async (name: string): Promise<any> => import(pathToFileURL(near.resolve(name)).href)

  const verbose = JSON.parse((await vector('openai/transcription.json')).toString())
  const images = JSON.parse((await vector('openai/images.json')).toString())
  const server = await backend(t, ({ path }) => {
    if (path.endsWith('/audio/speech'))
      return { headers: { 'content-type': 'audio/mpeg' }, body: Uint8Array.of(255, 243, 0) }
    if (path.endsWith('/embeddings'))
      return jsonTake({ data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 1, total_tokens: 1 } })
    return jsonTake(path.includes('/images/') ? images : verbose)
  })
  const of = (type: string) => ({ type, upstreams: [{ provider: 'openai' }] }) as never
  const gateway = await running(
    t,
    { ...memory(), fetch: use(doors), upstreams: [use(openai, { baseUrl: `${server.url}/v1` })] },
    {
      models: {
        'whisper-1': of('AUDIO_TRANSCRIPTION'),
        'gpt-4o-mini-tts': of('AUDIO_SPEECH'),
        'gpt-image-1': of('IMAGE'),
        'text-embedding-3-small': of('EMBEDDING'),
      },
      ...unhurried,
    },
  )
  for (const door of ['/std', '/v1']) {
    const at = { baseURL: gateway.base + door, apiKey: gateway.key }
    const { default: OpenAI, toFile } = await load('openai')
    const client = new OpenAI({ ...at, maxRetries: 0 })
    const file = await toFile(Buffer.from('RIFF'), 'a.wav', { type: 'audio/wav' })
    const heard = await client.audio.transcriptions.create({
      model: 'whisper-1',
      file,
      response_format: 'verbose_json',
    })
    t.same(heard.segments, verbose.segments, `${door}: openai 7`)
    const types: string[] = []
    for await (const { type } of await client.audio.transcriptions.create({ model: 'whisper-1', file, stream: true }))
      types.push(type)
    t.equal(types.at(-1), 'transcript.text.done')
    t.equal((await client.audio.translations.create({ model: 'whisper-1', file })).text, verbose.text)
    t.same((await client.images.edit({ model: 'gpt-image-1', image: file, prompt: 'x' })).usage, images.usage)
    t.equal((await client.embeddings.create({ model: 'text-embedding-3-small', input: [1, 2] })).data.length, 1)

    const { createOpenAI } = await load('@ai-sdk/openai')
    const sdk = await load('ai')
    const provider = createOpenAI(at)
    const transcribe = sdk.transcribe ?? sdk.experimental_transcribe
    const written = await transcribe({
      model: provider.transcription('whisper-1'),
      audio: Buffer.from('RIFF'),
      maxRetries: 0,
    })
    t.equal(written.text, verbose.text, `${door}: the AI SDK transcribes`)
    t.match(written.segments[0], { startSecond: 0 })
    const generateSpeech = sdk.generateSpeech ?? sdk.experimental_generateSpeech
    const spoken = await generateSpeech({ model: provider.speech('gpt-4o-mini-tts'), text: 'Hi', maxRetries: 0 })
    t.equal(spoken.audio.uint8Array.length, 3)
    const generateImage = sdk.generateImage ?? sdk.experimental_generateImage
    const drawn = await generateImage({ model: provider.image('gpt-image-1'), prompt: 'a dot', maxRetries: 0 })
    t.ok(drawn.image.uint8Array.length > 50)
    const { embedding } = await sdk.embed({
      model: provider.embedding('text-embedding-3-small'),
      value: 'x',
      maxRetries: 0,
    })
    t.same(embedding, [1, 2])

    const { OpenAIEmbeddings } = await load('@langchain/openai')
    const chain = new OpenAIEmbeddings({
      model: 'text-embedding-3-small',
      apiKey: gateway.key,
      configuration: { baseURL: at.baseURL },
      maxRetries: 0,
    })
    t.same(await chain.embedQuery('x'), [1, 2], `${door}: LangChain`)
  }
})
