import t, { type Test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { SettingsShape } from '../../../core/settings.ts'
import * as v from 'valibot'
import { running } from '../../environments.ts'

const page = 'https://app.example.org'
const chat = '/v1/chat/completions'
const asks = { origin: page, 'access-control-request-method': 'POST' }

const opened = (t: Test, origins: readonly string[] = [page]) =>
  running(t, memory(), { cors: { origins: [...origins] } })

const options = (base: string, path: string, headers: Record<string, string>) =>
  fetch(base + path, { method: 'OPTIONS', headers })

t.test('a page of a listed origin calls with its own key, and reads what the answer tells', async (t) => {
  const doors = await opened(t)
  const wanted = 'authorization, content-type, x-stainless-lang'
  const first = await options(doors.base, chat, { ...asks, 'access-control-request-headers': wanted })
  t.equal(first.status, 204)
  t.match(Object.fromEntries(first.headers), {
    'access-control-allow-origin': page,
    'access-control-allow-methods': /POST/,
    'access-control-allow-headers': wanted,
    'access-control-max-age': '600',
    vary: 'origin',
  })
  t.equal(first.headers.get('access-control-allow-credentials'), null)
  const body = { model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] }
  const answer = await doors.call('POST', chat, body, { origin: page })
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('access-control-allow-origin'), page)
  const shown = answer.headers.get('access-control-expose-headers')?.split(', ')
  for (const name of [
    'x-request-id',
    'retry-after-ms',
    'x-sealgate-attempts',
    'x-sealgate-refusal',
    'x-sealgate-window-reset',
  ])
    t.ok(shown?.includes(name), name)
  const stream = await doors.call('POST', chat, { ...body, stream: true }, { origin: page })
  t.equal(stream.headers.get('access-control-allow-origin'), page)
  await stream.text()
})

t.test('an error is readable for the page too', async (t) => {
  const doors = await opened(t)
  for (const [path, status] of [
    [chat, 401],
    ['/nowhere', 404],
  ] as const) {
    const answer = await fetch(doors.base + path, { method: 'POST', headers: { origin: page }, body: '{}' })
    t.same([answer.status, answer.headers.get('access-control-allow-origin')], [status, page])
  }
  t.equal((await options(doors.base, '/nowhere', asks)).status, 404, 'a browser asks for no path that is not there')
})

t.test('no other origin is told anything', async (t) => {
  const doors = await opened(t)
  const others = ['https://app.example.org.evil.test', 'http://app.example.org', 'https://app.example.org:444', 'null']
  for (const origin of others) {
    const first = await options(doors.base, chat, { ...asks, origin })
    t.equal(first.status, 405, origin)
    const answer = await doors.call('GET', '/v1/models', undefined, { origin })
    for (const { headers } of [first, answer]) {
      t.equal(headers.get('access-control-allow-origin'), null, origin)
      t.equal(headers.get('vary'), 'origin')
    }
  }
})

t.test('administration and metrics are closed to every page', async (t) => {
  const doors = await opened(t)
  for (const path of ['/admin/keys', '/metrics']) {
    t.equal((await options(doors.base, path, { ...asks, 'access-control-request-method': 'GET' })).status, 405, path)
    const answer = await doors.call('GET', path, undefined, { origin: page })
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('access-control-allow-origin'), null, path)
  }
})

t.test('without a listed origin nothing is said', async (t) => {
  const doors = await opened(t, [])
  const answer = await doors.call('GET', '/v1/models', undefined, { origin: page })
  t.same([answer.headers.get('vary'), answer.headers.get('access-control-allow-origin')], [null, null])
  t.equal((await options(doors.base, chat, asks)).status, 405)
})

t.test('a setting names origins to the letter', (t) => {
  const takes = (origin: string) => v.safeParse(SettingsShape, { cors: { origins: [origin] } }).success
  for (const origin of [page, 'http://localhost:5173']) t.ok(takes(origin), origin)
  for (const origin of ['*', 'https://*.example.org', `${page}/`, 'null', 'example.org', 'file:///', 'HTTPS://A.B'])
    t.notOk(takes(origin), origin)
  t.end()
})
