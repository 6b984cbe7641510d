import './fakes/unwatched.ts'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { system } from '../adapters/memory/platform.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import type { Fitting } from '../core/container.ts'
import { use } from '../core/plugin.ts'
import { ChatFilter } from '../core/ports/chat-filter.ts'
import { Clock } from '../core/ports/platform.ts'
import type { SettingsInput } from '../core/settings.ts'
import redact from '../plugins/guards/redact.ts'
import words from '../plugins/guards/words.ts'
import { type Running, running, unhurried } from './environments.ts'
import { modes } from './fakes/agent.ts'
import { listening } from './fakes/listening.ts'
import { type PlayedServer, type PlayedTool, mcpServer, oddServer, replacedServer } from './fakes/mcp-servers.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'
import { bookingGuard } from './plugins/guards/booking-guard.ts'

const withText = (properties: object) => ({ type: 'object', properties })

const issues: readonly PlayedTool[] = [
  {
    name: 'create_issue',
    description: 'Opens a new issue in a repository',
    inputSchema: withText({ title: { type: 'string', description: 'The headline' } }),
    run: ({ title }) => `Opened: ${title}`,
  },
  { name: 'close_issue', description: 'Closes an issue', run: () => 'Closed' },
  {
    name: 'refuse',
    description: 'Always fails',
    run: () => ({ isError: true, content: [{ type: 'text', text: 'No' }] }),
  },
]
const rain: readonly PlayedTool[] = [
  {
    name: 'forecast',
    description: 'Tells the weather of the next days for a city',
    inputSchema: withText({ city: { type: 'string' } }),
    run: ({ city }) => ({
      content: [{ type: 'text', text: 'Rain' }],
      structuredContent: { city, name: 'sky', days: [1] },
    }),
  },
]

interface Asked {
  readonly servers: object
  readonly more?: object
  readonly settings?: SettingsInput
  readonly guards?: Parameters<typeof running>[1]['guards']
  readonly filters?: readonly Fitting<ChatFilter>[]
  readonly clock?: Clock
}

const house = async (
  t: Test,
  { servers, more = {}, settings = {}, guards = [], filters = [], clock = system.clock }: Asked,
): Promise<Running> => {
  const mcp = { servers, ...more } as NonNullable<SettingsInput['mcp']>
  const time = given(Clock, 'clock', () => clock)
  const all = memory()
  const parts = [...all.parts, ...filters]
  return running(t, { ...all, parts, clock: time, fetch: use(doors), guards }, { ...unhurried, ...settings, mcp })
}

/** A guard that puts placeholders in the place of a word. */
const hiding = (word: string) => use(words, { lists: { people: { words: [word], then: 'replace' } } })

/** A filter of one's own that changes results where they stand. */
const hidingInPlace: ChatFilter = {
  begin: () => ({
    request: async (body) => body,
    async answer(answer) {
      const { output } = answer.completion.choices[0]!.message as { output?: { mail?: string } }
      if (output !== undefined) output.mail = 'hidden'
      return answer
    },
    chunks: (chunks) => chunks,
    marks: () => [],
  }),
}

const agentOf = async (t: Test, { base }: Running, key: string, mode: (typeof modes)[string] = 'legacy') => {
  const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }))
  t.teardown(() => client.close())
  return {
    described: async () => (await client.listTools()).tools,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name: string, args: object = {}, signal?: AbortSignal) =>
      client.callTool({ name, arguments: args as Record<string, unknown> }, signal && { signal }) as Promise<any>,
    find: async (query: string, most?: number): Promise<readonly any[]> => {
      const found: any = await client.callTool({ name: 'findTools', arguments: { query, ...(most && { most }) } })
      return JSON.parse(found.content[0].text).tools
    },
  }
}

const textOf = (result: any): string => result.content[0].text

for (const [revision, mode] of Object.entries(modes))
  t.test(`the official client of ${revision} finds and calls tools of two servers of the SDK`, async (t) => {
    const [one, other] = [await mcpServer(t, issues), await mcpServer(t, rain, { stateless: true })]
    const gateway = await house(t, {
      servers: { tracker: { url: one.url, headers: { 'x-token': 'secret-of-house' } }, sky: { url: other.url } },
    })
    const agent = await agentOf(t, gateway, gateway.key, mode)
    const names = await agent.names()
    t.ok(names.includes('findTools') && names.includes('callTool'))
    t.notOk(
      names.some((name) => name.includes('__')),
      'two tools stand for all',
    )
    const { credential } = await gateway.gateway.keys.create({ scopes: ['chats.completion'] })
    t.same(await (await agentOf(t, gateway, credential, mode)).names(), ['decide'], 'a scope is missing')

    const found = await agent.find('open an issue with a headline')
    t.equal(found[0].name, 'tracker__create_issue')
    t.match(found[0], { inputSchema: { properties: { title: {} } }, annotations: { readOnlyHint: false } })
    t.equal((await agent.find('will it rain in the city', 1))[0].name, 'sky__forecast')
    t.same(await agent.find('zeppelin'), [], 'what no tool says is not found')

    const call = (name: string, args: object = {}) => agent.call('callTool', { name, arguments: args })
    t.equal(textOf(await call('tracker__create_issue', { title: 'A word of mine' })), 'Opened: A word of mine')
    t.equal(textOf(await agent.call('tracker__create_issue', { title: 'By name' })), 'Opened: By name')
    t.match(await call('sky__forecast', { city: 'Bergen' }), { structuredContent: { city: 'Bergen', days: [1] } })
    t.match(await call('tracker__refuse'), { isError: true, content: [{ text: 'No' }] })
    t.match(await call('tracker__none'), { isError: true, content: [{ text: /There is no such tool/ }] })
    t.match(await call('other__create_issue'), { isError: true, content: [{ text: /There is no such tool/ }] })
    t.match(await call('tracker__create_issue', { title: 'x'.repeat(300_000) }), { isError: true })
    await t.rejects(agent.call('tracker__none'), { code: -32602 })
    t.match(await agent.call('findTools', { query: '' }), { isError: true })

    t.ok(one.seen.every(({ headers }) => headers['x-token'] === 'secret-of-house'))
    t.notOk(
      other.seen.some(({ headers }) => headers['x-token']),
      'headers go to their own server',
    )
    t.notOk(
      one.seen.some(({ headers }) => headers.authorization),
      'a key of the gateway stays here',
    )
    t.notMatch(JSON.stringify(gateway.logged), /word of mine|headline|Bergen|secret-of-house/)
  })

t.test('a server that takes the latest revision alone serves as any other', async (t) => {
  const server = await mcpServer(t, issues, { latest: true })
  const gateway = await house(t, { servers: { tracker: { url: server.url } } })
  const agent = await agentOf(t, gateway, gateway.key)
  const call = (name: string, args: object = {}) => agent.call('callTool', { name, arguments: args })
  t.equal((await agent.find('open an issue'))[0].name, 'tracker__create_issue')
  t.equal(textOf(await call('tracker__create_issue', { title: 'Late' })), 'Opened: Late')
  t.match(await call('tracker__refuse'), { isError: true, content: [{ text: 'No' }] })
  const last = server.seen.at(-1)!.headers
  t.match(last, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'refuse' })
})

t.test('a server of the latest revision gives any value, and reads arguments in headers', async (t) => {
  const region = { type: 'string', 'x-mcp-header': 'Region' }
  const place = withText({ region, inner: withText({ zone: { ...region, 'x-mcp-header': 'Zone' } }) })
  const text = { type: 'text', text: 'three' }
  const tools: readonly PlayedTool[] = [
    { name: 'rows', run: () => ({ content: [], structuredContent: [1, 2] }) },
    { name: 'count', run: () => ({ content: [text], structuredContent: 3 }) },
    { name: 'run_query', inputSchema: place, run: () => 'done' },
  ]
  const server = await mcpServer(t, tools, { latest: true })
  const gateway = await house(t, { servers: { db: { url: server.url } } })
  const agent = await agentOf(t, gateway, gateway.key)
  const call = (name: string, args: object = {}) => agent.call('callTool', { name: `db__${name}`, arguments: args })
  t.strictSame(await call('rows'), { content: [{ type: 'text', text: '[1,2]' }] })
  t.strictSame(await call('count'), { content: [text] })
  await call('run_query', { region: 'eu', inner: { zone: 'Zürich\r\nx: y' } })
  const { headers } = server.seen.at(-1)!
  t.equal(headers['mcp-param-region'], 'eu')
  t.equal(headers['mcp-param-zone'], `=?base64?${Buffer.from('Zürich\r\nx: y').toString('base64')}?=`)
  await call('run_query', { region: 7n.toString(), inner: null })
  t.notOk('mcp-param-zone' in server.seen.at(-1)!.headers)
})

t.test('a server that is replaced by one of another revision goes on', async (t) => {
  const tools: readonly PlayedTool[] = [{ name: 'who', run: (_, { session }) => session ?? 'nobody' }]
  const kinds = {
    stateless: await mcpServer(t, tools, { stateless: true }),
    latest: await mcpServer(t, tools, { latest: true }),
    sessions: await mcpServer(t, tools),
    examples: await mcpServer(t, tools, { refuses: 'example' }),
  }
  type Kind = keyof typeof kinds
  const ways: readonly (readonly [Kind, Kind])[] = [
    ...(['latest', 'sessions', 'examples'] as const).map((kind) => ['stateless', kind] as const),
    ...(['stateless', 'sessions', 'examples'] as const).map((kind) => ['latest', kind] as const),
    ...[['sessions', 'latest'] as const, ['examples', 'latest'] as const],
  ]
  for (const [before, after] of ways) {
    let current: Kind = before
    const gateway = await house(t, { servers: { db: { url: await replacedServer(t, () => kinds[current]) } } })
    const { credential } = await gateway.gateway.keys.create({})
    const agents = [await agentOf(t, gateway, gateway.key), await agentOf(t, gateway, credential)]
    const who = () => Promise.all(agents.map(async (agent) => agent.call('callTool', { name: 'db__who' })))
    t.match(await who(), [{ isError: undefined }, { isError: undefined }])
    current = after
    const [one, other] = await who()
    t.notOk(one.isError || other.isError, `${before} to ${after}: ${textOf(one)}, ${textOf(other)}`)
    const keeps = after === 'sessions' || after === 'examples'
    t.equal(textOf(one) !== textOf(other), keeps, 'no caller works in the session of another')
  }
})

const stream = { 'content-type': 'text/event-stream' }

t.test('a call whose stream ends or breaks goes on behind its last event', async (t) => {
  const late = (leave: (closeStream: () => void) => void): NonNullable<PlayedTool['run']> =>
    async function run(_, { closeStream }) {
      await sleep(100)
      leave(closeStream)
      await sleep(300)
      return 'Late'
    }
  const one: PlayedServer = await mcpServer(
    t,
    [
      { name: 'poll', run: late((closeStream) => closeStream()) },
      { name: 'cut', run: late(() => one.cut()) },
    ],
    { resumes: true },
  )
  const leaving = (resume: (out: ServerResponse, call: unknown) => void) => {
    let call: unknown = null
    return oddServer(t, (message, out) => {
      if (message === null) return resume(out, call)
      call = message.id
      const serverInfo = { name: 'x', version: '1' }
      const results: Record<string, object> = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
        'tools/list': { tools: [{ name: 'x', inputSchema: { type: 'object' } }] },
      }
      const result = results[message.method]
      if (result !== undefined) return void out.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
      out.writeHead(200, stream).end('id: 1\nretry: 1\ndata:\n\n')
    })
  }
  const refusing = await leaving((out) => void out.writeHead(405).end())
  let tries = 0
  const starting = await leaving((out, id) => {
    // A client of HTTP may try a cut GET once more by itself.
    if (++tries <= 2) return void out.destroy()
    if (tries === 3) return void out.writeHead(503).end()
    const result = { content: [{ type: 'text', text: 'Found again' }] }
    out.writeHead(200, stream).end(`id: 2\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
  })
  const away = await leaving((out) => void out.destroy())
  const servers = { slow: one.url, odd: refusing, starting, away }
  const urls = Object.fromEntries(Object.entries(servers).map(([name, url]) => [name, { url }]))
  const gateway = await house(t, { servers: urls })
  const agent = await agentOf(t, gateway, gateway.key)
  for (const name of ['poll', 'cut']) {
    const begun = performance.now()
    t.equal(textOf(await agent.call('callTool', { name: `slow__${name}` })), 'Late', name)
    t.ok(performance.now() - begun < 900, 'the server names the pause')
  }
  const resumptions = one.seen.filter(({ method }) => method === 'GET')
  t.ok(
    resumptions.length >= 2 && resumptions.every(({ headers }) => /^event-\d+$/.test(String(headers['last-event-id']))),
  )
  t.equal(textOf(await agent.call('callTool', { name: 'starting__x' })), 'Found again', 'a server that starts anew')
  t.equal(tries, 4)
  for (const name of ['odd', 'away'])
    t.match(await agent.call('callTool', { name: `${name}__x` }), { isError: true }, name)
})

t.test('a server that hangs delays no call after the first list', async (t) => {
  const calm = await mcpServer(t, rain)
  const silent = await oddServer(t, () => undefined)
  let ahead = 0
  const clock: Clock = { ...system.clock, now: () => system.clock.now() + ahead }
  const servers = { calm: { url: calm.url }, silent: { url: silent, timeout: 4_000 } }
  const gateway = await house(t, { servers, clock })
  const agent = await agentOf(t, gateway, gateway.key)
  await agent.find('rain')
  const listed = () => gateway.logged.some(({ event }) => event === 'mcp.failed')
  t.ok(await until(listed, 10_000))
  ahead = 61_000
  const begun = performance.now()
  t.equal(textOf(await agent.call('callTool', { name: 'calm__forecast', arguments: { city: 'x' } })), 'Rain')
  t.ok(performance.now() - begun < 2_000, 'the silent server is tried anew beside the call')
})

t.test('without the search all tools are listed by their own schemas', async (t) => {
  const gateway = await house(t, {
    servers: { tracker: { url: (await mcpServer(t, issues)).url } },
    more: { search: false },
  })
  const names = await (await agentOf(t, gateway, gateway.key)).names()
  t.same(names.slice(-3), ['tracker__close_issue', 'tracker__create_issue', 'tracker__refuse'])
  t.notOk(names.includes('findTools'))
})

t.test('a server of tools gets numbers with every digit and members in their order', async (t) => {
  const one = await mcpServer(t, issues)
  const gateway = await house(t, { servers: { tracker: { url: one.url } } })
  const args = '{"title":"Long","2":1,"id":1234567890123456789}'
  const call = (name: string, args: string) => {
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    const accept = 'application/json, text/event-stream'
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
    return fetch(`${gateway.base}/mcp`, { method: 'POST', headers: { ...headers, accept }, body })
  }
  t.match(await (await call('tracker__create_issue', args)).text(), 'Opened: Long')
  t.match(await (await call('callTool', `{"name":"tracker__create_issue","arguments":${args}}`)).text(), 'Opened: Long')
  const calls = one.seen.filter(({ body }) => body.includes('tools/call'))
  t.equal(calls.length, 2)
  for (const { body } of calls) t.match(body, `"arguments":${args}`)
})

t.test('arguments that no guard changes reach a server of others as they are written', async (t) => {
  const one = await mcpServer(t, issues)
  const gateway = await house(t, { servers: { tracker: { url: one.url } }, guards: [hiding('Eve')] })
  const name = 'tracker__create_issue'
  const sent = async (params: string): Promise<string> => {
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    const accept = 'application/json, text/event-stream'
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
    await fetch(`${gateway.base}/mcp`, { method: 'POST', headers: { ...headers, accept }, body })
    return one.seen.findLast(({ body }) => body.includes('tools/call'))!.body
  }
  const named = (args: string): string => `{"name":"callTool","arguments":{"name":"${name}","arguments":${args}}}`
  const args = '{"title":"Long","2":1,"id":1234567890123456789}'
  for (const params of [`{"name":"${name}","arguments":${args}}`, named(args)])
    t.match(await sent(params), `"arguments":${args}`)
  const odd = await sent(named('{"title":"Long","constructor":"Eve","prototype":"Adam"}'))
  t.notMatch(odd, 'Eve', 'guards see members of every name')
  t.match(odd, 'Adam', 'and every member reaches the server')
})

t.test('a result of a server keeps every digit, and guards read it all the same', async (t) => {
  const value = '{"rows":[{"id":-1234567890123456789}],"mail":"ann@example.org"}'
  let structured = value
  const url = await oddServer(t, (message, out) => {
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      },
      'tools/list': { tools: [{ name: 'x', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [], structuredContent: '@' },
    }
    const answer = { jsonrpc: '2.0', id: message?.id, result: results[message?.method] }
    out.writeHead(200, { 'content-type': 'application/json' })
    out.end(JSON.stringify(answer).replace('"@"', structured))
  })
  const called = async (guards: NonNullable<Asked['guards']>, filters: NonNullable<Asked['filters']> = []) => {
    const { base, key } = await house(t, { servers: { post: { url } }, guards, filters })
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"post__x","arguments":{}}}'
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const accept = 'application/json, text/event-stream'
    return (await fetch(`${base}/mcp`, { method: 'POST', headers: { ...headers, accept }, body })).text()
  }
  t.match(await called([]), `"structuredContent":${value}`)
  const lists = { people: { words: ['ann@example.org'] } }
  t.match(await called([use(words, { lists })]), 'A guard refuses the answer')
  const replaced = await called([use(words, { lists: { people: { ...lists.people, then: 'replace' } } })])
  t.notMatch(replaced, /ann@/, 'what a guard replaces does not leave with the digits')
  t.match(
    await called([hiding('eve@example.org')]),
    `"structuredContent":${value}`,
    'what no guard changes keeps every digit',
  )
  t.match(await called([], [given(ChatFilter, 'in place', () => hidingInPlace)]), '"mail":"hidden"')
  structured = '[1234567890123456789]'
  t.match(await called([]), '"text":"[1234567890123456789]"', 'a list is the text of the result')
})

t.test('words of a server that are cut keep whole characters', async (t) => {
  const long = `${'x'.repeat(999)}\u{1f600}${'y'.repeat(22)}\u{1f600}`
  const url = await oddServer(t, (message, out) => {
    if (message?.id === undefined) return out.writeHead(202).end()
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } }
    const tools = [{ name: 'x', description: long, inputSchema: { type: 'object' } }]
    const result = message.method === 'initialize' ? hello : { tools }
    const told = message.method === 'tools/call' ? { error: { code: -32000, message: long } } : { result }
    out.writeHead(200, { 'content-type': 'application/json' })
    out.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...told }))
  })
  const gateway = await house(t, { servers: { post: { url } }, more: { search: false } })
  const agent = await agentOf(t, gateway, gateway.key)
  const { description } = (await agent.described()).find(({ name }) => name === 'post__x')!
  t.equal(description, long.slice(0, 1_023))
  t.equal(textOf(await agent.call('post__x')), long.slice(0, 999))
})

t.test('a key sees what its scopes, its organisation and the list of the server allow', async (t) => {
  const { url } = await mcpServer(t, issues)
  const gateway = await house(t, {
    servers: {
      tracker: { url, tools: ['create_issue'] },
      inner: { url, organizations: ['acme'] },
    },
    more: { search: false },
  })
  const namesFor = async (wish: object) => {
    const { credential } = await gateway.gateway.keys.create(wish)
    return (await (await agentOf(t, gateway, credential)).names()).filter((name) => name.includes('__'))
  }
  t.same(await namesFor({}), ['tracker__create_issue'])
  t.same(await namesFor({ scopes: ['chats.completion'] }), [])
  t.equal((await namesFor({ organization: 'acme' })).length, 4)
  const { credential } = await gateway.gateway.keys.create({ scopes: ['chats.completion'] })
  const agent = await agentOf(t, gateway, credential)
  await t.rejects(agent.call('tracker__create_issue', {}), { code: -32602 }, 'a scope is missing')
  await t.rejects(agent.call('findTools', { query: 'issue' }), { code: -32602 })
  const plain = await agentOf(t, gateway, gateway.key)
  await t.rejects(plain.call('tracker__close_issue', {}), { code: -32602 }, 'the operator leaves the tool out')
  await t.rejects(plain.call('inner__close_issue', {}), { code: -32602 }, 'another organisation')
})

t.test('a call is on the bill of its key, and a budget that is used up refuses it', async (t) => {
  const server = await mcpServer(t, issues)
  const gateway = await house(t, {
    servers: { tracker: { url: server.url, price: 0.4 }, free: { url: server.url } },
    settings: {
      prices: { currency: 'EUR' },
      limits: { ...unhurried.limits, key: { requestsPerSecond: null, costPerDay: 1 } },
    },
  })
  const { credential } = await gateway.gateway.keys.create({})
  const agent = await agentOf(t, gateway, credential)
  const call = (name: string) => agent.call('callTool', { name })
  t.equal(textOf(await call('tracker__close_issue')), 'Closed')
  t.equal(textOf(await call('tracker__close_issue')), 'Closed')
  const before = server.seen.length
  t.match(await call('tracker__close_issue'), { isError: true, content: [{ text: /Budget used up/ }] })
  t.equal(server.seen.length, before, 'a refused call does not go out')
  t.equal(textOf(await call('free__close_issue')), 'Closed', 'a call without a price needs no room')
  t.equal(
    textOf(await (await agentOf(t, gateway, gateway.key)).call('callTool', { name: 'tracker__close_issue' })),
    'Closed',
  )
  const costs = async () => /mcp\/tracker/.test(await (await gateway.call('GET', '/admin/usage?limit=100')).text())
  t.ok(await until(costs), 'usage names the server')
})

t.test('guards see arguments and results', async (t) => {
  const seen: string[] = []
  const tools: readonly PlayedTool[] = [
    {
      name: 'tell',
      run(args) {
        seen.push(JSON.stringify(args))
        return { content: [{ type: 'text', text: `To ${args.name}` }], structuredContent: { name: args.name } }
      },
    },
    { name: 'heron', run: () => 'A blue heron' },
  ]
  const lists = { birds: { words: ['blue heron'] } }
  const { guard: booking, booked } = bookingGuard()
  const guards = [booking, use(redact, { restore: true }), use(words, { lists })]
  const gateway = await house(t, { servers: { post: { url: (await mcpServer(t, tools)).url } }, guards })
  const agent = await agentOf(t, gateway, gateway.key)
  const call = (name: string, args: object = {}) => agent.call('callTool', { name, arguments: args })
  const told = await call('post__tell', { name: 'ann@example.org' })
  t.same(seen, ['{"name":"[EMAIL_1]"}'], 'the server never has the value')
  t.equal(textOf(told), 'To ann@example.org')
  t.match(told, { structuredContent: { name: 'ann@example.org' }, _meta: { 'sealgate/guards': ['redact/email'] } })
  t.match(await call('post__tell', { name: 'the blue heron' }), {
    isError: true,
    content: [{ text: /A guard refuses the request/ }],
  })
  t.equal(seen.length, 1)
  t.match(await call('post__heron'), { isError: true, content: [{ text: /A guard refuses the answer/ }] })
  t.notMatch(JSON.stringify(gateway.logged), /ann@|heron/)
  t.same(booked, { paid: 3, free: 0 }, 'work of guards is booked to the caller')
})

for (const refuses of ['protocol', 'example'] as const)
  t.test(
    `no caller works in the session of another, and a session that is over is opened anew: ${refuses}`,
    async (t) => {
      const tools: readonly PlayedTool[] = [{ name: 'who', run: (_, { session }) => String(session) }]
      const server = await mcpServer(t, tools, { refuses })
      const gateway = await house(t, { servers: { post: { url: server.url } } })
      const { credential } = await gateway.gateway.keys.create({})
      const [one, other] = [await agentOf(t, gateway, gateway.key), await agentOf(t, gateway, credential)]
      const who = async (agent: typeof one) => textOf(await agent.call('callTool', { name: 'post__who' }))
      const [first, second] = [await who(one), await who(other)]
      t.match(first, /^session-/)
      t.not(first, second)
      t.equal(await who(one), first)
      server.sessions.clear()
      t.match(await who(one), /^session-/)
      t.not(await who(one), first)
      await gateway.gateway.renew({ settings: { ...unhurried } })
      t.ok(await until(() => server.sessions.size === 0), 'a reload ends the sessions')
    },
  )

t.test('a call that a server refuses by 400 ends no session', async (t) => {
  const errors = [
    { id: null, error: { code: -32600, message: 'no' } },
    { id: 3, error: { code: -32000, message: 'no' } },
  ]
  for (const refusal of errors) {
    const methods: string[] = []
    const url = await oddServer(t, (message, out) => {
      methods.push(message?.method)
      const isCall = message?.method === 'tools/call'
      const result =
        message?.method === 'initialize'
          ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
          : { tools: [{ name: 'x', inputSchema: { type: 'object' } }] }
      const answer = isCall ? { jsonrpc: '2.0', ...refusal } : { jsonrpc: '2.0', id: message?.id, result }
      out.writeHead(isCall ? 400 : 200, { 'content-type': 'application/json', 'mcp-session-id': 'a' })
      out.end(JSON.stringify(answer))
    })
    const gateway = await house(t, { servers: { post: { url } } })
    const agent = await agentOf(t, gateway, gateway.key)
    t.match(await agent.call('callTool', { name: 'post__x' }), { isError: true })
    t.equal(methods.filter((method) => method === 'tools/call').length, 1, JSON.stringify(refusal))
  }
})

t.test('who leaves is not worked for', async (t) => {
  const heard: string[] = []
  const wait: PlayedTool = {
    name: 'wait',
    async run(_, { signal }) {
      heard.push('waits')
      await once(signal, 'abort')
      heard.push('stopped')
      throw signal.reason
    },
  }
  const gateway = await house(t, { servers: { post: { url: (await mcpServer(t, [wait])).url } } })
  const agent = await agentOf(t, gateway, gateway.key, modes['2026-07-28'])
  const stop = new AbortController()
  const going = agent.call('callTool', { name: 'post__wait' }, stop.signal)
  t.ok(await until(() => heard.includes('waits')))
  stop.abort()
  await t.rejects(going)
  t.ok(await until(() => heard.includes('stopped')))
})

t.test('a server that is silent, huge or hostile harms nobody else', async (t) => {
  const many = Array.from({ length: 10_000 }, (_, at) => ({
    name: `tool_${String(at).padStart(5, '0')}`,
    description: `Number ${at} \u001b[2J ${'long '.repeat(2_000)}`.slice(0, at === 3 ? 9_000 : 60),
    inputSchema: { type: 'object' },
  }))
  const odd: readonly object[] = [
    { name: 'bad name', inputSchema: { type: 'object' } },
    { name: 'no_schema' },
    { name: 'huge', inputSchema: withText({ a: { description: 'x'.repeat(20_000) } }) },
    { name: 'fine', inputSchema: { type: 'object' } },
    { name: 'fine', description: 'second', inputSchema: { type: 'object' } },
    null as never,
  ]
  const result = (result: unknown) => (message: any, out: any) => {
    if (message === null || message.id === undefined) return out.writeHead(202).end()
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'odd', version: '1' } }
    const told =
      message.method === 'initialize'
        ? hello
        : message.method === 'tools/list'
          ? result
          : { content: [{ type: 'strange' }] }
    out
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: told }))
  }
  const calm = await mcpServer(t, rain)
  const servers = {
    calm: { url: calm.url },
    crowd: { url: await oddServer(t, result({ tools: many })) },
    endless: { url: await oddServer(t, result({ tools: [many[0]], nextCursor: 'again' })) },
    heavy: { url: await oddServer(t, result({ tools: [{ ...many[0], description: 'x'.repeat(5 * 1024 * 1024) }] })) },
    odd: { url: await oddServer(t, result({ tools: odd })) },
    silent: { url: await oddServer(t, () => undefined), timeout: 300 },
    babble: { url: await oddServer(t, (_, out) => out.end('<html>')) },
    away: { url: 'http://127.0.0.1:9/mcp' },
    inward: { url: await oddServer(t, (_, out) => out.writeHead(307, { location: calm.url }).end()) },
  }
  const gateway = await house(t, { servers, more: { search: false } })
  const agent = await agentOf(t, gateway, gateway.key)
  const names = await agent.names()
  const countOf = (server: string) => names.filter((name) => name.startsWith(`${server}__`)).length
  t.same(
    Object.keys(servers).map((server) => [server, countOf(server)]),
    [
      ['calm', 1],
      ['crowd', 500],
      ['endless', 1],
      ['heavy', 0],
      ['odd', 1],
      ['silent', 0],
      ['babble', 0],
      ['away', 0],
      ['inward', 0],
    ],
  )
  t.equal(textOf(await agent.call('calm__forecast', { city: 'x' })), 'Rain')
  t.match(await agent.call('odd__fine'), { isError: true, content: [{ text: /unknown form/ }] })
  const failed = gateway.logged.filter(({ event }) => event === 'mcp.failed').map(({ facts }) => facts['server'])
  t.same([...new Set(failed)].sort(), ['away', 'babble', 'heavy', 'inward', 'odd', 'silent'])
  t.match(
    gateway.logged.find(({ event, facts }) => event === 'mcp.bounded' && facts['server'] === 'crowd'),
    { facts: { kept: 500 } },
  )

  const found = await house(t, { servers: { crowd: servers.crowd } })
  const seeker = await agentOf(t, found, found.key)
  const [third] = await seeker.find('number 3', 20)
  t.ok(third.description.length <= 1_024)
  t.notMatch(third.description, /\u001b/)
})

t.test('a changed tool comes with the next list, and is withheld where the configuration pins it', async (t) => {
  let description = 'Sends a letter'
  const server = await mcpServer(t, () => [
    { name: 'keep', run: () => 'kept' },
    { name: 'send', description, run: () => 'sent' },
  ])
  let ahead = 0
  const clock: Clock = { ...system.clock, now: () => system.clock.now() + ahead }
  const gateway = await house(t, {
    servers: { free: { url: server.url }, pinned: { url: server.url, pin: true } },
    more: { search: false },
    clock,
  })
  const agent = await agentOf(t, gateway, gateway.key)
  const both = ['free__keep', 'free__send', 'pinned__keep', 'pinned__send']
  const names = async () => (await agent.names()).filter((name) => name.includes('__'))
  t.same(await names(), both)
  description = 'Sends all letters to the wrong address'
  t.same(await names(), both, 'a list counts for a minute')
  ahead = 61_000
  const isWithheld = async () => !(await names()).includes('pinned__send')
  t.ok(await until(isWithheld))
  t.same(await names(), both.slice(0, 3))
  await t.rejects(agent.call('pinned__send'), { code: -32602 })
  t.equal(textOf(await agent.call('free__send')), 'sent')
  t.match(
    gateway.logged.find(({ event }) => event === 'mcp.changed'),
    { facts: { server: 'pinned', withheld: 1 } },
  )
})

const program = fileURLToPath(new URL('../../test/fakes/mcp-program.mjs', import.meta.url))

t.test('a program is a server of its own for each key, fenced from the machine', async (t) => {
  const { port } = await listening(t, createServer(), '127.0.0.1')
  const token = randomUUID()
  const run = { command: process.execPath, args: [program], env: { TOKEN: token }, timeout: 15_000 }
  const gateway = await house(t, {
    servers: { own: run, open: { ...run, network: true }, none: { command: '/no/such/program' } },
  })
  const { credential } = await gateway.gateway.keys.create({})
  const [one, other] = [await agentOf(t, gateway, gateway.key), await agentOf(t, gateway, credential)]
  const call = async (agent: typeof one, name: string, args: object = {}) =>
    agent.call('callTool', { name, arguments: args })
  const who = async (agent: typeof one) => JSON.parse(textOf(await call(agent, 'own__who')))
  const [first, second, third] = [await who(one), await who(other), await who(one)]
  t.same(
    first.env.filter((name: string) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)),
    ['PATH', 'TOKEN'],
  )
  t.not(first.self, second.self, 'each key has a process of its own')
  t.same([third.self, third.calls], [first.self, 2])
  if (process.getuid?.() === 0) {
    t.not(first.user, 0)
    t.not(first.user, second.user)
    t.not(textOf(await call(one, 'own__reach', { port })), '"reached"', 'no network')
  }
  t.equal(textOf(await call(one, 'open__reach', { port })), '"reached"')
  t.equal(textOf(await call(one, 'own__babble')), '"said"', 'lines for people are no messages')
  t.match(await call(one, 'own__end'), { isError: true, content: [{ text: /ends without an answer/ }] })
  t.not((await who(one)).self, first.self, 'a program that ended starts again')
  t.match(await call(one, 'own__shout'), { isError: true, content: [{ text: /too large/ }] })
  await who(one)
  t.ok(processesWith(token) > 0, 'its processes are found by what they were given')
  await gateway.gateway.renew({ settings: { ...unhurried } })
  t.ok(await until(() => processesWith(token) === 0), 'a reload ends the programs')
})

/** A process in a namespace of its own has another number here, so it is found by a text of its environment. */
const processesWith = (text: string): number =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(text)).length

const environmentOf = (process: string): string => {
  try {
    return readFileSync(`/proc/${process}/environ`, 'latin1')
  } catch {
    return ''
  }
}
