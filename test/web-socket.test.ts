import './fakes/unwatched.ts'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { running } from './environments.ts'
import { sealing } from './fakes/proxied.ts'
import { until } from './until.ts'

/** Tries a WebSocket at the path and leaves the connection open: all that came, once the other side has closed it. */
const tried = async (base: string, path: string, headers: readonly string[] = []): Promise<string> => {
  const { hostname, port, host } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.setTimeout(10_000, () => socket.destroy())
  const key = Buffer.alloc(16).toString('base64')
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
  ]
  socket.write([`GET ${path} HTTP/1.1`, `Host: ${host}`, ...upgrade, ...headers, '', ''].join('\r\n'))
  return text(socket)
}

/** The only JSON of an answer, in one chunk or plain. */
const bodyOf = (answer: string): any => JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))

const refusal = { error: { message: 'This path is no WebSocket; use HTTP', type: 'invalid_request_error' } }

t.test('a WebSocket at /v1/responses is refused at once, so that its client comes by HTTP', async (t) => {
  const it = await running(t, memory())
  for (const headers of [[], [`Authorization: Bearer ${it.key}`], ['OpenAI-Beta: responses_websockets=2026-02-06']]) {
    const answer = await tried(it.base, '/v1/responses', headers)
    t.match(answer, /^HTTP\/1\.1 426 Upgrade Required\r\n/)
    t.match(answer, /\r\nconnection: upgrade, close\r\n/i)
    t.match(answer, /\r\nupgrade: HTTP\/1\.1\r\n/i)
    t.match(bodyOf(answer), refusal, 'in the dialect of the path')
  }
  t.match(
    await tried(it.base, '/v1/messages', ['Connection: close']),
    /^HTTP\/1\.1 405 /,
    'no client tries it elsewhere',
  )
  t.equal((await it.call('GET', '/v1/responses')).status, 405, 'a plain GET is what it was')
  t.equal((await it.call('POST', '/v1/responses', { model: 'rehearsal', input: 'Hi' })).status, 200)
  const named = await running(t, memory(), { names: { v1: 'llm' } })
  t.match(await tried(named.base, '/llm/responses'), /^HTTP\/1\.1 426 /)
})

t.test('a flood of them without a key is bounded as other refusals are', async (t) => {
  const it = await running(t, memory(), { limits: { keyless: { requestsPerSecond: 1 } } })
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => tried(it.base, '/v1/responses', ['Connection: close'])),
  )
  const statuses = answers.map((answer) => Number(answer.slice(9, 12)))
  t.same([...new Set(statuses)].sort(), [426, 429])
  t.ok(statuses.filter((status) => status === 426).length < 40 / 2)
  const open = () =>
    new Promise<number>((resolve, reject) =>
      it.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  t.ok(await until(async () => (await open()) === 0), 'no socket stays')
})

t.test('sealgate seal refuses it too', async (t) => {
  const it = await running(t, memory())
  const proxy = await sealing(t, ['--base-url', it.base, '--allow-insecure-dev'], { SEALGATE_KEY: it.key })
  const answer = await tried(proxy.url, '/v1/responses')
  t.match(answer, /^HTTP\/1\.1 426 Upgrade Required\r\n/)
  t.match(bodyOf(answer), refusal)
  t.match(await tried(proxy.url, '/v1/nothing', ['Connection: close']), /^HTTP\/1\.1 404 /)
})
