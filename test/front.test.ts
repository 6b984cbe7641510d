import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { running } from './environments.ts'

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

t.test('the address answers a browser with a page', async (t) => {
  const gateway = await running(t, memory(), { dashboardUrl: 'https://keys.example/?a=1&b=2' })
  const answer = await fetch(gateway.base, { headers: browser })
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), /^text\/html/)
  t.match(answer.headers.get('content-security-policy'), /default-src 'none'/)
  const page = await answer.text()
  t.match(page, `<code>${gateway.base}/v1</code>`, 'the base URL as it is to be pasted')
  t.match(page, 'Ready.')
  t.match(page, 'https://keys.example/?a=1&#38;b=2')
  t.match(page, /prefers-color-scheme:dark/)
  t.notMatch(page, /<script/)
  for (const [, href] of page.matchAll(/href="\.(\/[^"]*)"/g))
    t.equal((await fetch(gateway.base + href!)).status, 200, href!)
})

t.test('and a program with JSON', async (t) => {
  const gateway = await running(t, memory(), { names: { std: 'standard' } })
  for (const accept of ['*/*', 'application/json']) {
    const answer = await fetch(gateway.base, { headers: { accept } })
    const { data } = (await answer.json()) as { data: { ready: boolean; links: Record<string, string> } }
    t.match(data, { name: 'sealgate', ready: true, links: { openai: '/v1', standard: '/standard', health: '/health' } })
  }
  const release = gateway.gateway.hold()
  t.match(await (await fetch(gateway.base)).json(), { data: { ready: false } })
  t.match(await (await fetch(gateway.base, { headers: browser })).text(), 'Not ready: Starting.')
  t.match(await (await fetch(`${gateway.base}/health`)).json(), { status: 503, error: 'Starting' })
  release()
  t.equal((await fetch(`${gateway.base}/health`)).status, 200)
})

t.test('a host that is no host is shown to nobody', async (t) => {
  const gateway = await running(t, memory())
  const page = await (await fetch(gateway.base, { headers: { ...browser, 'x-forwarded-proto': 'https' } })).text()
  t.match(page, `<code>${gateway.base.replace('http:', 'https:')}/v1</code>`)
  const { request } = await import('node:http')
  const odd = await new Promise<string>((resolve, reject) => {
    request(gateway.base, { headers: { ...browser, host: '"><b>x' } }, async (answer) => {
      let text = ''
      for await (const part of answer) text += part
      resolve(text)
    })
      .once('error', reject)
      .end()
  })
  t.notMatch(odd, '<b>x')
  t.match(odd, '<code>https://this-gateway/v1</code>')
})

t.test('an unknown path gets its error in the dialect of its beginning', async (t) => {
  const gateway = await running(t, memory())
  const openai = { error: { type: 'invalid_request_error', code: 'unknown_url', message: /^Not found/, param: null } }
  const anthropic = { type: 'error', error: { type: 'not_found_error', message: /^Not found/ }, request_id: String }
  const google = { error: { code: 404, status: 'NOT_FOUND', message: /^Not found/ } }
  const chat = 'Not found: it is /v1/chat/completions'
  for (const [path, told, sentence] of [
    ['/v1/fine_tuning/jobs', openai],
    ['/v1/completions', openai, chat],
    ['/v1/messages/nowhere', anthropic],
    ['/v1beta/cachedContents', google],
    ['/openai/v1/chat/completions', openai, chat],
    ['/openai/deployments/gpt/chat/completions?api-version=1', openai, chat],
    ['/api/v1/chat/completions', openai, chat],
    ['/anthropic/v1/messages', anthropic, 'Not found: it is /v1/messages'],
  ] as const) {
    const answer = await fetch(gateway.base + path, { method: 'POST' })
    const body = (await answer.json()) as { readonly error: { readonly message: string } }
    t.match([answer.status, body], [404, told], path)
    if (sentence !== undefined) t.equal(body.error.message, sentence, path)
  }
  const named = await running(t, memory(), { names: { v1: 'ai' } })
  const moved = await fetch(`${named.base}/ai/fine_tuning/jobs`, { method: 'POST' })
  t.match([moved.status, await moved.json()], [404, openai], 'under the configured name')
  const old = await running(t, memory(), { surfaces: ['chat'] })
  const bare = await fetch(`${old.base}/v1/fine_tuning/jobs`, { method: 'POST' })
  t.match(await bare.json(), { error: 'Not found', support_id: String }, 'the envelope where no /v1 is served')
})

t.test('paths that people try are answered with where to go', async (t) => {
  const hints: readonly (readonly [method: string, path: string, error: string])[] = [
    ['POST', '/chat/completions', 'Not found: it is /v1/chat/completions'],
    ['POST', '/api/chat', 'Not found: it is /v1/chat/completions'],
    ['GET', '/api/tags', 'Not found: it is /v1/models'],
    ['GET', '/models', 'Not found: it is /v1/models'],
    ['POST', '/messages', 'Not found: it is /v1/messages'],
    ['GET', '/docs/', 'Not found: the path ends without a slash'],
    ['GET', '/swagger', 'Not found: it is /docs'],
    ['GET', '/healthz', 'Not found: it is /health'],
    ['GET', '/v1', 'Not found: this is the beginning of paths; /docs lists them'],
    ['POST', '/v1/v1/messages', 'Not found: the base URL has /v1 twice'],
    ['POST', '/std/v1/chat/completions', 'Not found: the base URL ends in /std, without /v1'],
    ['GET', '/nowhere', 'Not found'],
    ['GET', '/Canary7319', 'Not found'],
  ]
  const gateway = await running(t, memory())
  for (const [method, path, error] of hints) {
    const answer = await fetch(gateway.base + path, { method })
    t.equal(answer.status, 404, path)
    const told = (await answer.json()) as { readonly error: unknown }
    t.match(path.startsWith('/v1/') ? told.error : { message: told.error }, { message: error }, path)
  }
  const under = await running(t, memory(), { prefix: '/ai' })
  for (const [path, error] of [
    ['/api/chat', 'Not found: it is /ai/v1/chat/completions'],
    ['/swagger', 'Not found: it is /ai/docs'],
    ['/std', 'Not found: this is the beginning of paths; /ai/docs lists them'],
    ['/std/v1/chat/completions', 'Not found: the base URL ends in /ai/std, without /v1'],
    ['/compat/v1/v1/decision', 'Not found: the base URL ends in /ai/compat, without /v1'],
  ]) {
    const answer = await fetch(`${under.base}/ai${path}`, { method: 'POST' })
    t.match([answer.status, await answer.json()], [404, { error }], `${path} under a prefix`)
  }
  const old = await running(t, memory(), { surfaces: ['chat'] })
  const told = await fetch(`${old.base}/v1/chat/completions`, { method: 'POST' })
  t.match(await told.json(), { error: 'Not found: it is /std/chat/completions' }, 'where no /v1 is served')
})
