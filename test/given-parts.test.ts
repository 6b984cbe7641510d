import t from 'tap'
import * as v from 'valibot'
import { memory } from '../adapters/memory/index.ts'
import { createGateway } from '../core/gateway.ts'
import { plugin, use } from '../core/plugin.ts'
import { ChatFilter } from '../core/ports/chat-filter.ts'
import { Credentials } from '../core/ports/credentials.ts'
import { Ledger } from '../core/ports/ledger.ts'
import { Observer } from '../core/ports/observer.ts'
import { Surface } from '../core/ports/surface.ts'
import { Upstream } from '../core/ports/upstream.ts'
import { chatNeeds, json, route, wholeAnswer } from '../plugins/surfaces/shared/own-surface.ts'
import { given } from './fitted.ts'

const chat = { model: 'rehearsal', messages: [{ role: 'user', content: 'Say it.' }] }

const answerOf = async (gateway: ReturnType<typeof createGateway>, credential?: string): Promise<Response> => {
  const key = credential ?? (await gateway.keys.create({})).credential
  return gateway.fetch(
    new Request('http://gateway/std/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chat),
    }),
  )
}

t.test('a gateway boots and serves without each of its parts, and without all of them', async (t) => {
  const all = memory()
  for (const part of all.parts) {
    const gateway = createGateway({ ...all, parts: all.parts.filter((other) => other !== part) })
    t.equal((await answerOf(gateway)).status, 200, `without ${part.port.name} ${part.name}`)
    await gateway.close()
  }
  const bare = createGateway({ ...all, parts: [] })
  t.equal((await answerOf(bare)).status, 200, 'without any')
  await bare.close()
})

t.test('a gateway boots without each of its surfaces, and without all of them', async (t) => {
  const all = memory()
  for (const surface of all.surfaces) {
    const gateway = createGateway({ ...all, surfaces: all.surfaces.filter((other) => other !== surface) })
    t.notOk(gateway.surfaces.includes(surface.name), surface.name)
    t.equal((await answerOf(gateway)).status, surface.name === 'chat' ? 404 : 200, `without ${surface.name}`)
    await gateway.close()
  }
  const bare = createGateway({ ...all, surfaces: [] })
  t.same(bare.surfaces, [])
  t.equal((await bare.fetch(new Request('http://gateway/health/live'))).status, 200)
  await bare.close()
})

/** Paths by the plugin whose doors they are. */
const doors: Readonly<Record<string, readonly string[]>> = {
  decision: ['/v1/decisions', '/api/alpha/decisions'],
  v1: ['/v1/responses', '/v1/responses/input_tokens', '/v1/rerank', '/v1/moderations'],
  batches: ['/v1/batches', '/v1/files', '/v1/messages/batches'],
  gemini: ['/v1beta/models/{model}:embedContent'],
  mcp: ['/mcp'],
}

/** Parts that serve doors without paths of their own. */
const partsOfDoors = ['model-rules', 'quotas', 'mcp-servers', 'opentelemetry', 'metrics', 'guards', 'budget-webhook']

t.test('the paths of a door go with its plugin, and no other path', async (t) => {
  const all = memory()
  const pathsWithout = async (plugin: string | null): Promise<ReadonlySet<string>> => {
    const gateway = createGateway({ ...all, surfaces: all.surfaces.filter(({ name }) => name !== plugin) })
    const answer = await gateway.fetch(new Request('http://gateway/openapi.json'))
    const { paths } = (await answer.json()) as { readonly paths: object }
    await gateway.close()
    return new Set(Object.keys(paths))
  }
  const whole = await pathsWithout(null)
  for (const [plugin, paths] of Object.entries(doors)) {
    const left = await pathsWithout(plugin)
    for (const path of paths) t.ok(whole.has(path) && !left.has(path), `${path} goes with ${plugin}`)
    for (const [other, theirs] of Object.entries(doors))
      if (other !== plugin)
        t.ok(
          theirs.every((path) => left.has(path)),
          `${other} stays without ${plugin}`,
        )
    t.same(
      [...left].filter((path) => !whole.has(path)),
      [],
      'and nothing comes',
    )
  }
  const names = all.parts.map(({ name }) => name)
  for (const part of partsOfDoors) t.ok(names.includes(part), `${part} is one of the parts that are left out above`)
})

t.test('a route goes with the part that it needs', async (t) => {
  const all = memory()
  const gateway = createGateway({ ...all, parts: all.parts.filter(({ name }) => name !== 'metrics') })
  t.teardown(() => gateway.close())
  const { credential } = await gateway.keys.create({})
  const headers = { authorization: `Bearer ${credential}` }
  t.equal((await gateway.fetch(new Request('http://gateway/metrics', { headers }))).status, 404)
})

t.test('a feature is added at each port, and the core stays as it is', async (t) => {
  const all = memory()
  const seen: string[] = []
  const observer = given(Observer, 'counting', () => ({
    came: () => seen.push('came'),
    left: (route, status) => seen.push(`${route} ${status}`),
  }))
  const caller = { key: 'badge_1', organization: 'acme', user: 'ada', scopes: ['chats.completion'], models: null, limits: {} } as const // prettier-ignore
  const badges = given(Credentials, 'badges', () => ({
    takes: (credential) => credential.startsWith('badge-'),
    find: async (credential) => (credential === 'badge-ada' ? { caller, admits: () => true } : null),
  }))
  const filter = plugin({
    port: ChatFilter,
    name: 'marking',
    create: (): ChatFilter => ({
      begin: () => ({
        request: async (body) => body,
        answer: async (answer) => answer,
        chunks: (chunks) => chunks,
        // A plugin's marks may hold what no header may.
        marks: () => ['marking/seen', 'marking/gesehen\r\n\u65e5, too'],
      }),
    }),
  })
  const ledger = given(Ledger, 'own', () => ({
    open: ({ model }) => seen.push(`open ${model}`),
    settle: (_, { organization }, { requests }) => void seen.push(`settle ${organization} ${requests}`),
    keep() {},
    cancel() {},
  }))
  const gateway = createGateway({
    ...all,
    parts: [...all.parts, observer, badges, use(filter), ledger],
  })
  t.teardown(() => gateway.close())
  const answer = await answerOf(gateway, 'badge-ada')
  t.equal(answer.status, 200)
  t.match(answer.headers.get('x-sealgate-guards'), /^marking\/seen, marking\/gesehen_____too$/)
  await answer.text()
  t.equal((await answerOf(gateway, 'badge-eve')).status, 401)
  t.match(seen, ['came', 'open rehearsal', 'settle acme 1'])
  t.ok(seen.includes('POST /std/chat/completions 200'), seen.join(', '))
})

t.test('a dialect of one\u2019s own is a provider and a surface', async (t) => {
  const asked: unknown[] = []
  const mast = plugin({
    port: Upstream,
    name: 'mast',
    create: (_, __, name): Upstream => ({
      name,
      dialect: 'flags',
      models: async () => [{ id: 'mast', type: 'CHAT' }],
      async chat({ model, body, native }) {
        asked.push(native ?? body)
        const message = { role: 'assistant', content: 'seen' }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        return {
          kind: 'completion',
          completion: { id: '1', object: 'chat.completion', created: 1, model, choices, usage: null },
        }
      },
    }),
  })
  const wave = route({
    method: 'POST',
    path: '/flags',
    summary: 'Waves flags.',
    access: { scope: 'chats.completion' },
    body: { read: 'json', schema: v.object({ model: v.string(), flags: v.array(v.string()) }), bytes: 1024 },
    answer: v.object({ flags: v.string() }),
    needs: chatNeeds,
    handle: async ({ caller, input: { model, flags }, signal }, given) => {
      const body = { messages: [{ role: 'user', content: flags.join(' ') }] }
      const native = { dialect: 'flags', body: { flags }, headers: {} }
      const { answer } = await wholeAnswer(
        {
          ...{ caller: caller!, model, provider: null, session: null },
          understand: (to) => ({ body, dropped: [], ...(to === 'flags' && { native }) }),
        },
        given,
        signal,
      )
      return json({ flags: String(answer.completion.choices[0]?.message.content) })
    },
  })
  const chapter = async () => ({ name: 'Flags', about: 'Flags.', words: {}, operations: {} })
  const flags = plugin({ port: Surface, name: 'flags', create: () => ({ name: 'flags', routes: [wave], chapter }) })
  const all = memory()
  const gateway = createGateway({
    ...all,
    upstreams: [...all.upstreams, use(mast)],
    surfaces: [...all.surfaces, use(flags)],
  })
  t.teardown(() => gateway.close())
  const { credential } = await gateway.keys.create({})
  for (const model of ['mast', 'rehearsal']) {
    const answer = await gateway.fetch(
      new Request('http://gateway/flags', {
        method: 'POST',
        headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, flags: ['up', 'down'] }),
      }),
    )
    t.equal(answer.status, 200, model)
    t.match(await answer.json(), { flags: model === 'mast' ? 'seen' : /up down$/ })
  }
  t.same(
    asked,
    [{ dialect: 'flags', body: { flags: ['up', 'down'] }, headers: {} }],
    'the backend reads its own dialect',
  )
})
