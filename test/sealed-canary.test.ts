import './fakes/unwatched.ts'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Dumped, dumped, heapOf } from './fakes/dumped.ts'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { type Client, connect } from '../plugins/sealed/client/client.ts'
import { BadRequest } from '../core/errors.ts'
import { plugin, use } from '../core/plugin.ts'
import { Enclave } from '../core/ports/enclave.ts'
import { utf8, fromHex, toHex } from '../plugins/sealed/wire/bytes.ts'
import { kems } from '../plugins/sealed/wire/kem.ts'
import { type EnclaveKey, newest, parseKeyset } from '../plugins/sealed/wire/keyset.ts'
import { freshNonce, seal } from '../plugins/sealed/wire/seal.ts'
import { running } from './environments.ts'
import { opensHttp } from './fakes/listening.ts'
import { crafted, craftedText } from './fakes/sealing.ts'
import { filesIn, type Places, traces } from './fakes/traces.ts'

const json = { 'content-type': 'application/json' }

/** A backend that quotes what it was asked, in whatever way the conversation wishes. */
const backend = async (t: Test) => {
  const seen: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    seen.push(body)
    if (request.url === '/v1/models') return response.writeHead(200, json).end('{"object":"list","data":[]}')
    const quoted = JSON.stringify(body.slice(0, 20_000))
    if (request.url === '/v1/audio/transcriptions') {
      if (body.includes('fails')) return response.writeHead(400, json).end(`{"error":{"message":${quoted}}}`)
      return response.writeHead(200, json).end(`{"text":${quoted}}`)
    }
    const { messages, stream } = JSON.parse(body)
    const wish = /wish-(\w+)/.exec(JSON.stringify(messages))?.[1]
    if (wish === 'refuse') return response.writeHead(400, json).end(`{"error":{"message":${quoted},"param":${quoted}}}`)
    if (wish === 'break') return response.writeHead(500, json).end(`{"error":{"message":${quoted}}}`)
    if (wish === 'deny') return response.writeHead(401, json).end(`{"error":{"message":${quoted}}}`)
    if (wish === 'page') return response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${quoted}`)
    if (wish === 'garble') return response.writeHead(200, json).end(`{"choices":[${quoted}`)
    if (wish === 'hang') return response.destroy()
    const head = '"id":"c","created":1,"model":"m"'
    if (!stream) {
      const choices = `[{"index":0,"message":{"role":"assistant","content":${quoted}},"finish_reason":"stop"}]`
      return response.writeHead(200, json).end(`{${head},"object":"chat.completion","choices":${choices}}`)
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = (delta: string, reason = 'null') =>
      `data: {${head},"object":"chat.completion.chunk","choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}\n\n`
    response.write(chunk(`{"role":"assistant","content":${quoted}}`))
    if (wish === 'cut') return setTimeout(() => response.destroy(), 30)
    if (wish === 'say') return setTimeout(() => response.end(`data: {"error":{"message":${quoted}}}\n\n`), 30)
    if (wish === 'stay') return
    return response.end(`${chunk('{}', '"stop"')}data: [DONE]\n\n`)
  })
  return { url: `${await opensHttp(t, server)}/v1`, seen }
}

/** A gateway whose models are in its enclave alone. */
const house = (t: Test, folder: string, url: string): Promise<Dumped> => {
  const upstreams = [{ provider: 'backend', model: 'm' }]
  const confidential = { standard: false, confidential: true, upstreams }
  return dumped(t, folder, {
    providers: { backend: { use: 'openai', baseUrl: url } },
    models: { quiet: confidential, hearing: { ...confidential, type: 'AUDIO_TRANSCRIPTION' } },
    routing: { retries: 0, breaker: { faults: 100_000, ratio: 1 } },
    timeouts: { sealedIdle: 3_000 },
  })
}

const quietly = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    const answer = await run()
    if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer) {
      for await (const _ of answer as AsyncIterable<unknown>);
    }
    return 'ok'
  } catch (error) {
    const { fault, code } = error as { fault?: string; code?: string }
    return code ?? fault ?? String(error)
  }
}

t.test('nothing of a sealed request is anywhere in the gateway', { timeout: 170_000 }, async (t) => {
  const folder = t.testdir({ data: {} })
  const { url, seen } = await backend(t)
  const gateway = await house(t, folder, url)
  const root = `zq${randomBytes(8).toString('hex')}`
  const mark = (place: string) => `${root}x${place}`
  const places: Places = new Map()
  let answers = 0
  const kept: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init)
    const name = `answer ${++answers}`
    places.set(`headers of ${name}`, Buffer.from(JSON.stringify([...answer.headers])))
    const reading = answer.clone().text()
    void reading.then((text) => places.set(`body of ${name}`, Buffer.from(text))).catch(() => undefined)
    return answer
  }
  const policy = { allowInsecureDev: true }
  const clientOf = (apiKey: string): Client => connect({ baseUrl: gateway.base, apiKey, policy, fetch: kept })
  const client = clientOf(gateway.key)
  const headers = { ...json, authorization: `Bearer ${gateway.key}` }
  const send = async (body: object, path = 'rvenc/chat/completions') =>
    (await kept(`${gateway.base}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status
  const key = async (): Promise<EnclaveKey> => {
    const answer = await fetch(`${gateway.base}/rvenc/keys`, { headers })
    t.equal(answer.status, 200, 'the keys are there')
    const { keyset } = (await answer.json()) as { keyset: string }
    return newest(parseKeyset(fromHex(keyset, 1 << 20)!)!, kems[0]!, Date.now())!
  }

  const outcomes = new Map<string, number>()
  const noted = (outcome: string) => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  const chat = async (params: object, own = client) =>
    noted(await quietly(() => own.chat.completions.create(params as any)))
  const full = (wish: string, stream: boolean) => ({
    model: 'quiet',
    stream,
    user: mark('user'),
    messages: [
      { role: 'system', content: mark('system') },
      { role: 'user', content: `${mark('prompt')} wish-${wish}`, name: mark('name') },
    ],
    tools: [
      { type: 'function', function: { name: mark('tool'), parameters: { properties: { [mark('field')]: {} } } } },
    ],
    response_format: { type: 'json_schema', json_schema: { name: mark('schema'), schema: {} } },
    [mark('unknown')]: mark('value'),
  })

  for (let round = 0; round < 12; round++) {
    for (const stream of [false, true]) {
      for (const wish of [
        'answer',
        'refuse',
        'break',
        'deny',
        'page',
        'garble',
        'hang',
        ...(stream ? ['cut', 'say'] : []),
      ]) {
        await chat(full(wish, stream))
      }
    }
  }
  const long = mark('long').repeat(20_000)
  const wrong: readonly object[] = [
    { ...full('answer', false), model: mark('model') },
    { ...full('answer', false), model: long },
    { ...full('answer', false), messages: mark('messages') },
    { ...full('answer', false), messages: [mark('message')] },
    { ...full('answer', false), messages: [{ role: mark('role'), content: 'x' }] },
    { ...full('answer', false), messages: [{ role: 'user', content: [{ text: mark('part') }] }] },
    { ...full('answer', false), provider: mark('provider') },
    { ...full('answer', false), provider: long },
    { ...full('answer', false), stream: mark('stream') },
    { ...full('answer', true), messages: [{ role: 'user', content: long }] },
  ]
  for (const params of wrong) await chat(params)

  const current = await key()
  const statuses: number[] = []
  for (const text of [
    `{"model":"${mark('open')}`,
    `"${mark('text')}"`,
    `[${mark('bare')}]`,
    long,
    `{"a":${mark('token')}}`,
  ]) {
    statuses.push(await send(craftedText(current, text).body))
  }
  statuses.push(await send(crafted(current, full('answer', false), mark('route')).body))
  const once = crafted(current, { ...full('answer', false), $id: mark('id') })
  statuses.push(await send(once.body), await send(once.body))
  statuses.push(await send({ ...once.body, enclaveKid: '00'.repeat(8) }))
  statuses.push(await send({ ...crafted(current, full('answer', false)).body, nonce: toHex(freshNonce()) }))
  t.same(statuses, [400, 400, 400, 400, 400, 400, 200, 400, 400, 400])

  const open = (await client.chat.completions.create(full('stay', true) as any)) as AsyncIterable<unknown>
  const reading = open[Symbol.asyncIterator]()
  await reading.next()
  await chat(full('answer', true))
  await reading.return?.()

  const speech = { name: `${mark('file')}.wav`, bytes: utf8(`RIFF ${mark('audio')}`) }
  const hears = async (params: object) => noted(await quietly(() => client.audio.transcriptions.create(params as any)))
  await hears({ model: 'hearing', file: speech, prompt: mark('hint') })
  await hears({ model: 'hearing', file: { ...speech, name: 'fails.wav' }, prompt: mark('hint') })
  await hears({ model: mark('hearing'), file: speech })
  await hears({ model: 'hearing', file: speech, language: long.slice(0, 60_000) })
  await hears({ model: 'hearing', file: speech, [mark('option')]: mark('value') })
  await hears({ model: 'hearing', file: { ...speech, name: `{${mark('brace')}` } })
  await hears({ model: 'hearing', file: { ...speech, name: `${mark('control')}\n` } })
  await hears({ model: 'hearing', file: { ...speech, name: long.slice(0, 900) } })
  const made = crafted(current, { model: 'hearing' }, 'rvenc/audio/transcriptions')
  const nonces = { fileNameNonce: freshNonce(), fileNonce: freshNonce() }
  const sealedAudio = {
    ...made.body,
    fileNameNonce: toHex(nonces.fileNameNonce),
    fileNonce: toHex(nonces.fileNonce),
    encryptedFileName: toHex(seal(made.secret, nonces.fileNonce, utf8(mark('swapped')))),
    encryptedFile: toHex(seal(made.secret, nonces.fileNameNonce, utf8(mark('swapped')))),
  }
  t.equal(await send(sealedAudio, 'rvenc/audio/transcriptions'), 400)

  t.ok(answers > 200, `${answers} answers`)
  t.ok(seen.filter((body) => body.includes(root)).length > 150, 'the backend saw them all the while')
  for (const outcome of ['ok', 'upstream_failed', 'refused', 'unknown_model', 'invalid_parameters', 'busy']) {
    t.ok(outcomes.get(outcome), `${outcome}: ${outcomes.get(outcome)}`)
  }
  t.notOk(
    [...outcomes.keys()].some((key) => /damaged|truncated|unreachable/.test(key)),
    [...outcomes.keys()].join(),
  )

  // What must be found is found: this one goes the plain way, into a row, and stays in memory with the key.
  const control = `zc${randomBytes(8).toString('hex')}`
  const created = await fetch(`${gateway.base}/admin/keys`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ models: ['quiet', control] }),
  })
  const { data } = (await created.json()) as { data: { key: string } }
  await chat(full('answer', true), clientOf(data.key))
  for (const path of ['/metrics', '/admin/usage?limit=100', '/rvenc/models', '/std/models', '/health/ready']) {
    const answer = await kept(gateway.base + path, { headers })
    t.equal(answer.status, 200, path)
    await answer.text()
  }
  await sleep(1500)

  const heap = await heapOf(gateway, folder)
  const ended = new Promise<number | null>((resolve) => gateway.child.once('exit', resolve))
  gateway.child.kill('SIGTERM')
  t.equal(await ended, 0)
  places.set('output', Buffer.from(gateway.said()))
  for (const [name, bytes] of await filesIn(join(folder, 'data'))) places.set(name, bytes)
  t.match(gateway.said(), /"event":"request"/, 'it logs')
  t.ok(heap.length > 5_000_000, `a heap of ${heap.length >> 20} MiB`)

  t.same(traces([root], places), [], 'answers, output, files')
  t.same(traces([root], new Map([['heap', heap]])), [], 'heap')
  t.ok(traces([control], new Map([['heap', heap]])).length > 0, 'the heap is one in which things are found')
  t.ok(traces([control], places).length > 0, 'and so are the rows')
})

t.test('a leak is caught, in every form', async (t) => {
  const root = `zq${randomBytes(8).toString('hex')}`
  const leaky = plugin({
    port: Enclave,
    name: 'leaky',
    needs: {},
    create: (): Enclave => ({
      keys: async () => ({ keyset: '', keys: [], evidence: { type: 'dev' } }),
      attest: async () => ({ keyset: '', keys: [], evidence: { type: 'dev' } }),
      models: async () => [],
      handle: async (_, sealed) => {
        throw new BadRequest(`No JSON: ${root} ${String((sealed as { nonce?: unknown }).nonce)}`)
      },
    }),
  })
  const gateway = await running(t, { ...memory(), enclave: use(leaky) })
  const body = { encryptedInference: '00'.repeat(32), cipherText: '00'.repeat(32), nonce: '00'.repeat(24) }
  const answer = await gateway.call('POST', '/rvenc/chat/completions', body)
  t.equal(answer.status, 400)
  t.equal(traces([root], new Map([['answer', Buffer.from(await answer.text())]])).length, 1)

  const told = `prompt ${root} end`
  const forms: Record<string, Buffer> = {
    plain: Buffer.from(told),
    hex: Buffer.from(Buffer.from(told).toString('hex')),
    'upper-case hex': Buffer.from(Buffer.from(told).toString('hex').toUpperCase()),
    'URL-encoded': Buffer.from(Buffer.from(told).toString('hex').replace(/../g, '%$&')),
    'UTF-16': Buffer.from(told, 'utf16le'),
    gzip: gzipSync(told),
  }
  for (let offset = 0; offset < 3; offset++) {
    forms[`base64 at ${offset}`] = Buffer.from(Buffer.from(' '.repeat(offset) + told).toString('base64'))
  }
  for (const [name, bytes] of Object.entries(forms)) t.ok(traces([root], new Map([[name, bytes]])).length > 0, name)
})

const importsOf = (source: string): readonly string[] =>
  [...source.matchAll(/(?:^import|^export|^\})(?!\s+type\b)(?:[^'"]*?\bfrom)?\s*'(\.[^']+)'/gm)].map(
    (match) => match[1]!,
  )

t.test('the serving process holds no code that opens anything', async (t) => {
  const reached = new Map<string, string>()
  const visit = async (file: string, by: string): Promise<void> => {
    if (reached.has(file)) return
    reached.set(file, by)
    const source = await readFile(file, 'utf8')
    for (const from of importsOf(source)) await visit(normalize(join(dirname(file), from)), file)
  }
  await visit('adapters/production/commands/serve.ts', '')
  const path = (file: string): string => (reached.get(file) ? `${path(reached.get(file)!)} > ${file}` : file)
  t.ok(reached.size > 80, `${reached.size} files`)
  for (const file of [
    'plugins/surfaces/rvenc/sealed-inference.ts',
    'plugins/sealed/wire/body.ts',
    'adapters/production/enclave/enclave.ts',
  ])
    t.ok(reached.has(file), file)
  for (const file of reached.keys()) {
    if (file.startsWith('plugins/sealed/enclave/')) t.fail(path(file))
  }
  for (const file of [
    'plugins/sealed/wire/kem.ts',
    'plugins/sealed/wire/seal.ts',
    'adapters/production/enclave/enclave-main.ts',
    'plugins/sealed/client/client.ts',
  ]) {
    t.notOk(reached.has(file), reached.has(file) ? path(file) : file)
  }
  const inside = new Map<string, string>()
  reached.clear()
  await visit('adapters/production/enclave/enclave-main.ts', '')
  for (const [file, by] of reached) inside.set(file, by)
  t.ok(
    inside.has('plugins/sealed/enclave/open.ts') && inside.has('plugins/sealed/wire/kem.ts'),
    'which the enclave’s does',
  )
})
