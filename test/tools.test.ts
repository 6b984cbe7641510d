import './fakes/unwatched.ts'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32, deflateSync } from 'node:zlib'
import t from 'tap'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { pluginNames } from '../adapters/production/config/load-plugin.ts'
import { production } from '../adapters/production/index.ts'
import { type Client, connect, newKek, newRagDek } from '../plugins/sealed/client/client.ts'
import { running, unhurried } from './environments.ts'
import { jsonTake, said } from './fakes/at-work.ts'
import { type Asked, type Take, recorded } from './fakes/recorded.ts'
import { zipOf } from './fakes/zip.ts'
import { until } from './until.ts'
import { isWhole } from './whole.ts'
import { quietClock } from './slowness.ts'
import { succeeds } from './helpers.ts'

/** What our client throws, as far as it is told here. */
const faulty = (facts: object) => ({ name: 'SealgateError', ...facts })

const fixture = (path: string) => readFile(join('test/vectors/files', path))
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Behind the socket: a model that sees, one that draws, one that listens, a search engine, and a page. */
const play = ({ path, body }: Asked): Take => {
  if (path.endsWith('/images/generations'))
    return jsonTake({ created: 1, data: [{ b64_json: png.toString('base64') }] })
  if (path.endsWith('/audio/transcriptions'))
    return jsonTake({
      task: 'transcribe',
      language: 'en',
      duration: 2,
      text: 'The heron waits.',
      segments: [{ id: 0, start: 0, end: 2, text: 'The heron waits.' }],
    })
  if (path.startsWith('/search'))
    return jsonTake({
      results: [{ title: 'Herons', url: 'https://example.org/herons', content: 'Grey herons <b>wait</b>.' }],
    })
  if (path === '/page')
    return {
      headers: { 'content-type': 'text/html' },
      body: '<html><title>Herons</title><body><h1>Herons</h1><p id=p></p><script>p.textContent = "They wait " + "by script."</script></body></html>',
    }
  const seen = body.toString().match(/"type":"image_url"/g)?.length ?? 0
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
  const tools = Object.fromEntries(pluginNames('tools').map((name) => [name, {}]))
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
        vectors: {
          type: 'EMBEDDING',
          confidential: true,
          upstreams: [{ provider: 'use-lite', model: 'use-lite-embedding' }],
        },
      },
      outside: { allow: ['127.0.0.1'], ports: [port] },
      tools: {
        ...tools,
        webSearchTool: { provider: 'searxng', baseUrl: backend.url },
        webPageScraperTool: { allowRoot: true },
      },
    },
    {},
  )
  const gateway = await running(t, await production(config, t.testdir()), unhurried)
  const client: Client = connect({
    baseUrl: gateway.base,
    apiKey: gateway.key,
    policy: { allowInsecureDev: true },
    ...(() => {
      const kek = newKek()
      return { kek, wrappedRagDek: newRagDek(kek) }
    })(),
  })
  const kept = async (path: string, mime = 'application/octet-stream') =>
    (await client.files.upload({ name: path.replace(/^.*\//, ''), mime, bytes: await fixture(path) })).id
  const call = (name: string, params: Readonly<Record<string, unknown>>): Promise<unknown> =>
    client.tools.call(name, params)

  t.same((await client.tools.list()).map(({ name }) => name).sort(), Object.keys(tools).sort(), 'all are listed')

  await t.test('those that make files', async (t) => {
    const made: readonly [string, Readonly<Record<string, unknown>>, RegExp, RegExp][] = [
      [
        'createFileForUser',
        { fileName: 'poem', fileExtension: 'md', fileContent: '# Heron', mimeType: 'text/markdown' },
        /^poem\.md$/,
        /^# Heron$/,
      ],
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

  const readers: Readonly<Record<string, readonly (readonly [file: string, answer: RegExp, more?: object])[]>> = {
    getTextDocumentContent: [
      ['docx/harvest.docx', /Ernte und Lager.*Boskoop \| 12,5/],
      ['odt/harvest.odt', /Boskoop/],
      ['rtf/harvest.rtf', /Boskoop/],
      ['epub/harvest.epub', /Boskoop/],
      ['html/harvest.html', /Boskoop/],
      ['md/harvest.md', /Boskoop/],
      ['txt/harvest-utf-16.txt', /Boskoop/],
    ],
    getPowerPointContent: [
      ['pptx/orchard.pptx', /Der Obstgarten.*Gäste begrüßen.*Boskoop \| 12,5/],
      ['pptx/orchard.pptx', /"slides":\[\{"number":2[^]*"missing":\[9\]/, { slideNumbers: [2, 9] }],
    ],
    getPDFContent: [
      ['pdf/two-pages-with-headings-and-umlauts.pdf', /Lübeck/],
      ['pdf/text-then-scan.pdf', /4,218 containers.*forty lanterns/],
    ],
    getFileContentOCR: [['image/order.png', /forty lanterns/i]],
    getSpreadsheetContent: [
      ['xlsx/orders-two-sheets.xlsx', /./],
      ['ods/orders-two-sheets.ods', /./],
      ['csv/semicolons-quoted-newline.csv', /./],
    ],
    getDataFileContent: [
      ['json/tree.json', /./],
      ['parquet/orders-snappy.parquet', /./],
      ['toml/dates.toml', /./],
    ],
    imageDescribeAndCaption: [['image/cup-of-coffee.jpg', /A picture of 1/]],
    imageDescribeAndCaptionFallback: [['image/cat.webp', /"label":"cat"/]],
    videoDescribeAndCaption: [['video/eight-colours-with-speech.mp4', /A picture of \d.*The heron waits/]],
    audioDiarization: [['audio/dialogue-of-two.ogg', /"speakers":2/]],
    transcribeAudioToText: [['audio/dialogue-of-two.ogg', /The heron waits/]],
    transcribeAudioWithDiarization: [['audio/dialogue-of-two.ogg', /"speaker":.*The heron waits/]],
  }
  // By day the last of these stands for it: both tell speakers apart with the same model.
  const played = Object.entries(readers).filter(([tool]) => isWhole || tool !== 'audioDiarization')
  for (const [tool, cases] of played)
    await t.test(tool, async (t) => {
      for (const [file, answer, more] of cases) {
        const result = JSON.stringify(await call(tool, { fileId: await kept(file), ...more }))
        t.match(result, answer, file)
      }
    })

  await t.test('models that worked for a tool are on the bill of whoever called it', async (t) => {
    const { credential } = await gateway.gateway.keys.create({ organization: 'seen' })
    const own = connect({
      baseUrl: gateway.base,
      apiKey: credential,
      kek: newKek(),
      policy: { allowInsecureDev: true },
    })
    const bytes = await fixture('image/cup-of-coffee.jpg')
    const sound = await fixture('audio/dialogue-of-two.ogg')
    const { id } = await own.files.upload({ name: 'cup.jpg', mime: 'image/jpeg', bytes })
    const heard = await own.files.upload({ name: 'two.ogg', mime: 'audio/ogg', bytes: sound })
    await own.tools.call('getTime', { timezone: 'UTC' })
    await own.tools.call('imageDescribeAndCaption', { fileId: id })
    await own.tools.call('imageDescribeAndCaption', { fileId: id })
    await own.tools.call('transcribeAudioToText', { fileId: heard.id })
    const headers = { authorization: `Bearer ${credential}` }
    const used = async () =>
      ((await (await gateway.call('GET', '/admin/usage', undefined, headers)).json()) as any).data.usage
    const counted = async () => (await used()).reduce((sum: number, { requests }: any) => sum + requests, 0)
    t.ok(await until(async () => (await counted()) === 3, 10_000, 200))
    const rows = (await used()).map(({ model, requests, input, audio_seconds }: any) => ({ model, requests, input: input > 0, audio_seconds: audio_seconds ?? 0 })) // prettier-ignore
    t.same(
      rows.sort((one: any, other: any) => (one.model < other.model ? -1 : 1)),
      [
        { model: 'listener', requests: 1, input: false, audio_seconds: 2 },
        { model: 'seer', requests: 2, input: true, audio_seconds: 0 },
      ],
    )
  })

  await t.test('the simple ones', async (t) => {
    t.match(await call('getTime', { timezone: 'Asia/Kathmandu' }), { offset: '+05:45' })
    t.match(await call('webSearchTool', { query: 'herons' }), {
      results: [{ url: 'https://example.org/herons', snippet: 'Grey herons wait.' }],
    })
    const url = `${backend.url}/page`
    t.notMatch(JSON.stringify(await call('webPageScraperTool', { url })), /by script/)
    const chromium = await succeeds(access('/usr/bin/chromium'))
    if (chromium)
      t.match(JSON.stringify(await call('webPageScraperTool', { url, renderJs: true })), /They wait by script/)
    await t.rejects(
      call('webPageScraperTool', { url: 'http://10.0.0.1/' }),
      faulty({ code: 'invalid_parameters', field: 'url' }),
    )
  })

  await t.test('the retrieval one', async (t) => {
    const ids = [await kept('pdf/text-then-scan.pdf'), await kept('docx/harvest.docx'), await kept('pptx/orchard.pptx')]
    t.ok(
      (await client.files.index(ids)).every(({ success }) => success),
      'all begin',
    )
    for (const id of ids)
      while (/running|pending/.test((await client.files.list({ search: id })).files[0]!.rag_status)) await sleep(50)
    const best = async (query: string) => (await client.tools.call('searchRag', { query })).results[0]
    t.match(await best('lanterns for the lighthouse'), { fileId: ids[0], page: 2, snippet: /lanterns/ })
    t.match(await best('containers handled by the harbour'), { fileId: ids[0], page: 1 })
    t.match(await best('Boskoop Tonnen Preis'), { snippet: /Boskoop/ })
    t.match(await best('Gäste begrüßen'), { fileId: ids[2], page: 1 })
    const today = new Date().toISOString().slice(0, 10)
    const ofFiles = { query: 'lanterns, Gäste', name: 'Orchard.pptx', from: today, byFile: true }
    t.match(await call('searchRag', ofFiles), {
      files: [{ fileId: ids[2], title: 'orchard', created: String, passages: [{ page: Number, snippet: String }] }],
    })
    t.match(await call('searchRag', { query: 'lanterns', to: '2020-01-01' }), { results: { length: 0 } })
  })

  await t.test('bombs end at once, and nobody else notices', async (t) => {
    const pid = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'main.js enclave'])
      .toString()
      .trim()
      .split('\n')[0]!
    const kilobytes = (field: string) =>
      Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
    const bombs: Readonly<Record<string, readonly [tool: string, name: string, bytes: Uint8Array]>> = {
      'a docx of 300 KB that unpacks to 300 MB': [
        'getTextDocumentContent',
        'bomb.docx',
        docxOf(Buffer.alloc(300 * 2 ** 20, 32)),
      ],
      'a billion laughs in a docx': ['getTextDocumentContent', 'laughs.docx', docxOf(Buffer.from(laughs))],
      'a billion laughs in XML': ['getDataFileContent', 'laughs.xml', Buffer.from(laughs)],
      'a picture of 40,000 by 40,000': ['getFileContentOCR', 'large.png', pngOf(40_000, 40_000)],
      'ten hours of sound that are not there': ['transcribeAudioToText', 'long.wav', wavOf(36_000)],
    }
    for (const [what, [tool, name, bytes]] of Object.entries(bombs)) {
      const { id } = await client.files.upload({ name, bytes })
      writeFileSync(`/proc/${pid}/clear_refs`, '5')
      const idle = kilobytes('VmRSS')
      const clock = quietClock()
      const other = call('getTime', { timezone: 'UTC' })
      await t.rejects(call(tool, { fileId: id }), faulty({ status: 400, code: 'unreadable_file' }), what)
      const ms = clock()
      t.ok(await other, 'others are answered')
      const peak = (kilobytes('VmHWM') - idle) / 1024
      t.ok(ms < 6_000 && peak < 150, `${what}: ${ms.toFixed(0)} ms, ${peak.toFixed(0)} MB above idle`)
    }
  })
})

/** As small as a document can be. */
const docxOf = (document: Uint8Array): Uint8Array =>
  zipOf([
    {
      name: '[Content_Types].xml',
      content:
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    },
    { name: 'word/document.xml', content: document },
  ])

const laughs = `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a0 "ha">${Array.from(
  { length: 10 },
  (_, at) => `<!ENTITY a${at + 1} "${`&a${at};`.repeat(10)}">`,
).join('')}]><l>&a10;</l>`

const wavOf = (seconds: number): Buffer => {
  const head = Buffer.alloc(44)
  const bytes = seconds * 32_000
  head.write('RIFF', 0)
  head.writeUInt32LE(bytes + 36, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(16_000, 24)
  head.writeUInt32LE(32_000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(bytes, 40)
  return Buffer.concat([head, Buffer.alloc(100_000)])
}

const pngOf = (width: number, height: number): Buffer => {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head[8] = 8
  const rows = deflateSync(Buffer.alloc(1_000_000))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}
