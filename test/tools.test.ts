import './fakes/unwatched.ts'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync, deflateSync } from 'node:zlib'
import t from 'tap'
import { checkedConfig } from '../adapters/production/config.ts'
import { names } from '../adapters/production/discover.ts'
import { production } from '../adapters/production/index.ts'
import { type Client, connect, newKek, newRagDek } from '../core/client/client.ts'
import { running } from './environments.ts'
import { jsonTake, said } from './fakes/at-work.ts'
import { type Asked, type Take, recorded } from './fakes/recorded.ts'

const fixture = (path: string) => readFile(join('test/vectors/files', path))
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Behind the socket: a model that sees, one that draws, one that listens, a search engine, and a page. */
const play = ({ path, body }: Asked): Take => {
  if (path.endsWith('/images/generations')) return jsonTake({ created: 1, data: [{ b64_json: png.toString('base64') }] })
  if (path.endsWith('/audio/transcriptions'))
    return jsonTake({
      task: 'transcribe',
      language: 'en',
      duration: 2,
      text: 'The heron waits.',
      segments: [{ id: 0, start: 0, end: 2, text: 'The heron waits.' }],
    })
  if (path.startsWith('/search'))
    return jsonTake({ results: [{ title: 'Herons', url: 'https://example.org/herons', content: 'Grey herons <b>wait</b>.' }] })
  if (path === '/page')
    return { headers: { 'content-type': 'text/html' }, body: '<html><title>Herons</title><body><h1>Herons</h1><p id=p></p><script>p.textContent = "They wait " + "by script."</script></body></html>' }
  const seen = body.toString().match(/image_url/g)?.length ?? 0
  return said(
    JSON.stringify({
      caption: `A picture of ${seen}`,
      description: 'Something grey',
      objects: ['heron'],
      text: '',
      scenes: [{ time: 0, description: 'It begins' }],
    }),
  )
}

t.test('every tool, sealed, on files that other programs made', async (t) => {
  const backend = await recorded(play)
  t.teardown(() => backend.close())
  const upstreams = [{ provider: 'openai' }]
  const port = Number(new URL(backend.url).port)
  const tools = Object.fromEntries((await names('tools')).map((name) => [name, {}]))
  const config = checkedConfig(
    {
      log: { level: 'silent' },
      providers: {
        openai: { use: 'openai', baseUrl: `${backend.url}/v1`, apiKey: 'k' },
        'use-lite': { use: 'use-lite' },
      },
      models: {
        seer: { confidential: true, input_modalities: ['text', 'image'], upstreams },
        painter: { type: 'IMAGE', confidential: true, upstreams },
        listener: { type: 'AUDIO_TRANSCRIPTION', confidential: true, upstreams },
        vectors: { type: 'EMBEDDING', confidential: true, upstreams: [{ provider: 'use-lite', model: 'use-lite-embedding' }] },
      },
      outside: { allow: ['127.0.0.1'], ports: [port] },
      tools: { ...tools, webSearchTool: { provider: 'searxng', baseUrl: backend.url } },
    },
    {},
  )
  const it = await running(t, await production(config, t.testdir()))
  const client: Client = connect({
    baseUrl: it.base,
    apiKey: it.key,
    policy: { allowInsecureDev: true },
    ...(() => {
      const kek = newKek()
      return { kek, wrappedRagDek: newRagDek(kek) }
    })(),
  })
  const kept = async (path: string, mime = 'application/octet-stream') =>
    (await client.files.upload({ name: path.replace(/^.*\//, ''), mime, bytes: await fixture(path) })).id
  const call = (name: string, params: Readonly<Record<string, unknown>>): Promise<unknown> => client.tools.call(name, params)

  t.same((await client.tools.list()).map(({ name }) => name).sort(), Object.keys(tools).sort(), 'all are listed')

  await t.test('those that make files', async (t) => {
    const made: readonly [string, Readonly<Record<string, unknown>>, RegExp, RegExp][] = [
      ['createFileForUser', { fileName: 'poem', fileExtension: 'md', fileContent: '# Heron', mimeType: 'text/markdown' }, /^poem\.md$/, /^# Heron$/],
      ['generateImage', { prompt: 'a heron' }, /^image\.png$/, /^.PNG/],
      ['audioGenerateFromText', { text: 'The heron waits.' }, /\.wav$/, /^RIFF....WAVE/s],
    ]
    for (const [tool, params, name, content] of made) {
      const file = (await call(tool, params)) as { fileId: string; name: string }
      t.match(file.name, name, tool)
      const bytes = await (await client.files.download(file.fileId)).bytes()
      t.match(Buffer.from(bytes).toString('latin1'), content, `${tool}: content`)
    }
  })

  const readers: Readonly<Record<string, readonly (readonly [file: string, answer: RegExp, more?: object])[]>> = READERS
  for (const [tool, cases] of Object.entries(readers))
    await t.test(tool, async (t) => {
      for (const [file, answer, more] of cases) {
        const result = JSON.stringify(await call(tool, { fileId: await kept(file), ...more }))
        t.match(result, answer, file)
      }
    })
})
