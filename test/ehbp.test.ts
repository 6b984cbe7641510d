import './fakes/unwatched.ts'
import { KeyConfigMismatchError, createTransport } from 'ehbp'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { system } from '../adapters/memory/platform.ts'
import type { Enclave } from '../core/ports/enclave.ts'
import { type Ehbp, type EhbpOptions, ehbp } from '../plugins/sealed/client/ehbp.ts'
import { printChunk } from '../plugins/sealed/ehbp/chunks.ts'
import { sealRequest } from '../plugins/sealed/ehbp/exchange.ts'
import { readKeyConfigs } from '../plugins/sealed/ehbp/key-config.ts'
import { utf8, toHex } from '../plugins/sealed/wire/bytes.ts'
import type { Fault, SealgateError } from '../plugins/sealed/client/error.ts'
import { publishedKeys } from '../plugins/surfaces/ehbp/answers.ts'
import {
  type AnswerChange,
  completion,
  ehbpServer,
  spoiledAnswers,
  streamed,
  wholeAnswers,
} from './fakes/ehbp-server.ts'
import { type Sealed, sealedStage } from './fakes/sealing.ts'
import { until } from './until.ts'

const secret = 'the otters of Cold Quay'
const ask = (more: object = {}) => ({ model: 'quiet', messages: [{ role: 'user' as const, content: secret }], ...more })

const faulty = (fault: Fault) => ({ name: 'SealgateError', fault })

const bearer = ({ apiKey }: Pick<Sealed, 'apiKey'>) => ({
  authorization: `Bearer ${apiKey}`,
  'content-type': 'application/json',
})
const place = '/ehbp/v1/chat/completions'

t.test('keys that are made when they are asked for are published', async (t) => {
  let now = 1
  const enclave = {
    keys: async () => {
      now = 2
      return { keys: [{ kem: 'x25519', public_key: '07'.repeat(32), not_before: 2, not_after: 9 }] }
    },
  }
  await t.resolves(publishedKeys(enclave as unknown as Enclave, { ...system.clock, now: () => now }))
})

t.test('who leaves an answer that arrives gets the own reason', async (t) => {
  const stage = await sealedStage(t)
  const reason = new Error('The user has left')
  const left = new AbortController()
  const stalling: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    if (!(input instanceof Request ? input.url : String(input)).includes('/chat/')) return answer
    const begun = new Uint8Array(await answer.arrayBuffer(), 0, 30)
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(begun)
        left.signal.addEventListener('abort', () => controller.error(reason))
      },
    })
    setTimeout(() => left.abort(reason), 50)
    return new Response(body, answer)
  }
  const client = ehbp({
    ...{ baseUrl: `${stage.base}/ehbp/v1`, apiKey: stage.apiKey, policy: { allowInsecureDev: true } },
    fetch: stalling,
  })
  await t.rejects(client.chat.completions.create(ask(), { signal: left.signal }), reason)
})

t.test('the package ehbp, unmodified, chats with the enclave', async (t) => {
  const stage = await sealedStage(t)
  const transport = await createTransport(stage.base)
  const { publicKey } = await stage.key('x25519')
  t.equal(await transport.getServerPublicKeyHex(), toHex(publicKey), 'the key is one of the evidence')
  const send = (body: object) => transport.post(stage.base + place, JSON.stringify(body), { headers: bearer(stage) })
  const whole = await send(ask())
  t.equal(whole.status, 200)
  t.match(await whole.json(), { model: 'quiet', choices: [{ message: { content: secret }, finish_reason: 'stop' }] })

  const streamed = await send(ask({ stream: true }))
  t.match(streamed.headers.get('content-type'), /^text\/event-stream/)
  const events = (await streamed.text()).split('\n\n').filter((event) => event.startsWith('data: '))
  t.equal(events.at(-1), 'data: [DONE]')
  const texts = events.slice(0, -1).map((event) => JSON.parse(event.slice(6)).choices[0].delta.content ?? '')
  t.equal(texts.join(''), secret)
  t.equal(stage.calls.length, 2)

  const unknown = await send({ ...ask(), model: 'nobody' })
  t.equal(unknown.status, 404)
  t.match(await unknown.json(), { error: { code: 'unknown_model' } }, 'what went wrong is sealed')
  t.notMatch(JSON.stringify(stage.logged), /otters|nobody/, 'the gateway logs nothing of it')
  stage.restart()
  await t.rejects(send(ask()), KeyConfigMismatchError, 'a key of before')
})

t.test('a refusal tells when the next try makes sense, in milliseconds or in seconds', async (t) => {
  const windows = [{ of: 'key' as const, model: 'quiet', requests: 1, per: 'day' as const }]
  const stage = await sealedStage(t, { settings: { quotas: { windows } } })
  const options = { baseUrl: `${stage.base}/ehbp/v1`, apiKey: stage.apiKey, policy: { allowInsecureDev: true } }
  const refusal = (client: Ehbp): Promise<SealgateError | null> =>
    client.chat.completions.create(ask()).then(
      () => null,
      (error: SealgateError) => error,
    )
  let used: SealgateError | null = null
  await until(async () => (used = await refusal(ehbp(options))) !== null)
  t.match(used, { status: 429, code: 'window_used_up', retryAfter: Number })
  const busy = (headers: Record<string, string>) => async () => new Response(null, { status: 503, headers })
  const publicKey = toHex((await stage.key('x25519')).publicKey)
  const key = { kem: 'x25519', publicKey } as const
  for (const [headers, retryAfter] of [
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '7', 'retry-after-ms': '6500' }, 6_500],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, null],
    [{ 'retry-after': '' }, null],
    [{}, null],
  ] as const)
    t.match(await refusal(ehbp({ ...options, key, fetch: busy(headers) })), { status: 503, retryAfter })
})

/** What goes over the line in both directions. */
const listened = (): { readonly fetch: typeof fetch; readonly heard: string[] } => {
  const heard: string[] = []
  const listening: typeof fetch = async (input, init) => {
    heard.push(Buffer.from((init?.body ?? '') as Uint8Array).toString('latin1'))
    const answer = await fetch(input, init)
    heard.push(Buffer.from(await answer.clone().arrayBuffer()).toString('latin1'))
    return answer
  }
  return { fetch: listening, heard }
}

t.test('our client and the OpenAI client chat by X-Wing, and the line shows nothing', async (t) => {
  const stage = await sealedStage(t)
  const { fetch, heard } = listened()
  const baseUrl = `${stage.base}/ehbp/v1`
  const client = ehbp({ baseUrl, apiKey: stage.apiKey, policy: { allowInsecureDev: true }, fetch })
  t.match(await client.chat.completions.create(ask()), { choices: [{ message: { content: secret } }] })
  const chunks = []
  for await (const chunk of await client.chat.completions.create({ ...ask(), stream: true as const }))
    chunks.push(chunk.choices[0]?.delta.content ?? '')
  t.equal(chunks.join(''), secret)
  await t.rejects(client.chat.completions.create({ ...ask(), model: 'nobody' }), {
    fault: 'failed',
    status: 404,
    code: 'unknown_model',
  })
  const openai = new OpenAI({ baseURL: baseUrl, apiKey: stage.apiKey, fetch: client.fetch, maxRetries: 0 })
  const answer = await openai.chat.completions.create(ask())
  t.equal(answer.choices[0]!.message.content, secret)
  stage.restart()
  t.match(await client.chat.completions.create(ask()), { choices: [{}] }, 'keys that are over are verified anew')
  t.ok(heard.length > 10)
  t.notMatch(heard.join(''), /otters|nobody|unknown_model/)
  await t.rejects(client.fetch(`${baseUrl}/models`), faulty('unsealed'), 'nothing goes out in the clear')
})

t.test('our client asks a gateway below a path for its evidence there', async (t) => {
  const { base, apiKey } = await sealedStage(t, { settings: { prefix: '/ai' } })
  const paths: string[] = []
  const listening: typeof fetch = (input, init) => {
    paths.push(new URL(input instanceof Request ? input.url : input).pathname)
    return fetch(input, init)
  }
  for (const end of ['', '/', '//']) {
    const options = {
      baseUrl: `${base}/ai/ehbp/v1${end}`,
      apiKey,
      policy: { allowInsecureDev: true },
      fetch: listening,
    }
    t.match(await ehbp(options).chat.completions.create(ask()), { choices: [{ message: { content: secret } }] })
  }
  t.strictSame([...new Set(paths)], ['/ai/rvenc/attestation', `/ai${place}`], 'nothing of its origin is asked')
})

t.test('our client refuses an enclave that proves nothing', async (t) => {
  const stage = await sealedStage(t)
  const client = ehbp({ baseUrl: `${stage.base}/ehbp/v1`, apiKey: stage.apiKey })
  await t.rejects(client.chat.completions.create(ask()), { name: 'SealgateError' })
  t.strictSame(stage.calls, [])
})

t.test('the enclave refuses what is wrong in one thing', async (t) => {
  const stage = await sealedStage(t)
  const keys = readKeyConfigs(new Uint8Array(await (await fetch(`${stage.base}/.well-known/hpke-keys`)).arrayBuffer()))!
  t.strictSame(
    keys.map(({ kem }) => kem.name),
    ['x25519', 'x-wing'],
  )
  const plain = utf8(JSON.stringify(ask()))
  const fresh = async (text = plain) => {
    const { body, answer } = await sealRequest(keys[0]!, text)
    return { body, key: toHex(answer.encapsulated) }
  }
  const send = async ({ body, key }: { body: Uint8Array; key: string }, headers: object = bearer(stage)) => {
    const answer = await fetch(stage.base + place, {
      method: 'POST',
      headers: { ...headers, 'ehbp-encapsulated-key': key },
      body: body as Uint8Array<ArrayBuffer>,
    })
    await answer.arrayBuffer()
    return `${answer.status} ${answer.headers.get('content-type')} ${answer.headers.has('ehbp-response-nonce')}`
  }
  const [json, stale] = ['application/json; charset=utf-8 false', '422 application/problem+json false']
  const once = await fresh()
  t.equal(await send(once), '200 application/json true')
  t.equal(await send(once), stale, 'a replay')
  const one = await fresh()
  t.equal(
    await send({ ...one, body: one.body.map((byte, at) => (at === 9 ? byte ^ 1 : byte)) }),
    stale,
    'a changed byte',
  )
  t.equal(await send({ ...(await fresh()), key: (await fresh()).key }), stale, 'the key of another request')
  t.equal(await send({ ...one, body: one.body.subarray(0, -1) }), `400 ${json}`, 'a cut chunk')
  const tiny = Array.from({ length: 40 }, () => printChunk(new Uint8Array(16)))
  t.equal(await send({ ...one, body: new Uint8Array(Buffer.concat(tiny)) }), `400 ${json}`, 'tiny chunks')
  t.equal(await send({ ...one, key: '00'.repeat(1088) }), `400 ${json}`, 'a key of ML-KEM alone')
  t.equal(await send({ ...one, key: 'zz' }), `400 ${json}`, 'no hex')
  t.equal(await send({ ...one, key: one.key.slice(2) }), `400 ${json}`, 'a short key')
  t.equal(await send(one, {}), `401 ${json}`, 'no API key')
  t.equal(stage.calls.length, 1)
  t.equal(await send(await fresh(utf8('[]'))), '400 application/json true', 'no object, refused under the seal')
  t.equal(await send(one), '200 application/json true', 'the request whose copies were refused')
})

t.test('a broken stream has no mark of its end', async (t) => {
  const play = () => ({
    kind: 'chunks' as const,
    chunks: (async function* () {
      yield {
        id: 'x',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content: 'half' }, finish_reason: null }],
      }
      throw new Error('secret of the backend')
    })(),
  })
  const stage = await sealedStage(t, { play })
  const transport = await createTransport(stage.base)
  const answer = await transport.post(stage.base + place, JSON.stringify(ask({ stream: true })), {
    headers: bearer(stage),
  })
  const text = await answer.text()
  t.match(text, /"content":"half"[^]*"error":\{"message":"Service temporarily unavailable"/)
  t.notMatch(text, /\[DONE\]|secret of/)
})

t.test('our client chats with a server by packages of others', async (t) => {
  let change: AnswerChange = wholeAnswers.json
  const server = await ehbpServer(t, () => change)
  const key = { kem: 'x25519' as const, publicKey: server.publicKey }
  const clientWith = (more: Partial<EhbpOptions> = {}) =>
    ehbp({ baseUrl: `${server.base}/v1`, apiKey: 'any', key, ...more })
  t.match(await clientWith().chat.completions.create(ask()), completion)
  t.strictSame(JSON.parse(server.requests[0]!), ask())

  const read = async (t: Test, options: Partial<EhbpOptions> = {}) => {
    const answer = await clientWith(options).fetch(`${server.base}/v1/chat/completions`, { method: 'POST', body: '{}' })
    t.equal(server.requests.at(-1), '{}')
    return `${answer.status} ${await answer.text()}`
  }
  change = wholeAnswers.stream
  t.equal(await read(t), `200 ${streamed.join('')}`)
  for (const end of ['', 'x', 'xx']) {
    const text = `data: {"choices":[{"delta":{"content":"${'日'.repeat(40)}${end}"}}]}\n\n`
    change = { ...wholeAnswers.stream, plain: [text, streamed.at(-1)!] }
    t.equal(await read(t), `200 ${text}${streamed.at(-1)}`, 'its last bytes may begin within a character')
  }

  for (const [name, [wrong, fault]] of Object.entries(spoiledAnswers)) {
    change = wrong
    await t.rejects(read(t), faulty(fault), name)
  }
  change = { status: 503, plain: ['forged'], withoutNonce: true }
  t.equal(await read(t, { acceptClearRefusals: true }), '503 forged', 'by choice')
  change = { type: 'text/plain', plain: ['a'] }
  t.equal(await read(t, { acceptOpenEnds: true }), '200 a', 'by choice')
  t.throws(() => clientWith({ key: { ...key, publicKey: server.publicKey.slice(2) } }), faulty('no_key'))
})
