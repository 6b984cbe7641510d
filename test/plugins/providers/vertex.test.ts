import { generateKeyPairSync, verify } from 'node:crypto'
import t from 'tap'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'
import vertex from '../../../plugins/providers/vertex.ts'
import { conform } from '../../contracts/contract.ts'
import { counter } from '../../contracts/counter.ts'
import { upstream } from '../../contracts/upstream.ts'
import { backend, eventStream, type Lasting, provided, staged, vector, type Recording } from '../../contracts/stage.ts'
import { bodyOf, completed, json, messages, never } from '../../fakes/vendor.ts'
import { failed } from '../../helpers.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const place = '/v1/projects/mine/locations/europe-west4'

const keyFile = (url: string, more: object = {}) =>
  JSON.stringify({
    type: 'service_account',
    project_id: 'mine',
    private_key_id: 'key-1',
    private_key: pem,
    client_email: 'it@mine.iam.gserviceaccount.com',
    token_uri: `${url}/token`,
    ...more,
  })

const settings = (url: string, tokens = url) => ({
  project: 'mine',
  location: 'europe-west4',
  baseUrl: url,
  serviceAccount: keyFile(tokens),
})

const gemini: Recording = {
  provider: vertex,
  settings,
  model: 'gemini-2.5-flash',
  vectors: 'gemini',
  stream: eventStream,
  lists: /^\/none$/,
  chats: new RegExp(
    `^${place}/publishers/google/models/gemini-2.5-flash:(generateContent|streamGenerateContent\\?alt=sse)$`,
  ),
  streams: (path) => path.includes('streamGenerateContent'),
  counts: new RegExp(`^${place}/publishers/google/models/gemini-2.5-flash:countTokens$`),
}
const claude: Recording = {
  ...gemini,
  model: 'claude-sonnet-4-6',
  vectors: 'anthropic',
  chats: new RegExp(`^${place}/publishers/anthropic/models/claude-sonnet-4-6:(rawPredict|streamRawPredict)$`),
  streams: (path) => path.includes('streamRawPredict'),
  counts: new RegExp(`^${place}/publishers/anthropic/models/count-tokens:rawPredict$`),
}
const open: Recording = {
  ...gemini,
  model: 'meta/llama-3.3-70b-instruct-maas',
  vectors: 'openai',
  chats: new RegExp(`^${place}/endpoints/openapi/chat/completions$`),
  streams: () => false,
}

/** A stage behind a sign-in of its own address. */
const signedStage = async (t: Lasting, recording: Recording) => {
  const tokens = await backend(t, async () => ({ headers: json, body: await vector('vertex/token.json') }))
  const stage = await staged(t, { ...recording, settings: (url) => settings(url, tokens.url) })
  return { ...stage, asked: () => ({ ...stage.asked(), model: recording.model }) }
}

for (const [name, recording] of Object.entries({ Gemini: gemini, Claude: claude, 'open models': open })) {
  t.test(`contract of ${name}`, (t) =>
    conform(t, upstream.contract, (t) => signedStage(t, recording), {
      'lists its models': 'the list is that of all models',
    }),
  )
}

for (const [name, recording] of Object.entries({ Gemini: gemini, Claude: claude })) {
  t.test(`contract of counters of ${name}`, (t) =>
    conform(t, counter.contract, async (t) => ({ ...(await signedStage(t, recording)), tokens: 21 })),
  )
}

t.test('a prompt is counted in the form of its model, and open models count none', async (t) => {
  const server = await backend(t, async ({ path }) => {
    if (path === '/token') return { headers: json, body: await vector('vertex/token.json') }
    return {
      headers: json,
      body: await vector(path.includes('anthropic') ? 'anthropic/count.json' : 'gemini/count.json'),
    }
  })
  const upstream = await provided(t, vertex, settings(server.url))
  const asked = () => JSON.parse(server.asked.at(-1)!.body.toString())
  const body = {
    messages: [{ role: 'system', content: 'Be short.' }, ...messages],
    max_tokens: 9,
    service_tier: 'flex',
  }
  t.same(await upstream.countTokens!({ model: gemini.model, body }, never), { tokens: 21 })
  t.same(asked(), {
    systemInstruction: { parts: [{ text: 'Be short.' }] },
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { maxOutputTokens: 9 },
  })
  const native = {
    dialect: 'messages',
    body: { messages, max_tokens: 5 },
    headers: { 'anthropic-beta': 'one' },
  } as const
  t.match(await upstream.countTokens!({ model: claude.model, body, native }, never), {
    tokens: 21,
    native: { body: {} },
  })
  t.same(asked(), { anthropic_version: 'vertex-2023-10-16', model: claude.model, messages })
  t.equal(server.asked.at(-1)!.headers['anthropic-beta'], 'one')
  const before = server.asked.length
  t.equal(await upstream.countTokens!({ model: open.model, body }, never), null)
  t.equal(server.asked.length, before, 'nobody is asked')
})

/** A cloud that signs in, lists, and answers what the path asks for. */
const cloud = async (t: Lasting, own: object = {}) => {
  const how = { refused: false, lists: 200 }
  const server = await backend(t, async ({ path }) => {
    if (path === '/token' || path.startsWith('/computeMetadata/')) {
      return how.refused
        ? { status: 400, headers: json, body: await vector('vertex/token-error.json') }
        : { headers: json, body: await vector('vertex/token.json') }
    }
    if (path.startsWith('/v1beta1/')) {
      const file = how.lists === 200 ? 'models' : 'error-403'
      return { status: how.lists, headers: json, body: await vector(`vertex/${file}.json`) }
    }
    if (path.endsWith(':predict')) return { headers: json, body: await vector('vertex/embeddings.json') }
    if (path.endsWith(':embedContent')) {
      return { headers: json, body: '{"embedding":{"values":[1,2]},"usageMetadata":{"promptTokenCount":3}}' }
    }
    if (path.endsWith(':rawPredict')) return { headers: json, body: await vector('anthropic/chat.json') }
    if (path.endsWith('/completions')) return { headers: json, body: await vector('openai/chat.json') }
    return { headers: json, body: await vector('gemini/chat.json') }
  })
  const upstream = await provided(t, vertex, { ...settings(server.url), ...own })
  return { upstream, how, server }
}

const ask = (upstream: Upstream, model: string) => completed(upstream, { model, stream: false, body: { messages } })

t.test('a service account signs in by an assertion that its public key verifies, once for many calls', async (t) => {
  const { upstream, server } = await cloud(t)
  await Promise.all([ask(upstream, gemini.model), ask(upstream, claude.model), ask(upstream, open.model)])
  const [signIn, ...more] = server.asked.filter(({ path }) => path === '/token')
  t.equal(more.length, 0)
  const form = new URLSearchParams(signIn!.body.toString())
  t.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
  const [head, claims, signature] = form.get('assertion')!.split('.') as [string, string, string]
  t.ok(verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url')))
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  t.same(read(head), { alg: 'RS256', typ: 'JWT', kid: 'key-1' })
  const { iat, exp, ...told } = read(claims)
  t.same(told, {
    iss: 'it@mine.iam.gserviceaccount.com',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: `${server.url}/token`,
  })
  t.equal(exp - iat, 3600)
  const requests = server.asked.filter(({ path }) => path !== '/token')
  t.equal(requests.length, 3)
  for (const { headers } of requests) t.equal(headers.authorization, 'Bearer token-1')
})

t.test('without a key file the machine’s own account signs in', async (t) => {
  const tokens = await backend(t, async () => ({ headers: json, body: await vector('vertex/token.json') }))
  const { upstream, server } = await cloud(t, { serviceAccount: undefined, metadataUrl: tokens.url })
  await ask(upstream, gemini.model)
  t.equal(tokens.asked[0]!.path, '/computeMetadata/v1/instance/service-accounts/default/token')
  t.equal(tokens.asked[0]!.headers['metadata-flavor'], 'Google')
  t.equal(server.asked[0]!.headers.authorization, 'Bearer token-1')
})

t.test('a sign-in that fails is the backend’s fault, and tells no secret', async (t) => {
  const { upstream, how } = await cloud(t)
  how.refused = true
  const fault = await failed(ask(upstream, gemini.model))
  t.match(fault, { constructor: UpstreamFailed, again: true, answered: 400, status: 502 })
  const told = (error: unknown): string =>
    error instanceof Error ? `${error.stack} ${JSON.stringify(error)} ${told(error.cause)}` : `${error}`
  t.notMatch(told(fault), /secret-of-the-backend|PRIVATE KEY/)
})

t.test('key files that are none end the start without a word of them', async (t) => {
  const url = 'https://aiplatform.invalid'
  for (const [serviceAccount, words] of [
    ['secret', 'vertex: serviceAccount is not the JSON text of a key file'],
    [keyFile(url, { client_email: 7 }), 'vertex: serviceAccount is not the JSON text of a key file'],
    [keyFile(url, { private_key: 'secret' }), 'vertex: serviceAccount has no RSA key'],
  ] as const) {
    await t.rejects(cloud(t, { serviceAccount }), { message: words })
  }
})

t.test('each kind of model gets its own form', async (t) => {
  const { upstream, server } = await cloud(t)
  const dialectOf = (model: string) => typeof upstream.dialect === 'function' && upstream.dialect(model)
  t.same(
    [gemini, claude, open].map(({ model }) => dialectOf(model)),
    ['generate-content', 'messages', undefined],
  )
  const native = {
    dialect: 'messages',
    body: { messages, max_tokens: 5 },
    headers: { 'anthropic-beta': 'one' },
  } as const
  const answer = await upstream.chat!({ model: claude.model, stream: false, body: { messages }, native }, never)
  t.match(answer, { native: { dialect: 'messages', body: { type: 'message' } } })
  const request = server.asked.at(-1)!
  t.equal(request.headers['anthropic-beta'], 'one')
  t.same(JSON.parse(request.body.toString()), { anthropic_version: 'vertex-2023-10-16', messages, max_tokens: 5 })
  await ask(upstream, open.model)
  t.same(JSON.parse(server.asked.at(-1)!.body.toString()), { model: open.model, messages })
})

t.test('models, and a list of one’s own', async (t) => {
  const { upstream, server } = await cloud(t)
  t.same(await upstream.models(never), [
    { id: 'gemini-2.5-flash', type: 'CHAT' },
    { id: 'gemini-2.5-flash-image', type: 'IMAGE' },
    { id: 'text-embedding-005', type: 'EMBEDDING' },
  ])
  t.equal(server.asked.at(-1)!.headers['x-goog-user-project'], 'mine')
  const own = await cloud(t, { models: { 'claude-sonnet-4-6': 'CHAT' } })
  const listed = [{ id: 'claude-sonnet-4-6', type: 'CHAT' }]
  t.same(await own.upstream.models(never), listed)
  own.how.lists = 403
  t.same(await own.upstream.models(never), listed, 'an account that may not list')
})

t.test('vectors', async (t) => {
  const { upstream, server } = await cloud(t)
  const many = await upstream.embed!({ model: 'text-embedding-005', texts: ['a', 'b'], dimensions: 2 }, never)
  t.same([...many.vectors[1]!], [1, 2])
  t.same(many.usage, { input: 7, output: 0 })
  t.same(JSON.parse(server.asked.at(-1)!.body.toString()), {
    instances: [{ content: 'a' }, { content: 'b' }],
    parameters: { outputDimensionality: 2 },
  })
  t.match(await failed(upstream.embed!({ model: 'gemini-embedding-001', texts: ['a', 'b'] }, never)), UpstreamFailed)
  t.match(JSON.parse(server.asked.at(-1)!.body.toString()), { instances: [{ content: 'a' }] })
  server.asked.splice(0)
  const newer = await upstream.embed!({ model: 'gemini-embedding-2', texts: ['a', 'b'], dimensions: 2 }, never)
  t.same([newer.vectors.map((vector) => [...vector]), newer.usage], [[[1, 2], [1, 2]], { input: 6, output: 0 }]) // prettier-ignore
  t.same(
    server.asked.map((request) => [request.path.split('/').at(-1), bodyOf(request)]),
    ['a', 'b'].map((text) => [
      'gemini-embedding-2:embedContent',
      { content: { parts: [{ text }] }, outputDimensionality: 2 },
    ]),
  )
})

t.test('vectors of more tokens than Google takes at once come by several requests', async (t) => {
  const server = await backend(t, (request) => {
    if (/token/.test(request.path)) return { headers: json, body: '{"access_token":"a","expires_in":3600}' }
    const { instances } = bodyOf(request)
    const predictions = instances.map(() => ({ embeddings: { values: [1], statistics: { token_count: 4_000 } } }))
    return { headers: json, body: JSON.stringify({ predictions }) }
  })
  const upstream = await provided(t, vertex, settings(server.url))
  const texts = Array.from({ length: 5 }, () => 'word'.repeat(4_000))
  const { vectors, usage } = await upstream.embed!({ model: 'text-embedding-005', texts }, never)
  t.same([vectors.length, usage], [5, { input: 20_000, output: 0 }])
  const sizes = server.asked
    .filter(({ path }) => path.endsWith(':predict'))
    .map((request) => bodyOf(request).instances.length)
  t.same(sizes, [2, 2, 1])
})

t.test('refusals', async (t) => {
  const refused = async (model: string, status: number, message: string) => {
    const server = await backend(t, async ({ path }) =>
      path === '/token'
        ? { headers: json, body: await vector('vertex/token.json') }
        : { status, headers: json, body: JSON.stringify({ error: { code: status, message, status: 'X' } }) },
    )
    return failed(ask(await provided(t, vertex, settings(server.url)), model))
  }
  const long = 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).'
  t.match(await refused(gemini.model, 400, long), { constructor: BadRequest, code: 'context_length_exceeded' })
  t.match(await refused(claude.model, 400, 'prompt is too long: 210000 tokens'), {
    constructor: BadRequest,
    code: 'context_length_exceeded',
  })
  t.match(await refused(open.model, 429, 'Resource exhausted'), { constructor: UpstreamFailed, answered: 429 })
})
