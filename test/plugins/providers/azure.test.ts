import OpenAI, { AzureOpenAI } from 'openai'
import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import azure from '../../../plugins/providers/azure.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream } from '../../contracts/upstream.ts'
import type { Asked } from '../../fakes/recorded.ts'
import { backend, eventStream, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { completed, json, messages, never, refusal } from '../../fakes/vendor.ts'
import { failed } from '../../helpers.ts'

const deployments = {
  mine: { model: 'gpt-4o' },
  ears: { model: 'gpt-4o-transcribe' },
  odd: { type: 'EMBEDDING' },
} as const

const recording: Recording = {
  provider: azure,
  settings: (url) => ({ apiKey: 'key-1', baseUrl: url, deployments }),
  model: 'mine',
  vectors: 'azure',
  stream: eventStream,
  lists: /^\/openai\/v1\/models$/,
  chats: /^\/openai\/v1\/chat\/completions$/,
}
const dated: Recording = {
  ...recording,
  settings: (url) => ({ ...recording.settings(url), apiVersion: '2024-10-21' }),
  lists: /^\/openai\/models\?api-version=2024-10-21$/,
  chats: /^\/openai\/deployments\/mine\/chat\/completions\?api-version=2024-10-21$/,
}
const call = { model: 'mine', stream: false, body: { messages } }

t.test('contract', (t) => conform(t, upstream.contract, (t) => staged(t, recording)))

t.test('contract of the dated interface', (t) => conform(t, upstream.contract, (t) => staged(t, dated)))

t.test('a request is that of the vendor’s own clients', async (t) => {
  const server = await backend(t, async () => ({ headers: json, body: await vector('azure/chat.json') }))
  const talk = messages as never
  for (const [ours, theirs] of [
    [recording, new OpenAI({ apiKey: 'key-1', baseURL: `${server.url}/openai/v1/`, maxRetries: 0 })],
    [dated, new AzureOpenAI({ apiKey: 'key-1', endpoint: server.url, apiVersion: '2024-10-21', maxRetries: 0 })],
  ] as const) {
    await completed(await provided(t, azure, ours.settings(server.url)), call)
    await theirs.chat.completions.create({ model: 'mine', messages: talk })
    const [one, other] = server.asked.splice(0) as [Asked, Asked]
    t.equal(one.path, other.path)
    t.equal(one.headers['api-key'], 'key-1')
    t.equal(one.headers.authorization, undefined)
    t.same(JSON.parse(one.body.toString()), JSON.parse(other.body.toString()))
  }
})

t.test('deployments are the models, and what stands behind them tells what they do', async (t) => {
  const { upstream } = await staged(t, recording)
  t.same(await upstream.models(never), [
    { id: 'mine', type: 'CHAT' },
    { id: 'ears', type: 'AUDIO_TRANSCRIPTION' },
    { id: 'odd', type: 'EMBEDDING' },
  ])
  const bare = await staged(t, { ...recording, settings: (url) => ({ apiKey: 'key-1', baseUrl: url }) })
  t.match(await bare.upstream.models(never), [{ id: 'gpt-4o-2024-08-06', type: 'CHAT' }])
  const server = await backend(t, () => ({ headers: json, body: '{"text":"Hi"}' }))
  const ours = await provided(t, azure, dated.settings(server.url))
  const audio = { name: 'a.wav', mime: 'audio/wav', bytes: new Uint8Array(4) }
  t.equal((await ours.transcribe!({ model: 'ears', audio }, never)).text, 'Hi')
  t.equal(server.asked[0]!.path, '/openai/deployments/ears/audio/transcriptions?api-version=2024-10-21')
  t.match(server.asked[0]!.body.toString(), /name="response_format"\r\n\r\njson\r\n/)
})

t.test('refusals', async (t) => {
  t.match(await refusal(t, recording, 400, (await vector('azure/error-400.json')).toString()), {
    constructor: BadRequest,
    code: 'content_filter',
  })
  const gone = await refusal(t, recording, 404, (await vector('azure/error-404.json')).toString())
  t.match(gone, { constructor: UpstreamFailed, again: true, answered: 404 })
  const full = await refusal(t, recording, 429, (await vector('azure/error-429.json')).toString(), {
    'retry-after': '7',
  })
  t.match(full, { constructor: UpstreamFailed, answered: 429, retryAfter: 7000 })
})

t.test('settings', async (t) => {
  const baseUrl = 'https://mine.openai.azure.com'
  const entra = { tenantId: 'tenant', clientId: 'client', clientSecret: 'secret' }
  const wrong = { message: 'azure: expected either apiKey or entra' }
  await t.rejects(provided(t, azure, { baseUrl }), wrong)
  await t.rejects(provided(t, azure, { baseUrl, apiKey: 'key-1', entra }), wrong)
  await t.rejects(provided(t, azure, { baseUrl, entra: { ...entra, tenant: 'a' } }), /entra.tenant is not a known/)
})

/** A resource and its tenant at one address; `sign` says how the sign-in goes. */
const withTenant = async (t: Parameters<typeof staged>[0]) => {
  let tokens = 0
  const how = { refused: false, accepts: /^Bearer token-/ }
  const server = await backend(t, async ({ path, headers }) => {
    if (path.startsWith('/tenant/')) {
      if (how.refused) return { status: 401, headers: json, body: await vector('azure/token-error.json') }
      const body = (await vector('azure/token.json')).toString().replace('token-1', `token-${++tokens}`)
      return { headers: json, body }
    }
    if (!how.accepts.test(headers.authorization ?? ''))
      return { status: 401, body: await vector('azure/error-401.json') }
    return { headers: json, body: await vector('azure/chat.json') }
  })
  const entra = { tenantId: 'tenant', clientId: 'client', clientSecret: 'hidden & dear', authority: server.url }
  const ours = await provided(t, azure, { baseUrl: server.url, entra })
  const signIns = () => server.asked.filter(({ path }) => path.startsWith('/tenant/'))
  return { upstream: ours, how, server, signIns }
}

t.test('an application signs in once for many calls', async (t) => {
  const { upstream, server, signIns } = await withTenant(t)
  await Promise.all([completed(upstream, call), completed(upstream, call), completed(upstream, call)])
  await completed(upstream, call)
  t.equal(signIns().length, 1)
  const { method, path, headers, body } = signIns()[0]!
  t.equal(`${method} ${path}`, 'POST /tenant/oauth2/v2.0/token')
  t.equal(headers['content-type'], 'application/x-www-form-urlencoded')
  t.same(Object.fromEntries(new URLSearchParams(body.toString())), {
    grant_type: 'client_credentials',
    client_id: 'client',
    client_secret: 'hidden & dear',
    scope: 'https://cognitiveservices.azure.com/.default',
  })
  const requests = server.asked.filter(({ path }) => path.startsWith('/openai/'))
  t.equal(requests.length, 4)
  for (const { headers } of requests) {
    t.equal(headers.authorization, 'Bearer token-1')
    t.equal(headers['api-key'], undefined)
  }
})

t.test('a token that the resource refuses is not used again', async (t) => {
  const { upstream, how, signIns } = await withTenant(t)
  await completed(upstream, call)
  how.accepts = /^Bearer token-2$/
  t.match(await failed(completed(upstream, call)), { constructor: UpstreamFailed, again: true, answered: 401 })
  await completed(upstream, call)
  t.equal(signIns().length, 2)
})

t.test('a sign-in that fails is the backend’s fault, and tells no secret', async (t) => {
  const { upstream, how } = await withTenant(t)
  how.refused = true
  const fault = await failed(completed(upstream, call))
  t.match(fault, { constructor: UpstreamFailed, again: true, answered: 401, status: 502 })
  const told = (error: unknown): string =>
    error instanceof Error ? `${error.stack} ${JSON.stringify(error)} ${told(error.cause)}` : `${error}`
  t.notMatch(told(fault), /hidden|secret-of-the-backend|AADSTS/)
  how.refused = false
  t.ok(await completed(upstream, call), 'the next call signs in anew')
})
