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

const refusal = { error: { message: 'This path speaks plain HTTP alone', type: 'invalid_request_error' } }

t.test('a WebSocket where none is taken is refused as any request', async (t) => {
  const gateway = await running(t, memory())
  const key = `Authorization: Bearer ${gateway.key}`
  t.match(await tried(gateway.base, '/v1/messages', [key]), /^HTTP\/1\.1 405 /, 'no client tries it elsewhere')
  t.match(await tried(gateway.base, '/v1/nothing', [key]), /^HTTP\/1\.1 404 /)
  const answer = await tried(gateway.base, '/v1/responses')
  t.match(answer, /^HTTP\/1\.1 401 Unauthorized\r\n/)
  t.match(bodyOf(answer), { error: { type: 'authentication_error' } }, 'in the dialect of the path')
})

t.test('a flood of them without a key is bounded as other refusals are', async (t) => {
  const gateway = await running(t, memory(), { limits: { keyless: { requestsPerSecond: 1 } } })
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => tried(gateway.base, '/v1/responses', ['Connection: close'])),
  )
  const statuses = answers.map((answer) => Number(answer.slice(9, 12)))
  t.same([...new Set(statuses)].sort(), [401, 429])
  t.ok(statuses.filter((status) => status === 401).length < 40 / 2)
  const open = () =>
    new Promise<number>((resolve, reject) =>
      gateway.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  t.ok(await until(async () => (await open()) === 0), 'no socket stays')
})

t.test('sealgate seal refuses it too', async (t) => {
  const gateway = await running(t, memory())
  const proxy = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const answer = await tried(proxy.url, '/v1/responses')
  t.match(answer, /^HTTP\/1\.1 426 Upgrade Required\r\n/)
  t.match(bodyOf(answer), refusal)
  t.match(await tried(proxy.url, '/v1/nothing', ['Connection: close']), /^HTTP\/1\.1 404 /)
})
