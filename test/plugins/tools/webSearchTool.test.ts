import { createServer, type RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { clock, fetch } from '../../../adapters/production/platform.ts'
import { BadRequest, Unconfigured, UpstreamFailed } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import webSearchTool from '../../../plugins/tools/webSearchTool.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { listening } from '../../fakes/listening.ts'
import { fitted } from '../../fitted.ts'
import { failed } from '../../helpers.ts'

interface Found {
  readonly results: readonly { title: string; url: string; snippet: string; age?: string }[]
  readonly provider: string
  readonly truncated: boolean
}

const made = (t: Test, settings: object): Tool => {
  const container = fitted(use(fetch), use(clock), use(webSearchTool, settings))
  t.teardown(() => container.dispose())
  return container.supply({ tools: Tool }).tools[0]!
}

const searching = (t: Test, settings: object) => {
  const tool = made(t, settings)
  return (params: object, signal = AbortSignal.timeout(5000)) =>
    (tool.kind === 'simple' ? tool.run(params, signal) : Promise.reject(tool.kind)) as Promise<Found>
}

/** A search engine that keeps what it was asked. */
const engine = async (t: Test, answer: RequestListener) => {
  const asked: { url: URL; headers: Record<string, unknown> }[] = []
  const server = createServer((request, response) => {
    asked.push({ url: new URL(request.url ?? '', 'http://here'), headers: request.headers })
    answer(request, response)
  })
  const { port } = await listening(t, server, '127.0.0.1')
  return { baseUrl: `http://127.0.0.1:${port}`, asked }
}

const json =
  (value: unknown, status = 200): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const page = (more: object) => ({
  title: 'Sealing wax',
  url: 'https://wax.example/seal',
  is_source_local: false,
  is_source_both: false,
  description: 'How to <strong>seal</strong> a letter &amp; more: &quot;5 &lt; 6&quot; &#x27;n&#39; so&nbsp;on',
  page_age: '2025-03-02T10:00:00',
  profile: { name: 'Wax', url: 'https://wax.example', long_name: 'wax.example', img: 'https://imgs.search.example/x' },
  language: 'en',
  family_friendly: true,
  type: 'search_result',
  subtype: 'generic',
  meta_url: { scheme: 'https', netloc: 'wax.example', hostname: 'wax.example', favicon: '', path: '› seal' },
  age: 'March 2, 2025',
  ...more,
})

const braveAnswer = (results: readonly (object | null)[], more = false) => ({
  type: 'search',
  query: { original: 'seal', is_navigational: false, country: 'us', more_results_available: more },
  mixed: { type: 'mixed', main: [{ type: 'web', index: 0, all: false }], top: [], side: [] },
  web: { type: 'search', results, family_friendly: true },
})

const braveFault = (code: string, loc: readonly string[] = []) => ({
  type: 'ErrorResponse',
  error: { id: 'x', status: 422, code, detail: 'Unable to validate', meta: { errors: [{ type: 'enum', loc }] } },
  time: 1,
})

t.test('contract', async (t) => {
  const [good, bad] = [json(braveAnswer([page({})])), json(braveFault('VALIDATION', ['query', 'country']), 422)]
  const { baseUrl } = await engine(t, (request, response) =>
    (request.url?.includes('country=QQ') ? bad : good)(request, response),
  )
  await conform(t, tool.contract, (t) => ({
    tool: made(t, { provider: 'brave', apiKey: 'key', baseUrl }),
    good: { params: { query: 'seal', country: 'us', searchLang: 'en' } },
    bad: { params: { query: 'what nobody may see', country: 'QQ' } },
  }))
})

t.test('the error names the setting to configure', async (t) => {
  const cases: readonly (readonly [object, string])[] = [
    [{}, 'tools.webSearchTool.provider'],
    [{ provider: 'brave' }, 'tools.webSearchTool.apiKey'],
    [{ provider: 'searxng' }, 'tools.webSearchTool.baseUrl'],
  ]
  for (const [settings, name] of cases) {
    const told = await failed(searching(t, settings)({ query: 'seal' }))
    t.ok(told instanceof Unconfigured, name)
    t.same(Object.keys(told.validator ?? {}), [name])
  }
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(webSearchTool, { provider: 'altavista' }), 'an engine that nobody knows stops the boot')
})

t.test('asks Brave as Brave wants to be asked', async (t) => {
  const { baseUrl, asked } = await engine(t, json(braveAnswer([page({}), page({ page_age: undefined })], true)))
  const search = searching(t, { provider: 'brave', apiKey: 'the key', baseUrl, count: 7 })
  const found = await search({ query: 'seal & wax', country: 'de', searchLang: 'pt-BR' })
  t.equal(asked[0]?.url.pathname, '/web/search', 'under its path')
  t.same(Object.fromEntries(asked[0]?.url.searchParams ?? []), {
    q: 'seal & wax',
    count: '7',
    country: 'DE',
    search_lang: 'pt-br',
  })
  t.equal(asked[0]?.headers['x-subscription-token'], 'the key', 'with its key')
  t.same(found, {
    results: [
      {
        title: 'Sealing wax',
        url: 'https://wax.example/seal',
        snippet: 'How to seal a letter & more: "5 < 6" \'n\' so on',
        age: '2025-03-02T10:00:00',
      },
      { ...found.results[0], age: 'March 2, 2025' },
    ],
    provider: 'brave',
    truncated: true,
  })
  for (const code of ['en-US', 'ja', 'zh-TW', 'zh', 'en-GB']) await search({ query: 'seal', searchLang: code })
  t.same(
    asked.slice(1).map(({ url }) => url.searchParams.get('search_lang')),
    ['en', 'jp', 'zh-hant', 'zh-hans', 'en-gb'],
    'in the codes it knows',
  )
})

t.test('asks SearXNG as SearXNG wants to be asked', async (t) => {
  const result = {
    url: 'https://wax.example/seal',
    title: 'Sealing wax',
    content: 'How to seal',
    publishedDate: '2025-03-02T10:00:00',
    engine: 'brave',
    parsed_url: ['https', 'wax.example', '/seal', '', '', ''],
    engines: ['brave'],
    positions: [1],
    score: 1,
    category: 'general',
  }
  const { publishedDate: _, ...undated } = result
  const results = [result, ...Array.from({ length: 30 }, () => ({ ...undated, publishedDate: null }))]
  const answer = { query: 'seal', number_of_results: 0, results, answers: [], suggestions: [] }
  const { baseUrl, asked } = await engine(t, json(answer))
  const search = searching(t, { provider: 'searxng', baseUrl: `${baseUrl}/`, count: 20 })
  const found = await search({ query: 'seal', country: 'at', searchLang: 'de' })
  t.equal(asked[0]?.url.pathname, '/search', 'under its path')
  t.same(Object.fromEntries(asked[0]?.url.searchParams ?? []), { q: 'seal', format: 'json', language: 'de-AT' })
  t.match(found, { provider: 'searxng', truncated: true })
  t.equal(found.results.length, 20, 'no more than were wanted')
  t.same(found.results[0], {
    title: 'Sealing wax',
    url: 'https://wax.example/seal',
    snippet: 'How to seal',
    age: '2025-03-02T10:00:00',
  })
  t.notOk('age' in found.results[1]!, 'no age where there is none')
  await search({ query: 'seal', country: 'at' })
  t.notOk(asked[1]?.url.searchParams.has('language'), 'a country alone is no language')
})

t.test('gives pages of the web alone, and bounded ones', async (t) => {
  const urls = [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ftp://a.example/',
    'no address',
    7,
    null,
    'HTTPS://A.example',
  ]
  const results = [
    ...urls.map((url) => page({ url })),
    page({ description: 'a '.repeat(9000), title: '<b>x</b>' }),
    null,
  ]
  const { baseUrl } = await engine(t, json(braveAnswer(results)))
  const found = await searching(t, { provider: 'brave', apiKey: 'key', baseUrl })({ query: 'seal' })
  t.same(
    found.results.map(({ url }) => url),
    ['https://a.example/', 'https://wax.example/seal'],
  )
  t.equal(found.results[1]?.title, 'x')
  t.ok(found.results[1]!.snippet.length <= 1000, 'a long excerpt is cut')
  t.equal(found.truncated, false)
})

t.test('an excerpt has whole characters', async (t) => {
  const long = (letters: number) => `${'a'.repeat(letters)}😀 and more`
  const odd = page({ title: long(298), description: 'b&#xd83d;c&#x1f600;' })
  const { baseUrl } = await engine(t, json(braveAnswer([odd])))
  const { results } = await searching(t, { provider: 'brave', apiKey: 'key', baseUrl })({ query: 'seal' })
  t.match(results[0], { title: `${'a'.repeat(298)}…`, snippet: 'bc😀' })
})

t.test('tells whose fault it is', async (t) => {
  let answer: RequestListener = json({})
  const { baseUrl } = await engine(t, (request, response) => answer(request, response))
  const brave = searching(t, { provider: 'brave', apiKey: 'key', baseUrl })
  const searxng = searching(t, { provider: 'searxng', baseUrl })

  answer = (_, response) => response.writeHead(429, { 'retry-after': '2' }).end('{}')
  const limited = await failed(brave({ query: 'seal' }))
  t.ok(limited instanceof UpstreamFailed && limited.again, 'a limit passes')
  t.equal(limited.retryAfter, 2000)

  const ours: readonly (readonly [string, RequestListener])[] = [
    ['no key', json({}, 401)],
    ['a key without the plan', json({}, 403)],
    ['a key that Brave does not know', json(braveFault('SUBSCRIPTION_TOKEN_INVALID'), 422)],
    ['no key that Brave sees', json(braveFault('VALIDATION', ['header', 'x-subscription-token']), 422)],
    ['another address', json({}, 404)],
    ['no JSON', (_, response) => response.end('<html>')],
    ['another answer', json({ type: 'other' })],
  ]
  for (const [what, listener] of ours) {
    answer = listener
    t.ok((await failed(brave({ query: 'seal' }))) instanceof UpstreamFailed, what)
  }
  t.ok((await failed(searxng({ query: 'seal' }))) instanceof UpstreamFailed, 'another answer of SearXNG')

  answer = json({ error: 'Invalid value "xx" for parameter language' }, 400)
  const language = await failed(searxng({ query: 'seal', searchLang: 'xx' }))
  t.ok(language instanceof BadRequest && 'searchLang' in language.validator!, 'what the caller chose')

  answer = () => {}
  const stop = new AbortController()
  const reason = new Error('left')
  const left = failed(brave({ query: 'seal' }, stop.signal))
  setTimeout(() => stop.abort(reason), 50)
  t.equal(await left, reason, 'stops when it is told to')
})
