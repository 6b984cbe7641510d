import './fakes/unwatched.ts'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeLog } from '../adapters/production/log/log.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { createGateway } from '../core/gateway.ts'
import { use } from '../core/plugin.ts'
import { Log } from '../core/ports/platform.ts'
import anthropic from '../plugins/providers/anthropic.ts'
import openai from '../plugins/providers/openai.ts'
import { backend } from './contracts/stage.ts'
import { environments, unhurried } from './environments.ts'
import { batchVendor } from './fakes/batch-vendor.ts'
import { listening } from './fakes/live-listener.ts'
import type { Asked, Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { toldSpans } from './fakes/told-spans.ts'
import { filesIn, traces } from './fakes/traces.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

const told = toldSpans()

/** Marks by what they were put into. */
const marks = new Map<string, string>()
const mark = (place: string): string => {
  const text = `zq${randomBytes(12).toString('hex')}`
  marks.set(text, place)
  return text
}

/** Members of an answer in which a vendor writes what it likes. */
const free = /"(id|system_fingerprint|service_tier|signature|name|response_id|responseId|modelVersion)":"([^"]*)"/g

/** A model whose answers have a mark in each member that is free, and in all that it says, thinks and calls. */
const speaking = (request: Asked): Take => {
  const take = scripted((_, tools) => [
    { think: mark('a thought of the model'), signature: Buffer.from(mark('a signature')).toString('base64') },
    { say: mark('an answer') },
    ...tools.slice(0, 1).map((call) => ({ call, args: { [mark('a name of an argument')]: mark('an argument') } })),
  ])(request)
  const body = String(take.body).replaceAll(free, (_, name, value) =>
    name === 'name' ? `"name":"${value}"` : `"${name}":"${value}-${mark(`${name} of an answer`)}"`,
  )
  return { ...take, body }
}

/** What a vendor says that refuses: its words, its codes and its parameters. */
const refusing = (): Take => ({
  ...{ status: 400, headers: { 'content-type': 'application/json', 'x-request-id': mark('a header of a vendor') } },
  body: JSON.stringify({
    error: { message: mark('words of a vendor'), type: mark('a type'), code: mark('a code'), param: mark('a param') },
  }),
})

const house = async (t: Test) => {
  const adapters = await environments['production']!(t)
  const folder = t.testdirName
  const destination = { write: (line: string) => appendFileSync(join(folder, 'sealgate.log'), line) }
  const vendor = await batchVendor(t)
  const model = await backend(t, speaking)
  const down = await backend(t, refusing)
  const gateway = createGateway(
    {
      ...adapters,
      fetch: use(doors),
      log: given(Log, 'file', () => writeLog('info', destination)),
      upstreams: [
        use(openai, { baseUrl: `${model.url}/v1` }, 'model'),
        use(openai, { baseUrl: `${down.url}/v1` }, 'down'),
        use(openai, { baseUrl: `${vendor.url}/v1`, batches: true }, 'vendor'),
        use(anthropic, { baseUrl: vendor.url, apiKey: 'k', batches: true }, 'claude'),
      ],
    },
    {
      models: Object.fromEntries(
        ['model', 'down', 'vendor', 'claude'].map((name) => [
          name,
          { decide: true, upstreams: [{ provider: name, model: 'own' }] },
        ]),
      ),
      ...unhurried,
    },
  )
  const server = gateway.server().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { credential: key } = await gateway.keys.create({})
  const ask = (method: string, path: string, body?: object, headers: object = {}) =>
    fetch(base + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
  return { gateway, base, key, ask, folder }
}

type House = Awaited<ReturnType<typeof house>>

const schema = () => ({ type: 'object', properties: { [mark('a member')]: { description: mark('a description') } } })
const image = () => `https://${mark('an address')}.example/a.png`

/** A body for each dialect, with a mark in each member that takes a text. */
const chats: Readonly<Record<string, (model: string, stream: boolean) => object>> = {
  '/v1/chat/completions': (model, stream) => ({
    ...{ model, stream, user: mark('user'), seed: 1, stop: [mark('stop')], metadata: { [mark('key')]: mark('value') } },
    prompt_cache_key: mark('prompt_cache_key'),
    safety_identifier: mark('safety_identifier'),
    [mark('a member of the body')]: mark('its value'),
    messages: [
      { role: 'system', name: mark('name'), content: mark('system') },
      {
        role: 'user',
        content: [
          { type: 'text', text: mark('text') },
          { type: 'image_url', image_url: { url: image() } },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: mark('tool'), description: mark('tool'), parameters: schema() } }],
    response_format: { type: 'json_schema', json_schema: { name: mark('schema'), schema: schema() } },
  }),
  '/v1/messages': (model, stream) => ({
    ...{ model, stream, max_tokens: 50, system: mark('system'), metadata: { user_id: mark('user_id') } },
    stop_sequences: [mark('stop')],
    messages: [{ role: 'user', content: [{ type: 'text', text: mark('text') }] }],
    tools: [{ name: mark('tool'), description: mark('tool'), input_schema: schema() }],
  }),
  '/v1/responses': (model, stream) => ({
    ...{ model, stream, instructions: mark('instructions'), user: mark('user'), metadata: { a: mark('value') } },
    input: [{ role: 'user', content: [{ type: 'input_text', text: mark('text') }] }],
    tools: [{ type: 'function', name: mark('tool'), description: mark('tool'), parameters: schema(), strict: false }],
  }),
  '/compat/v1/decision': (model) => ({
    model,
    state: { [mark('state')]: mark('state') },
    questions: {
      [mark('question')]: {
        type: 'choice',
        instructions: mark('instructions'),
        criteria: { [mark('label')]: mark('criterion'), b: null },
      },
    },
  }),
}

const gemini = () => ({
  systemInstruction: { parts: [{ text: mark('system') }] },
  contents: [{ role: 'user', parts: [{ text: mark('text') }] }],
  tools: [{ functionDeclarations: [{ name: mark('tool'), description: mark('tool') }] }],
  labels: { [mark('label')]: mark('label') },
})

const headers = () => ({
  'x-request-id': mark('x-request-id'),
  'user-agent': mark('user-agent'),
  traceparent: mark('traceparent'),
  tracestate: `a=${mark('tracestate')}`,
  baggage: `a=${mark('baggage')}`,
})

/** Sends everything, and gives back how often each status came. */
const played = async ({ ask }: House): Promise<ReadonlyMap<number, number>> => {
  const statuses = new Map<number, number>()
  const send = async (method: string, path: string, body?: object): Promise<any> => {
    const answer = await ask(method, path, body, headers())
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const text = await answer.text()
    return /json/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : text
  }
  for (const model of ['model', 'down', mark('an unknown model')]) {
    for (const [path, bodyOf] of Object.entries(chats))
      for (const stream of [false, true]) await send('POST', path, bodyOf(model, stream))
    for (const call of ['generateContent', 'streamGenerateContent', 'countTokens'])
      await send('POST', `/v1beta/models/${model}:${call}`, gemini())
  }
  await send('POST', '/v1/messages/count_tokens', chats['/v1/messages']!('model', false))
  await send('POST', '/v1/embeddings', { model: 'model', input: [mark('input')], user: mark('user') })
  await send('POST', '/v1/images/generations', { model: 'model', prompt: mark('prompt') })
  await send('POST', '/v1/audio/speech', { model: 'model', input: mark('input'), voice: mark('voice') })
  const tool = {
    jsonrpc: '2.0',
    id: mark('id'),
    method: 'tools/call',
    params: { name: mark('tool'), arguments: { a: mark('a') } },
  }
  await send('POST', '/mcp', tool)
  await batches(send)
  return statuses
}

type Send = (method: string, path: string, body?: object) => Promise<any>

const batches = async (send: Send): Promise<void> => {
  const line = (path: string) =>
    JSON.stringify({ custom_id: mark('custom_id'), method: 'POST', url: path, body: chats[path]!('vendor', false) })
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([`${line('/v1/chat/completions')}\n`]), `${mark('name of a file')}.jsonl`)
  const file = await send('POST', '/v1/files', form)
  const metadata = { [mark('key')]: mark('value') }
  const wanted = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h', metadata }
  const { id } = await send('POST', '/v1/batches', wanted)
  const { output_file_id } = await send('GET', `/v1/batches/${id}`)
  await send('GET', `/v1/files/${output_file_id}/content`)
  await send('GET', '/v1/batches')
  const request = { custom_id: mark('custom_id'), params: chats['/v1/messages']!('claude', false) }
  const claude = await send('POST', '/v1/messages/batches', { requests: [request] })
  await send('GET', `/v1/messages/batches/${claude.id}/results`)
  const wrong = { ...wanted, input_file_id: mark('id of a file') }
  await send('POST', '/v1/batches', wrong)
}

t.test(
  'no word of a caller or a backend is in traces, console streams, batches, metrics, logs or stores',
  async (t) => {
    const gateway = await house(t)
    const heard = await listening(t, `${gateway.base}/admin/live?organization=*`, {
      authorization: `Bearer ${gateway.key}`,
    })
    const statuses = await played(gateway)
    await heard.until(() => [...heard.requests.values()].some(({ route }) => route?.includes('/messages/batches')))
    t.ok(await until(() => told.spans() >= 40), `${told.spans()} spans`)
    const read = async (path: string) => (await gateway.ask('GET', path)).text()
    const places = new Map([
      ['spans and measures', Buffer.from(told.text())],
      ['the console stream', Buffer.from(heard.text())],
      ...(await Promise.all(
        ['/metrics', '/admin/usage?limit=100', '/admin/traffic', '/admin/keys?limit=100'].map(
          async (path) => [path, Buffer.from(await read(path))] as const,
        ),
      )),
    ])
    heard.leave()
    await gateway.gateway.drain(5_000)
    await gateway.gateway.close()
    const files = await filesIn(gateway.folder)
    const found = traces(marks.keys(), new Map([...places, ...files]))
    t.same(
      found.map((trace) => trace.replace(/^\w+/, (text) => marks.get(text)!)),
      [],
    )
    t.ok(marks.size > 400, `${marks.size} marks`)
    for (const status of [200, 400, 404]) t.ok((statuses.get(status) ?? 0) > 2, `${statuses.get(status)} of ${status}`)
    t.match(places.get('spans and measures')!.toString(), /gen_ai\.request\.model/)
    t.match(places.get('the console stream')!.toString(), /POST \/v1\/responses/)
    t.match(places.get('/metrics')!.toString(), /\/v1\/batches/)
    const stored = [...files]
      .filter(([name]) => name.startsWith('sealgate.db'))
      .map(([, bytes]) => bytes.toString('latin1'))
    t.match(stored.join(''), /msgbatch_\d+/, 'rows of batches are there')
    t.match(files.get('sealgate.log')!.toString(), /"route":"POST \/v1\/files"/)
  },
)
