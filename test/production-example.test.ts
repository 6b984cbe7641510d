import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { type Client, connect, newKek, newRagDek } from '../plugins/sealed/client/client.ts'
import { inferenceServer } from './fakes/inference-server.ts'
import { startPostgres } from './fakes/postgres.ts'
import { startRedis } from './fakes/redis.ts'
import { startS3 } from './fakes/s3.ts'
import { enclosed, program, served } from './fakes/served.ts'
import { folderOf, succeeds } from './helpers.ts'
import { everyRoute } from './every-route.ts'
import { config, env, folder, raw, type Side } from './operations/files.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const hasOpenssl = await succeeds(run('openssl', ['version']))
const [postgres, redis, s3] = await Promise.all([startPostgres(), startRedis(), startS3()])
t.teardown(() => Promise.all([postgres?.close(), redis?.close(), s3?.close()]))
const skip = (!postgres || !redis || !s3 || !hasOpenssl) && 'PostgreSQL, Redis, an S3 or openssl is not here'

const key = `sk_live_${'4'.repeat(44)}`
const word = 'lighthouse'

/** The example's two configurations with addresses of this machine, two enclaves behind TLS and one gateway. */
const startExample = async (t: Test) => {
  const at = await folderOf(t)
  await run('sh', [`${folder}/certificates.sh`, join(at, 'tls')])
  const house = await inferenceServer(t, word, [
    'Qwen/Qwen3-8B',
    'Qwen/Qwen3-VL-8B-Instruct',
    'openai/whisper-large-v3',
  ])
  const local = (text: string) => text.replace(/https:\/\/(inference|speech)\.example\.com\/v1/g, house)
  const placed = async (side: Side, changed: object, name: string = side) => {
    const file = (name: string) => join(at, 'tls', side, name)
    const tls = { ca: file('ca.crt'), cert: file('tls.crt'), key: file('tls.key') }
    const path = join(at, `${name}.json`)
    // Redis answers late on a busy machine.
    const limits = side === 'gateway' ? { limits: { ...raw.gateway.limits, patience: 5_000 } } : {}
    const own = { ...raw[side], ...limits, enclave: { ...raw[side].enclave, tls, ...changed } }
    await writeFile(path, local(JSON.stringify(own)))
    return { ...env[side], SEALGATE_CONFIG: path }
  }
  // Below the ports that the system gives to clients.
  const first = 20_000 + (process.pid % 12_000)
  const lines = [first, first + 1].map((port) => `127.0.0.1:${port}`)
  const enclaves = await Promise.all(
    lines.map(async (listen, at) => {
      const inside = { PATH: process.env['PATH']!, ...(await placed('enclave', { listen }, `enclave-${at}`)) }
      const child = await enclosed(inside)
      t.teardown(() => child.kill('SIGKILL'))
      return { child, inside }
    }),
  )
  const stores = {
    DATABASE_URL: postgres!.url,
    REDIS_URL: redis!.url,
    S3_ENDPOINT: s3!.endpoint,
    S3_REGION: s3!.region,
    S3_BUCKET: await s3!.bucket(),
    S3_ACCESS_KEY_ID: s3!.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3!.secretAccessKey,
  }
  const variables = {
    ...(await placed('gateway', { connect: lines })),
    ...{ SEALGATE_KEY: key, SEALGATE_DATA: join(at, 'data'), HOST: '127.0.0.1' },
    ...stores,
  }
  const gateway = await served(variables)
  t.teardown(() => gateway.child.kill('SIGKILL'))
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(gateway.base + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { at, gateway, enclaves, variables, call }
}

type Example = Awaited<ReturnType<typeof startExample>>

const messages = [{ role: 'user', content: 'Where is the lamp?' }]

/** One request of each family in the clear, by its path. */
const clearRequests: readonly (readonly [
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
])[] = [
  ['GET', '/'],
  ['GET', '/health/ready'],
  ['GET', '/metrics'],
  ['GET', '/openapi.json'],
  ['GET', '/docs'],
  ['GET', '/console'],
  ['GET', '/std/models'],
  ['GET', '/v1/models'],
  [
    'POST',
    '/v1/decisions',
    { model: 'small', input: 'Red sky', questions: [{ type: 'predicate', instructions: 'Rain?' }] },
  ],
  [
    'POST',
    '/api/alpha/decisions',
    { model: 'small', state: { sky: 'red' }, questions: { rain: { type: 'noul', instructions: 'Rain?' } } },
  ],
  ['POST', '/std/embeddings', { model: 'embedding', input: 'lamp' }],
  ['POST', '/std/chat/completions', { model: 'small', messages }],
  ['POST', '/std/chat/completions', { model: 'small', messages, stream: true }],
  ['POST', '/v1/chat/completions', { model: 'small', messages }],
  ['POST', '/v1/messages', { model: 'small', messages, max_tokens: 50 }, { 'anthropic-version': '2023-06-01' }],
  ['POST', '/v1/responses', { model: 'small', input: 'Where?' }],
  ['POST', '/v1beta/models/small:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Where?' }] }] }],
  ['POST', '/v1/embeddings', { model: 'embedding', input: 'lamp' }],
  [
    'POST',
    '/compat/v1/decision',
    { model: 'small', state: { sky: 'red' }, questions: { rain: { type: 'noul', instructions: 'Rain?' } } },
  ],
  ['GET', '/tools'],
  ['GET', '/rvenc/keys'],
  ['GET', '/rvenc/models'],
  ['GET', '/files/encrypted'],
  ['GET', '/files/storage'],
  ['POST', '/admin/keys', { name: 'other' }],
  ['GET', '/admin/keys'],
  ['GET', '/admin/usage'],
  ['GET', '/admin/audit'],
  ['GET', '/admin/backends'],
  ['GET', '/admin/configuration'],
  ['POST', '/admin/reload'],
  ['GET', `/rvenc/attestation?challenge=${'ab'.repeat(32)}`],
  [
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    { accept: 'application/json, text/event-stream' },
  ],
]

/** Paths without a parameter; no answer is read to its end. */
const plainPaths = everyRoute
  .filter(({ method, path }) => method === 'GET' && !/[{]/.test(path))
  .map(({ path }) => path)

const familyOf = (path: string) =>
  path
    .split('/')
    .slice(1, 3)
    .join('/')
    .replace(/[{:].*/, '')

/** Families that other tests play: the example has no model or setting for them, or they serve pages, sessions and drills. */
const unplayed: readonly string[] = [
  ...['.well-known/oauth-protected-resource', 'admin/drill', 'admin/live', 'console/', 'console/session', 'ehbp/v1'],
  ...['std/audio', 'std/images', 'v1/audio', 'v1/images', 'v1/moderations', 'v1/rerank', 'v2/rerank'],
]

const playClear = async (t: Test, { call }: Example) => {
  for (const path of plainPaths) {
    const answer = await call('GET', path)
    await answer.body?.cancel()
    t.ok(answer.status < 500, `GET ${path}: ${answer.status}`)
  }
  for (const [method, path, body, headers] of clearRequests) {
    const answer = await call(method, path, body, headers)
    const text = await answer.text()
    t.ok(answer.ok, `${method} ${path}: ${answer.status} ${answer.ok ? '' : text}`)
  }
}

const vector = async (kind: string, ending: RegExp) => {
  const name = (await readdir(`test/vectors/files/${kind}`)).find((file) => ending.test(file))!
  return { name, bytes: await readFile(`test/vectors/files/${kind}/${name}`) }
}

/** The file that each tool is given, and its media type. */
const filesOfTools: Readonly<Record<string, readonly [kind: string, ending: RegExp, mime: string]>> = {
  getPDFContent: ['pdf', /form-with-values\.pdf$/, 'application/pdf'],
  getTextDocumentContent: ['md', /\.md$/, 'text/markdown'],
  getSpreadsheetContent: ['xlsx', /\.xlsx$/, 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  getPowerPointContent: [
    'pptx',
    /\.pptx$/,
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ],
  getDataFileContent: ['json', /\.json$/, 'application/json'],
  imageDescribeAndCaption: ['image', /\.png$/, 'image/png'],
  imageDescribeAndCaptionFallback: ['image', /qr-code\S+\.png$/, 'image/png'],
  getFileContentOCR: ['image', /\.png$/, 'image/png'],
  videoDescribeAndCaption: ['video', /\.mp4$/, 'video/mp4'],
  transcribeAudioToText: ['audio', /\.mp3$/, 'audio/mpeg'],
  transcribeAudioWithDiarization: ['audio', /\.mp3$/, 'audio/mpeg'],
  audioDiarization: ['audio', /\.mp3$/, 'audio/mpeg'],
}
const paramsOfTools: Readonly<Record<string, object>> = {
  getTime: { timezone: 'Europe/Berlin' },
  searchRag: { query: 'lamp' },
  audioGenerateFromText: { text: 'The lamp is lit.' },
  createFileForUser: { fileName: 'note', fileExtension: 'txt', fileContent: 'lamp', mimeType: 'text/plain' },
}
/** Tools that need the network beyond this machine. */
const outside = ['webSearchTool', 'webPageScraperTool']

const playTools = async (t: Test, client: Client, listed: readonly string[]) => {
  t.strictSame(
    [...listed].sort(),
    [...Object.keys(filesOfTools), ...Object.keys(paramsOfTools), ...outside].sort(),
    'each listed tool is played',
  )
  const call = client.tools.call as (name: string, params: object) => Promise<unknown>
  for (const [tool, [kind, ending, mime]] of Object.entries(filesOfTools)) {
    const { id } = await client.files.upload({ ...(await vector(kind, ending)), mime })
    await t.resolves(call(tool, { fileId: id }), tool)
  }
  for (const [tool, params] of Object.entries(paramsOfTools)) await t.resolves(call(tool, params), tool)
}

const playSealed = async (t: Test, { gateway, call }: Example) => {
  const kek = newKek()
  const client = connect({
    baseUrl: gateway.base,
    apiKey: key,
    kek,
    wrappedRagDek: newRagDek(kek),
    policy: { allowInsecureDev: true },
  })
  const answer = await client.chat.completions.create({ model: 'small', messages })
  t.equal(answer.choices[0]!.message.content, word, 'a sealed chat is answered')
  let streamed = ''
  for await (const { choices } of await client.chat.completions.create({ model: 'small', messages, stream: true }))
    streamed += choices[0]?.delta.content ?? ''
  t.equal(streamed, word, 'and streamed')
  const { answers } = await client.decisions.create({
    model: 'small',
    state: { sky: 'red' },
    questions: { rain: { type: 'noul', instructions: 'Rain?' } },
  })
  t.type(answers['rain']!.noul, 'number', 'sealed decisions')
  t.equal((await client.embeddings.create({ model: 'embedding', input: 'lamp' })).data.length, 1, 'sealed embeddings')
  const heard = await client.audio.transcriptions.create({
    model: 'transcription',
    file: await vector('audio', /\.mp3$/),
  })
  t.equal(heard.results.channels[0]!.alternatives[0]!.transcript, word, 'sealed audio')

  const text = { name: 'log.md', mime: 'text/markdown', bytes: Buffer.from('# Tower\n\nThe lamp was mended in March.') }
  const { id } = await client.files.upload(text)
  await client.files.index([id])
  const status = async () => (await client.files.list({ search: id })).files[0]!.rag_status
  t.ok(await until(async () => (await status()) === 'completed', 20_000), 'a file is indexed')
  t.match(
    await client.tools.call('searchRag', { query: 'Who mended the lamp?' }),
    { results: [{ fileId: id }] },
    'and found',
  )
  const tools = (await (await call('GET', '/tools')).json()) as { data: readonly { name: string }[] }
  await playTools(
    t,
    client,
    tools.data.map(({ name }) => name),
  )
}

t.setTimeout(300_000)

t.test('the example of production answers each family of routes', { skip }, async (t) => {
  const certificate = async (at: string) => new X509Certificate(await readFile(join(at, 'tls/enclave/tls.crt')))
  const example = await startExample(t)
  const { at, gateway, enclaves, variables } = example
  for (const line of config.gateway.enclave.connect!) t.ok((await certificate(at)).checkHost(line.split(':')[0]!), line)
  const ask = (inside: NodeJS.ProcessEnv) => run(process.execPath, [`${folder}/ask-enclave.mjs`], { env: inside })
  for (const { inside } of enclaves) await t.resolves(ask(inside), 'the health of an enclave is seen from within')
  const commented = join(at, 'commented.json')
  await writeFile(commented, `// Of this machine.\n${await readFile(enclaves[0]!.inside['SEALGATE_CONFIG']!, 'utf8')}`)
  await t.resolves(ask({ ...enclaves[0]!.inside, SEALGATE_CONFIG: commented }), 'a configuration may have comments')
  const { stdout } = await run(process.execPath, [program, 'check', variables.SEALGATE_CONFIG], {
    env: { PATH: process.env['PATH'], ...variables, OPENAI_API_KEY: 'unused' },
  }).catch((failure: { stdout: string }) => failure)
  t.match(stdout, /: no faults/, 'check finds no fault in the file')
  t.notMatch(stdout, /price/, 'and a price for each model')
  await playClear(t, example)
  await playSealed(t, example)
  const metrics = await (await example.call('GET', '/metrics')).text()
  const routes = metrics.matchAll(/^sealgate_request_seconds_count\{route="([^"]+)",status="2\d\d"\}/gm)
  const played = new Set([...routes].map(([, route = '']) => familyOf(route.replace(/^\w+ /, ''))))
  const families = new Set(everyRoute.map(({ path }) => familyOf(path)))
  t.same([...families].filter((family) => !played.has(family)).sort(), unplayed, 'each other family was answered')
  t.notMatch(gateway.said, 'made a key')
  t.equal(await gateway.stop('SIGINT'), 0)
  const [first] = enclaves
  first!.child.kill('SIGTERM')
  t.equal((await once(first!.child, 'exit'))[0], 0)
  await t.rejects(ask(first!.inside), 'and one that is gone is seen too')
})
