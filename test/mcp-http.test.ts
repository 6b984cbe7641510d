import './fakes/unwatched.ts'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { modes } from './fakes/agent.ts'
import { type ClearHouse, clearHouse } from './fakes/clear-house.ts'
import { until } from './until.ts'

const version = 'io.modelcontextprotocol/protocolVersion'
const capabilities = 'io.modelcontextprotocol/clientCapabilities'
const meta = { [version]: '2026-07-28', [capabilities]: {} }
const modern = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
})

interface Said {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: any
}

/** One POST whose every header is as given: `fetch` would not send another host. */
const post = async (
  { base, key }: Pick<ClearHouse, 'base' | 'key'>,
  body: unknown,
  headers: Record<string, string> = {},
  path = '/mcp',
): Promise<Said> => {
  const told = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
  const sent = request(base + path, { method: 'POST', headers: told })
  sent.end(typeof body === 'string' ? body : JSON.stringify(body))
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
    sent.once('response', resolve).once('error', reject),
  )
  const text = (await buffer(answer)).toString()
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
}

const called = (method: string, params: object = {}, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })

const agentOf = async (t: Test, { base }: ClearHouse, key: string, mode: (typeof modes)[string]) => {
  const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }))
  t.teardown(() => client.close())
  return client
}

const wordsOf = (result: unknown): string => (result as { content: readonly { text: string }[] }).content[0]!.text

for (const [revision, mode] of Object.entries(modes))
  t.test(`the official client of ${revision} lists and calls tools in the clear`, async (t) => {
    const house = await clearHouse(t)
    const client = await agentOf(t, house, house.key, mode)
    t.equal(client.getServerVersion()?.name, 'sealgate')
    const { tools } = await client.listTools()
    t.same(
      tools.map(({ name }) => name),
      ['decide', 'getTime', 'test_error_handling', 'test_simple_text', 'webPageScraperTool', 'webSearchTool'],
      'those that may run in the clear, and no other',
    )
    t.match(tools[1], { inputSchema: { type: 'object', required: ['timezone'] }, annotations: { readOnlyHint: true } })
    const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })
    t.match(wordsOf(await call('getTime', { timezone: 'Asia/Kolkata' })), /"offset":"\+05:30"/)
    const criteria = { 10: 'ten', 2: 'two' }
    const decided = await call('decide', {
      state: 'x',
      questions: { q: { type: 'choice', instructions: 'Which?', criteria } },
    })
    t.match(JSON.parse(wordsOf(decided)), { model: 'sure', answers: { q: { choice: Object.keys(criteria)[0] } } })
    t.match(await call('getTime', { timezone: 'Nowhere/None' }), { isError: true })
    t.match(await call('getTime', {}), { isError: true, content: [{ text: /timezone/ }] })
    t.match(await call('getTime', { timezone: 'UTC', more: 1 }), { isError: true, content: [{ text: /more/ }] })
    t.match(await call('decide', { state: 'x', questions: {}, more: 1 }), { isError: true })
    t.match(await call('webPageScraperTool', { url: 'http://127.0.0.1:1/' }), { isError: true }, 'no way inward')
    t.match(await call('getTime', { timezone: 'UTC'.repeat(6000) }), { isError: true, content: [{ text: /too long/ }] })
    await t.rejects(call('sealedAlone', { query: 'x' }), { code: -32602 })
    t.same(house.inside, [], 'a tool of the inside is not run')

    const stop = new AbortController()
    const asked = client.callTool({ name: 'webSearchTool', arguments: { query: 'heron' } }, { signal: stop.signal })
    t.ok(await until(() => house.waited.includes('heron')))
    stop.abort()
    await t.rejects(asked)
    if (revision === '2026-07-28')
      t.ok(await until(() => house.waited.includes('stopped')), 'who leaves is not worked for')
  })

t.test('a key sees what its scopes allow, and calls nothing else', async (t) => {
  const house = await clearHouse(t)
  for (const [scopes, names] of [
    [['chats.completion'], ['decide']],
    [['files.encrypted.read'], []],
    [['tools.execute'], ['getTime', 'test_error_handling', 'test_simple_text', 'webPageScraperTool', 'webSearchTool']],
  ] as const) {
    const { credential } = await house.gateway.keys.create({ scopes: [...scopes] })
    const own = { base: house.base, key: credential }
    const { body } = await post(own, called('tools/list'))
    t.same(
      body.result.tools.map(({ name }: { name: string }) => name),
      names,
    )
    const time = called('tools/call', { name: 'getTime', arguments: { timezone: 'UTC' } })
    t.match(
      (await post(own, time)).body,
      (names as readonly string[]).includes('getTime') ? { result: {} } : { error: { code: -32602 } },
    )
  }
  const { credential } = await house.gateway.keys.create({ models: ['other'] })
  const questions = { q: { type: 'noul', instructions: 'Is it?' } }
  const asked = called('tools/call', { name: 'decide', arguments: { state: '', questions, model: 'sure' } })
  t.match((await post({ base: house.base, key: credential }, asked)).body, { result: { isError: true } })
})

t.test('pages of other origins, foreign hosts and callers without a key come no further', async (t) => {
  const closed = await clearHouse(t)
  const open = await clearHouse(t, {
    mcp: { url: 'https://ai.example.org/mcp' },
    cors: { origins: ['https://a.example'] },
  })
  const list = called('tools/list')
  const asked = async (house: ClearHouse, headers: Record<string, string>) => (await post(house, list, headers)).status
  const own = new URL(closed.base).host
  t.equal(await asked(closed, {}), 200)
  t.equal(await asked(closed, { host: 'localhost:1', origin: 'http://localhost:2' }), 200, 'this machine')
  t.equal(await asked(closed, { host: '[::1]:1' }), 200)
  for (const host of ['evil.example', 'ai.example.org', '127.0.0.1.evil.example', 'localhost.evil.example'])
    t.equal(await asked(closed, { host }), 403, host)
  for (const origin of ['https://evil.example', 'null', `https://${own}.evil.example`])
    t.equal(await asked(closed, { origin }), 403, origin)
  t.equal(await asked(open, { host: 'ai.example.org' }), 200)
  t.equal(await asked(open, { host: 'ai.example.org', origin: 'https://ai.example.org' }), 200)
  t.equal(await asked(open, { host: 'ai.example.org', origin: 'https://a.example' }), 200)
  t.equal(await asked(open, { host: 'other.example.org' }), 403)
  t.equal(await asked(open, { host: 'ai.example.org', origin: 'https://other.example.org' }), 403)

  const path = '/.well-known/oauth-protected-resource/mcp'
  const refused = await post({ base: open.base, key: 'sk_live_no' }, list)
  t.match(refused, { status: 401, body: { jsonrpc: '2.0', error: { code: -32000, data: { status: 401 } } } })
  t.equal(
    refused.headers['www-authenticate'],
    `Bearer realm="sealgate", resource_metadata="https://ai.example.org${path}"`,
  )
  t.equal((await post({ base: closed.base, key: 'no' }, list)).headers['www-authenticate'], 'Bearer realm="sealgate"')
  t.match(await (await fetch(open.base + path)).json(), {
    resource: 'https://ai.example.org/mcp',
    bearer_methods_supported: ['header'],
  })
  t.equal((await fetch(closed.base + path)).status, 404)
  for (const method of ['GET', 'DELETE']) {
    const answer = await fetch(`${closed.base}/mcp`, { method })
    t.same([answer.status, answer.headers.get('allow'), await answer.text()], [405, 'POST', ''])
  }
})

t.test('what is no message, and headers that differ from the body, have typed errors', async (t) => {
  const house = await clearHouse(t)
  for (const [body, code] of [
    ['{', -32700],
    ['[]', -32600],
    [[called('ping')], -32600],
    [{ jsonrpc: '2.0', id: 1, result: {} }, -32600],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }, -32600],
    [called('ping', {}, null), -32600],
    [called('ping', [] as object), -32600],
    [called('ping', { much: 'x'.repeat(1024 * 1024) }), -32600],
  ] as const)
    t.match(await post(house, body), { status: 400, body: { error: { code } } }, JSON.stringify(body).slice(0, 60))
  t.match(await post(house, { jsonrpc: '2.0', method: 'notifications/initialized' }), { status: 202, body: null })
  t.match(await post(house, called('none')), { status: 200, body: { id: 1, error: { code: -32601 } } })

  const list = called('tools/list', { _meta: meta }, 'a')
  const time = called('tools/call', { _meta: meta, name: 'getTime', arguments: { timezone: 'UTC' } })
  t.match(await post(house, list, modern('tools/list')), { status: 200, body: { id: 'a', result: { ttlMs: 60_000 } } })
  t.match((await post(house, time, modern('tools/call', 'getTime'))).body.result, { resultType: 'complete' })
  t.match((await post(house, time, modern('tools/call', '=?base64?Z2V0VGltZQ==?='))).body.result, { content: [{}] })
  const mismatch = { status: 400, body: { error: { code: -32020 } } }
  t.match(await post(house, list), mismatch, 'no headers')
  t.match(await post(house, list, { ...modern('tools/list'), 'mcp-protocol-version': '2025-11-25' }), mismatch)
  t.match(await post(house, list, modern('TOOLS/LIST')), mismatch)
  t.match(await post(house, time, modern('tools/call', 'decide')), mismatch)
  t.match(await post(house, time, modern('tools/call')), mismatch)
  t.match(await post(house, called('tools/list'), modern('tools/list')), {
    status: 400,
    body: { error: { code: -32602 } },
  })
  const none = called('none', { _meta: meta })
  t.match(await post(house, none, modern('none')), { status: 404, body: { error: { code: -32601 } } })
  const unknown = { status: 400, body: { error: { code: -32022, data: { requested: '1900-01-01' } } } }
  t.match(await post(house, called('tools/list'), { 'mcp-protocol-version': '1900-01-01' }), unknown)

  t.notMatch(JSON.stringify(house.logged), /Asia|UTC|getTime/, 'no word of a message is logged')
})
