import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import cache from '../adapters/memory/cache.ts'
import { clock, log, random } from '../adapters/memory/platform.ts'
import { memory } from '../adapters/memory/index.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { buildEnclave } from '../plugins/sealed/enclave/assemble.ts'
import { plugin, use } from '../core/plugin.ts'
import { Enclave } from '../core/ports/enclave.ts'
import type { SettingsInput } from '../core/settings.ts'
import { flatJson } from '../plugins/shared/flat-json.ts'
import dev from '../plugins/evidence/dev.ts'
import deepgram from '../plugins/providers/deepgram.ts'
import openai from '../plugins/providers/openai.ts'
import { running } from './environments.ts'
import { opensHttp } from './fakes/listening.ts'
import { until } from './until.ts'

/** What a promise fails with, as far as `wanted` says. */
const fails = async (t: Test, promise: Promise<unknown>, wanted: object, name = 'fails') =>
  t.match(
    await promise.then(
      () => 'nothing was thrown',
      (error: unknown) => error,
    ),
    wanted,
    name,
  )

interface Heard {
  readonly url: string
  readonly bytes: Buffer
}

/** A gateway whose enclave transcribes with a server of ours that tells what it heard. */
const hearing = async (t: Test, more: SettingsInput = {}) => {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    heard.push({ url: request.url!, bytes: await buffer(request) })
    response.setHeader('content-type', 'application/json')
    if (request.url!.includes('/listen')) {
      const alternatives = [{ transcript: 'seven words were said in this file', confidence: 0.9, words: [] }]
      return void response.end(
        JSON.stringify({ metadata: { duration: 12.5, request_id: 'r' }, results: { channels: [{ alternatives }] } }),
      )
    }
    response.end(
      JSON.stringify({
        text: 'said in English',
        language: 'german',
        duration: 3,
        segments: [{ id: 0, start: 0, end: 3, text: 'said in English' }],
      }),
    )
  })
  const base = await opensHttp(t, server)
  const models = {
    nova: {
      type: 'AUDIO_TRANSCRIPTION',
      standard: false,
      confidential: true,
      upstreams: [{ provider: 'deepgram' }],
      price_config: { confidential: { eu: { audio_price_per_min: 0.6 } } },
    },
    whisper: { type: 'AUDIO_TRANSCRIPTION', standard: false, confidential: true, upstreams: [{ provider: 'openai' }] },
  } as const
  const enclave = plugin({
    port: Enclave,
    name: 'hearing',
    create: () =>
      buildEnclave(
        {
          clock: use(clock),
          random: use(random),
          fetch: use(doors),
          log: use(log),
          cache: use(cache),
          prover: use(dev),
          upstreams: [
            use(deepgram, { apiKey: 'k', baseUrl: base }),
            use(openai, { apiKey: 'k', baseUrl: `${base}/v1` }),
          ],
          tools: [],
          readers: [],
        },
        { models: structuredClone(models) as never },
        {},
        new Uint8Array(32),
      ),
  })
  const gateway = await running(
    t,
    { ...memory(), enclave: use(enclave) },
    { ...more, models: structuredClone(models) as never },
  )
  const client = (key = gateway.key) =>
    connect({ baseUrl: gateway.base, apiKey: key, policy: { allowInsecureDev: true } })
  return { gateway, heard, client }
}

t.test('what is said comes back sealed, whatever its length', async (t) => {
  const { gateway, heard, client } = await hearing(t)
  const { transcriptions, translations } = client().audio
  for (const length of [1, 1000, 4000, 5000, 100_000, 3_000_000]) {
    const bytes = new Uint8Array(randomBytes(length))
    const answer = await transcriptions.create({ model: 'nova', file: { name: 'ä talk.mp3', bytes }, diarize: true })
    t.equal(
      answer.results.channels[0]!.alternatives[0]!.transcript,
      'seven words were said in this file',
      `${length} bytes`,
    )
    const { url, bytes: sent } = heard.at(-1)!
    t.ok(sent.equals(bytes), 'what was sealed is what the backend got')
    t.match(url, /diarize=true/)
  }
  const blob = new File([randomBytes(50)], 'note.wav')
  const english = await translations.create({ model: 'whisper', file: blob, language: 'de' })
  t.equal(
    english.results.channels[0]!.alternatives[0]!.transcript,
    'said in English',
    'a backend of another style is rendered',
  )
  t.match(heard.at(-1)!.url, /audio\/translations/)
  const prompt = 'herons of the north quay '.repeat(400)
  await transcriptions.create({ model: 'whisper', file: blob, prompt })
  t.ok(heard.at(-1)!.bytes.includes(prompt), 'a long prompt is the matter of the backend, as in the clear')
  await gateway.gateway.drain(100)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.notMatch(JSON.stringify(gateway.logged), /talk|seven words/)
})

t.test(
  'a file of a model whose window is used up is refused in a header, beside a body of status and error',
  async (t) => {
    const windows = [{ of: 'key' as const, model: 'nova', requests: 1, per: 'day' as const }]
    const { gateway } = await hearing(t, { quotas: { windows } })
    let last = null as Response | null
    const watched: typeof fetch = async (...call) => (last = await fetch(...call)).clone()
    const policy = { allowInsecureDev: true }
    const { transcriptions } = connect({ baseUrl: gateway.base, apiKey: gateway.key, policy, fetch: watched }).audio
    const file = { name: 'a.mp3', bytes: new Uint8Array(10) }
    const refused = async () =>
      transcriptions.create({ model: 'nova', file }).then(
        () => false,
        (error: unknown) => t.match(error, { status: 429, code: 'window_used_up', retryAfter: Number }),
      )
    t.ok(await until(refused))
    t.same(await last!.json(), { status: 429, error: 'Too many requests' })
  },
)

t.test('refusals', async (t) => {
  const { gateway, heard, client } = await hearing(t)
  const file = { name: 'a.mp3', bytes: new Uint8Array(10) }
  const create = (params: object, key?: string) =>
    client(key).audio.transcriptions.create({ model: 'nova', file, ...params })
  await fails(t, create({ model: 'nothing' }), { code: 'unknown_model', status: 404 })
  await fails(t, create({ temperature: 2 }), { code: 'invalid_parameters', field: 'temperature' })
  for (const name of ['{"a":1}', 'a\nb', 'a\u0085b', 'a\u009bb', 'x'.repeat(256)]) {
    await fails(
      t,
      create({ file: { name, bytes: file.bytes } }),
      { code: 'invalid_parameters', field: 'encryptedFileName' },
      name.slice(0, 10),
    )
  }
  const weak = await gateway.gateway.keys.create({ scopes: ['audio.transcription'] })
  await fails(t, client(weak.credential).audio.translations.create({ model: 'nova', file }), { fault: 'unauthorized' })
  const other = await gateway.gateway.keys.create({ models: ['whisper'] })
  await fails(t, create({}, other.credential), { code: 'unknown_model' })
  const short = await gateway.gateway.keys.create({ limits: { audioMinutesPerDay: 1 } })
  const chunked = (body: ReadableStream) => {
    const headers = { authorization: `Bearer ${short.credential}`, 'content-type': 'application/json' }
    const url = `${gateway.base}/rvenc/audio/transcriptions`
    return fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  }
  const { readable, writable } = new TransformStream()
  const first = chunked(readable)
  const writer = writable.getWriter()
  await writer.write(Buffer.from('{"a":'))
  const second = async () => (await chunked(new Blob(['{"a":"1"}']).stream())).status === 429
  t.ok(await until(second), 'what tells no length is taken for the longest while it comes in')
  await writer.write(Buffer.from('"1"}'))
  await writer.close()
  t.equal((await first).status, 400)
  t.equal(heard.length, 0, 'nothing reached a backend')

  const large = await fetch(`${gateway.base}/rvenc/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: new Uint8Array(54 * 1024 * 1024),
  })
  t.equal(large.status, 413)
  t.same(Object.keys((await large.json()) as object), ['status', 'error'], 'a bare body')
  const just = await client()
    .audio.transcriptions.create({
      model: 'nova',
      file: { name: 'a.mp3', bytes: new Uint8Array(25 * 1024 * 1024 + 1) },
    })
    .catch((error: unknown) => error)
  t.match(just, { fault: 'too_large', status: 413 })

  const raw = (body: string) => gateway.call('POST', '/rvenc/audio/transcriptions', body)
  for (const [kind, body, field] of [
    ['not JSON', '{"encryptedFile":"00', null],
    ['nested too deep', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`, null],
    ['a field twice', '{"a":"1","a":"2"}', 'a'],
    ['odd hex', '{"encryptedFile":"000"}', 'encryptedFile'],
    ['an escape in the file', '{"encryptedFile":"00\\u0030"}', null],
    ['nothing', '{}', 'cipherText'],
    ['trailing', '{} x', null],
  ] as const) {
    const answer = await raw(body)
    const parsed = (await answer.json()) as { error: string; validator: Record<string, string> | null }
    t.equal(answer.status, 400, `${kind}: ${JSON.stringify(parsed)}`)
    if (field !== null) t.ok(parsed.validator !== null && field in parsed.validator, `${kind} names ${field}`)
  }
})

t.test('flat JSON reads the same however it is cut', async (t) => {
  const big = 'ab'.repeat(5000)
  const text = `  {"a" : "x\\"y\\\\" ,"n":1.5e3, "content":"${big}","b":true,"c":null , "é\\u00e9":"ü"}  `
  const bytes = Buffer.from(text)
  const read = async (length: number) => {
    async function* cut() {
      for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
    }
    const fields: Record<string, unknown> = {}
    for await (const part of flatJson(cut(), 'content')) {
      if ('value' in part) fields[part.name] = part.value
      else fields[part.name] = `${(fields[part.name] as string | undefined) ?? ''}${part.piece}`
    }
    return fields
  }
  for (const length of [1, 2, 3, 7, 64, 1000, bytes.length]) t.same(await read(length), JSON.parse(text), `${length}`)
  for (let end = 0; end < 60; end++) {
    async function* cut() {
      yield bytes.subarray(0, end)
    }
    await fails(
      t,
      (async () => {
        for await (const _ of flatJson(cut(), 'content')) continue
      })(),
      { status: 400 },
      `cut at ${end}`,
    )
  }
})
