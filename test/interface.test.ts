import './fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { pluginNames } from '../adapters/production/config/load-plugin.ts'
import { production } from '../adapters/production/index.ts'
import { type Running, running, unhurried } from './environments.ts'
import { jsonTake, said } from './fakes/at-work.ts'
import { type Kept, type Labels, type Literal, literalClient, stored } from './fakes/literal-client.ts'
import { type Asked, type Take, recorded } from './fakes/recorded.ts'
import { chapters } from './interface/chapters.ts'
import { inference, stageOf } from './interface/inference.ts'
import { sceneOf as chaptersScene } from './interface/scene.ts'
import { until } from './until.ts'
import { isWhole, sampled, seed } from './whole.ts'

const fixture = async (path: string) => new Uint8Array(await readFile(join('test/vectors/files', path)))

/** Behind the socket: a model that sees, one that draws, one that listens, and a search engine that repeats what it was asked. */
const play = ({ path, body }: Asked): Take => {
  if (path.endsWith('/images/generations')) return jsonTake({ created: 1, data: [{ b64_json: png }] })
  if (/\/audio\/trans/.test(path)) {
    const language = /name="language"\r\n\r\n(\w+)/.exec(body.toString('latin1'))?.[1] ?? 'none'
    const text = `The heron waits in ${language}.`
    const segments = [{ id: 0, start: 0, end: 2, text }]
    const words = body.includes('word\r\n') ? { segments: dialogue, words: dialogue.flatMap(wordsOf) } : {}
    return jsonTake({ task: 'transcribe', language: 'en', duration: 2, text, segments, ...words })
  }
  if (path.includes('/listen')) {
    const heard = { transcript: 'The heron waits.', words: [{ word: 'heron', start: 0, end: 1, speaker: 0 }] }
    return jsonTake({ metadata: { duration: 2 }, results: { channels: [{ alternatives: [heard] }] } })
  }
  if (path.startsWith('/search'))
    return jsonTake({ results: [{ title: path, url: 'https://example.org/', content: '' }] })
  return said(JSON.stringify({ caption: 'A heron', description: 'Grey', objects: [], text: '', scenes: [] }))
}

/** What two people say in `dialogue-of-two.ogg`, as a model writes it that knows times and no speakers. */
const dialogue = [
  { id: 0, start: 0.36, end: 3.98, text: 'The heron waits.' },
  { id: 1, start: 4.74, end: 12, text: 'For whom? For the ferry.' },
]

/** Words of equal length; the second segment goes on after the speaker has changed. */
const wordsOf = ({ start, end, text }: (typeof dialogue)[number]) => {
  const all = text.split(' ')
  const step = (end - start) / all.length
  return all.map((word, at) => ({ word, start: start + at * step, end: start + (at + 1) * step }))
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

interface Scene {
  readonly gateway: Running
  /** What a backend was asked last. */
  asked(): Asked
  readonly client: Literal
}

const sceneOf = async (t: Test, enclave: object = {}): Promise<Scene> => {
  const backend = await recorded(play)
  t.teardown(() => backend.close())
  const upstreams = [{ provider: 'openai' }]
  const config = checkedConfig(
    {
      log: { level: 'silent' },
      enclave,
      providers: {
        openai: { use: 'openai', baseUrl: `${backend.url}/v1`, apiKey: 'k' },
        deepgram: { use: 'deepgram', baseUrl: `${backend.url}/v1`, apiKey: 'k' },
      },
      models: {
        seer: { confidential: true, input_modalities: ['text', 'image'], upstreams },
        painter: { type: 'IMAGE', confidential: true, upstreams },
        listener: { type: 'AUDIO_TRANSCRIPTION', confidential: true, upstreams },
        nova: { type: 'AUDIO_TRANSCRIPTION', confidential: true, upstreams: [{ provider: 'deepgram' }] },
      },
      outside: { allow: ['127.0.0.1'], ports: [Number(new URL(backend.url).port)] },
      tools: {
        ...Object.fromEntries(pluginNames('tools').map((name) => [name, {}])),
        webSearchTool: { provider: 'searxng', baseUrl: backend.url },
      },
    },
    {},
  )
  const gateway = await running(t, await production(config, t.testdir()), unhurried)
  return { gateway, client: literalClient(gateway.base, gateway.key), asked: () => backend.asked.at(-1)! }
}

/** One statement of the interface, and what shows that it holds. */
type Row = readonly [statement: string, holds: (t: Test, scene: Scene) => Promise<void>]

/** Names and types that say nothing, as a client writes them that knows none. */
const unnamed: Labels = { name: 'a', mime: 'application/octet-stream' }

const reads: readonly (readonly [tool: string, file: string, answer: RegExp])[] = [
  ['imageDescribeAndCaption', 'image/order.png', /A heron/],
  ['imageDescribeAndCaptionFallback', 'image/order.bmp', /"format":"bmp"/],
  ['videoDescribeAndCaption', 'video/eight-colours-with-speech.mp4', /The heron waits/],
  ['getPDFContent', 'pdf/two-pages-with-headings-and-umlauts.pdf', /Lübeck/],
  ['getTextDocumentContent', 'docx/harvest.docx', /Boskoop/],
  ['getTextDocumentContent', 'odt/harvest.odt', /Boskoop/],
  ['getTextDocumentContent', 'rtf/harvest.rtf', /Boskoop/],
  ['getTextDocumentContent', 'html/harvest.html', /Boskoop/],
  ['getTextDocumentContent', 'txt/harvest.txt', /Boskoop/],
  ['audioDiarization', 'audio/dialogue-of-two.ogg', /"speakers":2/],
  ['getFileContentOCR', 'image/order.png', /forty lanterns/i],
  ['getSpreadsheetContent', 'xlsx/orders-two-sheets.xlsx', /"format":"xlsx"/],
  ['getSpreadsheetContent', 'csv/semicolons-quoted-newline.csv', /"format":"csv"/],
  ['getDataFileContent', 'json/tree.json', /"format":"json"/],
  ['getDataFileContent', 'jsonl/nested-records.jsonl', /"format":"jsonl"/],
  ['getDataFileContent', 'toml/dates.toml', /"format":"toml"/],
  ['getDataFileContent', 'csv/semicolons-quoted-newline.csv', /"format":"csv"/],
  ['getDataFileContent', 'tsv/utf-16.tsv', /"format":"tsv"/],
  ['getPowerPointContent', 'pptx/orchard.pptx', /Gäste begrüßen/],
  ['getPowerPointContent', 'odp/orchard.odp', /./],
  ['transcribeAudioToText', 'audio/dialogue-of-two.ogg', /The heron waits/],
  ['transcribeAudioWithDiarization', 'audio/dialogue-of-two.ogg', /The heron waits/],
]

const read = ([tool, file, answer]: (typeof reads)[number]): Row => [
  `4.9 ${tool} reads ${file} of a literal client`,
  async (t, { client }) => {
    const kept = await client.upload(await fixture(file), unnamed)
    const { status, body } = await client.tool(tool, { fileId: kept.record.id }, kept)
    t.equal(status, 200)
    t.match(JSON.stringify(body), answer)
  },
]

const statusOf = async ({ client }: Scene, { record }: Kept): Promise<string> =>
  (await client.send(`/files/encrypted/${record.id}`)).body.data.rag_status

const indexed = async (t: Test, scene: Scene, files: readonly Kept[]): Promise<void> => {
  const agreement = await scene.client.agree()
  const items = files.map((file) => scene.client.indexItem(agreement, file))
  const { status, body } = await scene.client.send('/files/encrypted/index', { body: { files: items } })
  t.equal(status, 200)
  t.same(
    body.data.results,
    files.map(({ record }) => ({ file_id: record.id, rag_status: 'running', success: true })),
  )
  for (const file of files) {
    await until(async () => !/running|pending/.test(await statusOf(scene, file)), 60_000)
    t.equal(await statusOf(scene, file), 'completed')
  }
}

const files: readonly Row[] = [
  [
    '4.12 a file of a literal client is indexed, whatever it is',
    async (t, scene) => {
      const paths = [
        'xlsx/orders-two-sheets.xlsx',
        'pdf/two-pages-with-headings-and-umlauts.pdf',
        'odp/orchard.odp',
        'xls/orders-two-sheets.xls',
      ]
      for (const path of paths) await indexed(t, scene, [await scene.client.upload(await fixture(path), unnamed)])
    },
  ],
  [
    '2.5 name and type may be anything that was encrypted on the client',
    async (t, { client }) => {
      const content = new TextEncoder().encode('# Heron\n\nIt waits.')
      const other = new Uint8Array(32)
      const kept = await client.upload(content, unnamed, {
        encrypted_name: stored(other, 'poem.md'),
        mime_type: 'ab'.repeat(30),
      })
      const { status, body } = await client.tool('getTextDocumentContent', { fileId: kept.record.id }, kept)
      t.equal(status, 200)
      t.match(body, { format: 'txt' })
    },
  ],
  [
    '2.5 the name of a literal client tells what a text is',
    async (t, { client }) => {
      const content = new TextEncoder().encode('# Heron\n\nIt waits.')
      const kept = await client.upload(content, { name: 'poem.md', mime: 'text/markdown' })
      const { body } = await client.tool('getTextDocumentContent', { fileId: kept.record.id }, kept)
      t.match(body, { format: 'md' })
    },
  ],
  [
    '4.9 content under another key is refused, and not its labels',
    async (t, { client }) => {
      const kept = await client.upload(new TextEncoder().encode('text'), unnamed)
      const wrong = { ...kept, dek: new Uint8Array(32) }
      const { status, body } = await client.tool('getTextDocumentContent', { fileId: kept.record.id }, wrong)
      t.equal(status, 400)
      t.match(body, { code: 'unreadable_file' })
    },
  ],
]

const tools: readonly Row[] = [
  [
    '2.6 a tool has four names, and the JSON schema of its parameters',
    async (t, { client }) => {
      const { body } = await client.send('/tools')
      const tool = body.data.find(({ name }: { name: string }) => name === 'searchRag')
      t.match(tool, { name: String, normalizedName: String, shortName: String, description: /fileIds/ })
      const { properties, required, additionalProperties } = tool.parameters
      t.same([required, additionalProperties], [['query'], false])
      t.match(properties, { fileIds: { type: 'array', description: /ids of the files/ }, file_ids: { type: 'array' } })
      t.ok(body.data.every(({ parameters }: { parameters: any }) => parameters.type === 'object'))
    },
  ],
  [
    '4.9 searchRag has an optional file filter, under either name',
    async (t, scene) => {
      const { client } = scene
      const text = (at: string) => new TextEncoder().encode(`The ferry leaves from ${at}.`)
      const [here, there] = [await client.upload(text('here'), unnamed), await client.upload(text('there'), unnamed)]
      await indexed(t, scene, [here])
      await indexed(t, scene, [there])
      for (const name of ['fileIds', 'file_ids']) {
        const { body } = await client.tool('searchRag', { query: 'ferry', [name]: [there.record.id] })
        t.same(
          body.results.map(({ fileId }: { fileId: string }) => fileId),
          [there.record.id],
        )
      }
      const both = await client.tool('searchRag', { query: 'ferry', fileIds: [], file_ids: [] })
      t.match(both.body, { code: 'invalid_parameters', field: 'file_ids' })
    },
  ],
  [
    '4.9 a parameter that a tool does not have is refused by its name',
    async (t, { client }) => {
      for (const [tool, params, field] of [
        ['getTime', { timezone: 'UTC', zone: 'UTC' }, 'zone'],
        ['searchRag', { query: 'ferry', files: [] }, 'files'],
      ] as const) {
        const { status, body } = await client.tool(tool, params)
        t.equal(status, 400)
        t.same(body, { code: 'invalid_parameters', field })
      }
      t.equal((await client.tool('getTime', { timezone: 'UTC', $own: 1 })).status, 200)
    },
  ],
  [
    '4.9 null and an empty text stand for an optional parameter that is absent',
    async (t, { client }) => {
      const params = { query: 'herons', country: '', searchLang: null }
      const { status, body } = await client.tool('webSearchTool', params)
      t.equal(status, 200)
      t.notMatch(body.results[0].title, /language/)
      const required = await client.tool('webSearchTool', { query: '' })
      t.match(required.body, { code: 'invalid_parameters', field: 'query' })
    },
  ],
  [
    '4.9 countries and languages may be named',
    async (t, { client }) => {
      const found = await client.tool('webSearchTool', { query: 'herons', country: 'Germany', searchLang: 'English' })
      t.match(found.body.results[0].title, /language=en-DE/)
      const kept = await client.upload(await fixture('audio/dialogue-of-two.ogg'), unnamed)
      const params = { fileId: kept.record.id, language: 'German' }
      const heard = await client.tool('transcribeAudioToText', params, kept)
      t.match(heard.body.text, /waits in de/)
    },
  ],
]

const indexing: readonly Row[] = [
  [
    '4.12 files may share one cipher text: one encapsulation, and a result for each of them',
    async (t, scene) => {
      const { client } = scene
      const text = (at: number) => new TextEncoder().encode(`The ferry number ${at} leaves at noon.`)
      const kept = await Promise.all([1, 2, 3].map((at) => client.upload(text(at), unnamed)))
      const agreement = await client.agree()
      const rag = client.part(agreement, 'encrypted_rag_dek', 'rag_dek_nonce', client.ragDek)
      const items = kept.map((file) => ({ ...client.indexItem(agreement, file), ...rag }))
      const unknown = { ...items[0]!, file_id: 'file_none' }
      const files = [...items, unknown]
      const { body } = await client.send('/files/encrypted/index', { body: { files } })
      t.same(
        body.data.results.map(({ success }: { success: boolean }) => success),
        [true, true, true, false],
        'all that are there run, also with one retrieval key that was sealed once',
      )
      for (const file of kept) {
        await until(async () => !/running|pending/.test(await statusOf(scene, file)), 60_000)
        t.equal(await statusOf(scene, file), 'completed')
      }
      const again = await client.send('/files/encrypted/index', { body: { files: items } })
      t.match(again.body.data.enclave_response[0], { code: 'undecryptable' }, 'it is entered, and opens no second time')
      const mixed = items.map((item) => ({ ...item, file_nonce: items[0]!.file_nonce }))
      const shared = await client.send('/files/encrypted/index', { body: { files: mixed } })
      t.notOk(shared.body.data.results[0].success, 'a nonce never seals two things')
    },
  ],
  [
    '4.12 of files that share a cipher text each has its own end',
    async (t, scene) => {
      const { client } = scene
      const text = new TextEncoder().encode('The ferry leaves at noon.')
      const good = await client.upload(text, unnamed)
      const bad = { ...(await client.upload(text, unnamed)), dek: new Uint8Array(32) }
      const agreement = await client.agree()
      const files = [good, bad].map((file) => client.indexItem(agreement, file))
      await client.send('/files/encrypted/index', { body: { files } })
      for (const file of [good, bad]) await until(async () => !/running/.test(await statusOf(scene, file)), 60_000)
      t.same(await Promise.all([good, bad].map((file) => statusOf(scene, file))), ['completed', 'failed'])
      const reasonOf = async ({ record }: { record: { id: string } }) =>
        (await client.send(`/files/encrypted/${record.id}`)).body.data.rag_error
      t.same(await Promise.all([good, bad].map(reasonOf)), [null, 'unreadable_file'], 'and the record tells why')
    },
  ],
  [
    '8 files in an index request have a minimum of one, and no maximum of a hundred',
    async (t, { client }) => {
      const agreement = await client.agree()
      const nowhere = { record: { id: 'file_none', file_path: 'none' }, dek: new Uint8Array(32) }
      const files = Array.from({ length: 101 }, (_, at) => ({
        ...client.indexItem(agreement, nowhere),
        file_id: `f${at}`,
      }))
      const { status, body } = await client.send('/files/encrypted/index', { body: { files } })
      t.equal(status, 200)
      t.equal(body.data.results.length, 101)
      t.equal((await client.send('/files/encrypted/index', { body: { files: [] } })).status, 400)
    },
  ],
]

const uploads: readonly Row[] = [
  [
    '4.10 encrypted_content is hex, in a form as in JSON',
    async (t, { client }) => {
      const dek = new Uint8Array(32)
      const fields = client.fileFields(dek, unnamed, new TextEncoder().encode('The heron waits.'))
      const texts = new FormData()
      for (const [name, value] of Object.entries(fields)) texts.set(name, value)
      const { status, body } = await client.send('/files/encrypted/upload', { form: texts })
      t.equal(status, 200)
      t.equal(body.data.file_size, fields.encrypted_content.length / 2)
      const { body: text } = await client.tool(
        'getTextDocumentContent',
        { fileId: body.data.id },
        { dek, record: body.data },
      )
      t.match(JSON.stringify(text), /heron waits/)
      texts.set('encrypted_content', 'zz')
      t.match((await client.send('/files/encrypted/upload', { form: texts })).body.validator, {
        encrypted_content: /hex/,
      })
      texts.set('client_hash', 'another')
      texts.set('encrypted_content', new Blob([new Uint8Array(50)]))
      t.equal((await client.send('/files/encrypted/upload', { form: texts })).body.data.file_size, 50, 'a file is raw')
      const { body: described } = await client.send('/openapi.json')
      const { content } = described.paths['/files/encrypted/upload'].post.requestBody
      t.same(Object.keys(content), ['application/json', 'multipart/form-data'])
      t.match(content['application/json'].schema.properties, {
        type_hint: { anyOf: [{ description: /kind of file/ }] },
        name_tag: { anyOf: [{ description: /tag of the name/ }] },
      })
    },
  ],
  [
    '4.10 fields that the interface does not name are passed over, nested ones too',
    async (t, { client }) => {
      const kept = await client.upload(new Uint8Array(3), unnamed, {
        meta: { tags: ['a "quoted\\" ]', { b: [] }] },
        list: [],
      })
      t.match(kept.record, { type: 'encrypted', version: '1' })
      const deep = JSON.parse('['.repeat(100) + ']'.repeat(100))
      await t.rejects(client.upload(new Uint8Array(3), unnamed, { deep }), /Malformed JSON/)
    },
  ],
  [
    '4.10 client_hash is a hash of any form, and finds its duplicate',
    async (t, { client }) => {
      for (const client_hash of ['md5:1B2M2Y8AsgTpgAmY7PhCfg==', 'A'.repeat(64), 'f'.repeat(128)]) {
        const first = await client.upload(new Uint8Array(3), unnamed, { client_hash })
        const second = await client.upload(new Uint8Array(3), unnamed, { client_hash })
        t.same([second.record.id, second.record.is_duplicate], [first.record.id, true])
      }
      await t.rejects(client.upload(new Uint8Array(3), unnamed, { client_hash: 'f'.repeat(257) }), /client_hash/)
    },
  ],
  [
    '4.10 null and an empty text stand for an optional field that is absent',
    async (t, { client }) => {
      const absent = { incognito: '', version: null, encrypted_rag_dek: '', rag_dek_nonce: null, cipher_text: '' }
      const { record } = await client.upload(new Uint8Array(3), unnamed, {
        ...absent,
        encrypted_file_dek: '',
        file_nonce: '',
      })
      t.match(record, { version: '1', rag_status: 'none' })
    },
  ],
  [
    '2.9 hex is read in upper case too, and written in lower case',
    async (t, { client }) => {
      const upper = (fields: object): any =>
        Object.fromEntries(
          Object.entries(fields).map(([name, field]) => [
            name,
            /^[0-9a-f]{20,}$/.test(field) ? field.toUpperCase() : field,
          ]),
        )
      const dek = new Uint8Array(32).fill(7)
      const fields = client.fileFields(dek, unnamed, new TextEncoder().encode('The heron waits.'))
      const { status, body } = await client.send('/files/encrypted/upload', { body: upper(fields) })
      t.equal(status, 200)
      t.match(body.data, {
        wrapped_dek: fields.wrapped_dek,
        original_name: fields.encrypted_name,
        mime_type: fields.mime_type,
      })
      const agreement = await client.agree()
      const call = client.sealed(agreement, 'encryptedParams', { fileId: body.data.id })
      const part = client.part(agreement, 'encryptedFileDek', 'fileNonce', dek)
      const answer = await client.send('/tools/getTextDocumentContent', { body: upper({ ...call, ...part }) })
      t.match(JSON.stringify(client.opened(agreement, answer.body.data)), /heron waits/)
      const item = upper(client.indexItem(await client.agree(), { dek, record: body.data }))
      const index = await client.send('/files/encrypted/index', { body: { files: [item] } })
      t.ok(index.body.data.results[0].success)
      const nonce = 'ab'.repeat(24)
      const twice = { ...call, nonce, ...part, fileNonce: nonce.toUpperCase() }
      t.match((await client.send('/tools/getTextDocumentContent', { body: twice })).body.error, /Nonces must differ/)
    },
  ],
  [
    '4.11 an empty query parameter stands for an absent one',
    async (t, { client }) => {
      const { status, body } = await client.send('/files/encrypted?search=&type=&limit=&offset=&from=&to=')
      t.equal(status, 200)
      t.match(body.data.pagination, { limit: 20, offset: 0 })
    },
  ],
  [
    '4.11 files that tools make are found by their type',
    async (t, { client }) => {
      for (const [tool, params, type] of [
        ['generateImage', { prompt: 'a heron' }, 'image'],
        ['audioGenerateFromText', { text: 'The heron waits.' }, 'audio'],
      ] as const) {
        const agreement = await client.agree()
        const dek = new Uint8Array(32).fill(9)
        const part = client.part(agreement, 'encryptedFileDek', 'fileNonce', dek)
        const beside = { ...part, kid: 'kek-1', wrappedDek: client.wrapped(dek) }
        const { body } = await client.tool(tool, params, null, {
          ...client.sealed(agreement, 'encryptedParams', params),
          ...beside,
        })
        t.match(body.data, { fileId: String, fileName: String, fileSize: Number, handle: String, mimeType: String, s3Path: String, success: true, message: String }) // prettier-ignore
        const { body: listed } = await client.send(`/files/encrypted?type=${type}`)
        t.ok(
          listed.data.files.some(({ id }: { id: string }) => id === body.data.fileId),
          tool,
        )
      }
    },
  ],
]

const sound = new Uint8Array(1000)

const audio: readonly Row[] = [
  [
    '4.7 model may stand outside the seal, with or without parameters inside',
    async (t, { client }) => {
      const options = { diarize: false, smart_format: false, punctuate: true, utterances: true, temperature: 0 }
      for (const params of [
        {},
        { model: 'listener' },
        { ...options, detect_language: true },
        { model: '', prompt: null },
      ]) {
        const { status, body } = await client.hear(sound, params, { model: 'listener' })
        t.equal(status, 200)
        t.match(body, { metadata: {}, results: { channels: [{ alternatives: [{ transcript: /heron waits/ }] }] } })
        t.notOk('ignored' in body.metadata, JSON.stringify(params))
      }
      t.match((await client.hear(sound, { model: 'listener' })).status, 200)
    },
  ],
  [
    '4.7 a model that is named in both places is one model, and one of them names it',
    async (t, { client }) => {
      for (const [params, beside] of [
        [{ model: 'listener' }, { model: 'nova' }],
        [{}, {}],
        [{}, { model: '' }],
        [{}, { model: 7.5 }],
      ]) {
        const { status, body } = await client.hear(sound, params, beside)
        t.same([status, body], [400, { code: 'invalid_parameters', field: 'model' }], JSON.stringify([params, beside]))
      }
      t.match((await client.hear(sound, {}, { model: 'seer' })).body, { code: 'unknown_model' })
    },
  ],
  [
    '4.7 where requests must be bound, the model is named inside the seal',
    async (t) => {
      const { client } = await sceneOf(t, { requireBinding: true })
      const $for = 'rvenc/audio/transcriptions'
      t.match((await client.hear(sound, { $for }, { model: 'listener' })).body, { field: 'model' })
      t.equal((await client.hear(sound, { $for, model: 'listener' }, { model: 'listener' })).status, 200)
      t.match((await client.hear(sound, { model: 'listener' })).body, { code: 'sealed_elsewhere' })
    },
  ],
  [
    '4.7 an option that has no effect is told in metadata.ignored',
    async (t, { client, asked }) => {
      const heard = await client.hear(sound, {
        model: 'listener',
        smart_format: true,
        punctuate: false,
        temperature: 0.5,
      })
      t.same(heard.body.metadata.ignored.sort(), ['punctuate', 'smart_format'])
      t.match(asked().body.toString('latin1'), /name="temperature"\r\n\r\n0.5/, 'what has an effect is passed on')
      const nova = await client.hear(sound, { model: 'nova', prompt: 'Zoë', temperature: 1, punctuate: false })
      t.same(nova.body.metadata, { duration: 2, ignored: ['prompt', 'temperature'] })
      t.match(asked().path, /punctuate=false/)
      const params = { model: 'nova', diarize: true, smart_format: true, utterances: false, detect_language: true }
      t.notOk('ignored' in (await client.hear(sound, params)).body.metadata)
      t.match(asked().path, /detect_language=true.*utterances=false.*diarize=true&smart_format=true/)
      const deaf = await client.hear(sound, { model: 'listener', diarize: true })
      t.same(deaf.body.metadata.ignored, ['diarize'], 'a sound that nobody can listen to')
      t.match((await client.hear(sound, { model: 'nova', keyterm: 'x' })).body, { code: 'invalid_parameters', field: 'keyterm' }) // prettier-ignore
    },
  ],
  [
    '4.7 diarize identifies speakers, inside the enclave where the backend does not',
    async (t, { client }) => {
      const file = await fixture('audio/dialogue-of-two.ogg')
      const { status, body } = await client.hear(file, { model: 'listener', diarize: true })
      t.equal(status, 200)
      t.equal(body.metadata.diarization, 'local')
      t.notOk('ignored' in body.metadata)
      t.match(body.results.utterances, [
        { transcript: 'The heron waits.', speaker: 0 },
        { transcript: /^For whom\?/, speaker: 1 },
        { transcript: /ferry\.$/, speaker: 0 },
      ])
      const [first] = body.results.channels[0].alternatives
      t.ok(first.words.every(({ speaker }: { speaker: unknown }) => speaker === 0 || speaker === 1))
      const without = await client.hear(file, { model: 'listener' })
      t.notMatch(JSON.stringify(without.body), /speaker/)
    },
  ],
  [
    '4.7 translations take the same fields',
    async (t, { client, asked }) => {
      const { status } = await client.hear(sound, {}, { model: 'listener' }, 'translations')
      t.equal(status, 200)
      t.match(asked().path, /audio\/translations/)
    },
  ],
]

/** What a server writes on one connection. */
const rawAnswer = async (base: string, text: string): Promise<string> => {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.end(text)
  let all = ''
  for await (const piece of socket) all += String(piece)
  return all
}

const http: readonly Row[] = [
  [
    '5 missing or invalid credentials return 401, and how to show them',
    async (t, { gateway }) => {
      for (const key of ['', 'sk_live_nothing']) {
        const answer = await literalClient(gateway.base, key).send('/files/encrypted')
        t.equal(answer.status, 401)
        t.match(answer.headers.get('www-authenticate'), /^Bearer/)
      }
    },
  ],
  [
    '2.1 validator has words, never a pattern',
    async (t, { client }) => {
      const chat = { model: 'seer', messages: [], provider: 'No Such' }
      const asked = [
        client.send('/files/encrypted?limit=ten&offset=-1&from=now&type=none'),
        client.send('/rvenc/attestation?challenge=zz'),
        client.send('/std/chat/completions', { body: chat }),
        client.send('/files/encrypted/upload', {
          body: { encrypted_content: 'ab', kid: '?', version: 'x', mime_type: 'zz' },
        }),
        client.send('/files/encrypted/index', { body: { files: [{ file_nonce: 'z' }] } }),
        client.send('/tools/getTime', { body: {} }),
        client.send('/std/images/generations', { body: { model: 'painter', prompt: 'x', size: 'huge' } }),
      ]
      for (const { status, body } of await Promise.all(asked)) {
        t.equal(status, 400)
        t.ok(Object.keys(body.validator).length > 0)
        for (const expected of Object.values(body.validator)) t.notMatch(expected, /[\\^$]|\/\S+\//)
      }
    },
  ],
  [
    '7 a path that takes another method is a 405 that tells which, in the dialect of the path',
    async (t, { client, gateway }) => {
      for (const [method, path, allowed] of [
        ['GET', '/tools/getTime', 'POST'],
        ['POST', '/rvenc/models', 'HEAD, GET'],
        ['POST', '/files/encrypted/file_x', 'HEAD, GET, PATCH, DELETE'],
      ] as const) {
        const answer = await client.send(path, { method })
        t.equal(answer.status, 405)
        t.same(new Set(answer.headers.get('allow')?.split(', ')), new Set(allowed.split(', ')), path)
      }
      for (const [path, body] of [
        ['/tools/getTime', { status: 405, error: 'This path takes POST', support_id: String }],
        ['/v1/chat/completions', { error: { type: 'invalid_request_error', code: 'method_not_supported' } }],
        ['/v1/messages', { type: 'error', error: { type: 'invalid_request_error', message: 'This path takes POST' } }],
        ['/v1beta/models', { error: { code: 405, status: 'UNIMPLEMENTED' } }],
      ] as const) {
        const answer = await fetch(gateway.base + path, { method: path.endsWith('models') ? 'POST' : 'GET' })
        t.equal(answer.status, 405, path)
        t.match(await answer.json(), body, path)
      }
      t.equal((await client.send('/nowhere')).headers.get('allow'), null)
    },
  ],
  [
    '4 a request of HTTP/1.1 without a host is a 400',
    async (t, { gateway }) => {
      t.match(
        await rawAnswer(gateway.base, 'GET /tools HTTP/1.1\r\nconnection: close\r\n\r\n'),
        /^HTTP\/1.1 400 .*"status":400/s,
      )
      t.match(await rawAnswer(gateway.base, 'GET /tools HTTP/1.0\r\n\r\n'), /^HTTP\/1.1 200 /)
    },
  ],
  [
    '2.1 env says production in production, in errors too',
    async (t) => {
      const gateway = await running(t, memory(), { env: 'production' })
      const { send } = literalClient(gateway.base, gateway.key)
      for (const path of ['/tools', '/nowhere', '/files/encrypted/none', '/files/encrypted?limit=x'])
        t.equal((await send(path)).body.env, 'production', path)
      t.match(await rawAnswer(gateway.base, 'nothing\r\n\r\n'), /"env":"production"/)
    },
  ],
  [
    '7 a key without any permission gets 403 on the catalogs, and any permission is enough for them',
    async (t, { gateway }) => {
      for (const [scopes, status] of [
        [[], 403],
        [['models.read'], 200],
        [['files.encrypted.read'], 200],
      ] as const) {
        const { credential } = await gateway.gateway.keys.create({ scopes })
        for (const path of ['/compat/v1/models', '/std/models', '/rvenc/models'])
          t.equal((await literalClient(gateway.base, credential).send(path)).status, status, path)
      }
    },
  ],
]

/** Tools with models of their own: `test/tools.test.ts` reads with each of them, and the night does it here. Of the others, each day reads a third. */
const atNight = /audioDiarization|transcribeAudioWithDiarization|getFileContentOCR|imageDescribeAndCaptionFallback/

const played = sampled(
  reads.filter(([tool]) => isWhole || !atNight.test(tool)),
  3,
)

const literal: readonly Row[] = [...played.map(read), ...files, ...tools, ...indexing, ...uploads, ...audio, ...http]

/** Plays the rows whose statement has the words of `ROW` in it, all of them by default. */
const held = async <S>(
  t: Test,
  scene: S,
  rows: readonly (readonly [statement: string, holds: (t: Test, scene: S) => Promise<void>])[],
): Promise<void> => {
  const only = process.env['ROW'] ?? ''
  for (const [statement, holds] of rows.filter(([name]) => name.includes(only)))
    await t.test(statement, (t) => holds(t, scene))
}

const patience = { timeout: 170_000 }

t.test('each statement of the interface, by a client that knows nothing else', patience, async (t) =>
  held(t, await chaptersScene(t), chapters),
)

t.test('what literal clients send beside it', patience, async (t) => {
  t.comment(
    isWhole ? 'every file is read' : `SEALGATE_SEED=${seed}: ${played.length} of ${reads.length} files are read`,
  )
  await held(t, await sceneOf(t), literal)
})

t.test('what the interface says of inference and its errors', patience, async (t) =>
  held(t, await stageOf(t), inference),
)
