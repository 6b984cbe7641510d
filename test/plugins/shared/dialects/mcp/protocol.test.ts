import t from 'tap'
import { protocol } from '../../../../../plugins/shared/dialects/mcp/protocol.ts'

const notified: object[] = []

const answer = (method: string, params: Record<string, unknown> = {}): Promise<object> =>
  protocol({
    version: '1.2.3',
    instructions: 'words',
    tools: async () => [{ name: 'one' }],
    async call(_name, args, told) {
      for (const done of [0, 1, 1, 500, 400, 1000]) told.progress(done, 1000)
      return { content: [args] }
    },
    resources: { list: () => [], read: (uri) => (uri === 'known' ? { uri, text: 't' } : null) },
    lasting: 1000,
  })({ method, params, signal: new AbortController().signal, notify: (_, told) => void notified.push(told) })

const envelope = (version: unknown = '2026-07-28', capabilities: unknown = {}) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  },
})

t.test('the handshake takes the revision that both speak, or offers its own', async (t) => {
  for (const [asked, text] of [
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2025-11-25'],
    ['2099-01-01', '2025-11-25'],
    [undefined, '2025-11-25'],
  ]) {
    const shown = { protocolVersion: text, serverInfo: { name: 'sealgate', version: '1.2.3' }, instructions: 'words' }
    t.match(await answer('initialize', { protocolVersion: asked }), shown)
  }
  t.same(await answer('ping'), {})
  t.same(await answer('tools/list'), { tools: [{ name: 'one' }] }, 'with nothing of the other revision')
  await t.rejects(answer('server/discover'), { code: -32601 })
})

t.test('without a handshake each call names its revision, and each answer its type', async (t) => {
  const base = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'sealgate' } } }
  t.match(await answer('server/discover', envelope()), {
    ...base,
    supportedVersions: ['2026-07-28'],
    cacheScope: 'private',
  })
  t.match(await answer('tools/list', envelope()), { ...base, tools: [{ name: 'one' }], cacheScope: 'private' })
  t.notMatch(await answer('tools/call', { ...envelope(), name: 'one' }), { ttlMs: Number })
  for (const method of ['ping', 'initialize', 'logging/setLevel', 'constructor'])
    await t.rejects(answer(method, envelope()), { code: -32601 }, method)
  const wanted = { code: -32022, data: { supported: ['2026-07-28'], requested: '2027-01-01' } }
  await t.rejects(answer('tools/list', envelope('2027-01-01')), wanted)
  for (const odd of [envelope(7), envelope('2026-07-28', null)])
    await t.rejects(answer('tools/list', odd), { code: -32602 })
})

t.test('odd parameters are errors, and a resource that is not there is named', async (t) => {
  await t.rejects(answer('tools/call', { name: 7 }), { code: -32602 })
  await t.rejects(answer('resources/read', { uri: 'none' }), { code: -32602, data: { uri: 'none' } })
  t.same(await answer('resources/read', { uri: 'known' }), { contents: [{ uri: 'known', text: 't' }] })
  t.same(await answer('resources/templates/list'), { resourceTemplates: [] })
})

t.test('progress goes to whom asked for it, in whole percents, and never back', async (t) => {
  notified.length = 0
  await answer('tools/call', { name: 'one' })
  t.same(notified, [])
  await answer('tools/call', { name: 'one', _meta: { progressToken: 'token' } })
  const told = (progress: number) => ({ progressToken: 'token', progress, total: 1000 })
  t.same(notified, [told(0), told(500), told(1000)])
})
