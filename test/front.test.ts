import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { running } from './environments.ts'

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

t.test('the address answers a browser with a page', async (t) => {
  const it = await running(t, memory(), { dashboardUrl: 'https://keys.example/?a=1&b=2' })
  const answer = await fetch(it.base, { headers: browser })
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), /^text\/html/)
  t.match(answer.headers.get('content-security-policy'), /default-src 'none'/)
  const page = await answer.text()
  t.match(page, `<code>${it.base}/v1</code>`, 'the base URL as it is to be pasted')
  t.match(page, 'Ready.')
  t.match(page, 'https://keys.example/?a=1&#38;b=2')
  t.match(page, /prefers-color-scheme:dark/)
  t.notMatch(page, /<script/)
  for (const [, href] of page.matchAll(/href="\.(\/[^"]*)"/g))
    t.equal((await fetch(it.base + href!)).status, 200, href!)
})

t.test('and a program with JSON', async (t) => {
  const it = await running(t, memory(), { names: { std: 'standard' } })
  for (const accept of ['*/*', 'application/json']) {
    const answer = await fetch(it.base, { headers: { accept } })
    const { data } = (await answer.json()) as { data: { ready: boolean; links: Record<string, string> } }
    t.match(data, { name: 'sealgate', ready: true, links: { openai: '/v1', standard: '/standard', health: '/health' } })
  }
  const release = it.gateway.hold()
  t.match(await (await fetch(it.base)).json(), { data: { ready: false } })
  t.match(await (await fetch(it.base, { headers: browser })).text(), 'Not ready: Starting.')
  t.match(await (await fetch(`${it.base}/health`)).json(), { status: 503, error: 'Starting' })
  release()
  t.equal((await fetch(`${it.base}/health`)).status, 200)
})

t.test('a host that is no host is shown to nobody', async (t) => {
  const it = await running(t, memory())
  const page = await (await fetch(it.base, { headers: { ...browser, 'x-forwarded-proto': 'https' } })).text()
  t.match(page, `<code>${it.base.replace('http:', 'https:')}/v1</code>`)
  const { request } = await import('node:http')
  const odd = await new Promise<string>((resolve, reject) => {
    request(it.base, { headers: { ...browser, host: '"><b>x' } }, async (answer) => {
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
    ['GET', '/v1/chat/completions', 'Not found: this path takes POST'],
    ['GET', '/nowhere', 'Not found'],
    ['GET', '/Canary7319', 'Not found'],
  ]
  const it = await running(t, memory())
  for (const [method, path, error] of hints) {
    const answer = await fetch(it.base + path, { method })
    t.equal(answer.status, 404, path)
    t.match(await answer.json(), { error }, path)
  }
  const old = await running(t, memory(), { surfaces: ['chat'] })
  const told = await fetch(`${old.base}/v1/chat/completions`, { method: 'POST' })
  t.match(await told.json(), { error: 'Not found: it is /std/chat/completions' }, 'where no /v1 is served')
})
