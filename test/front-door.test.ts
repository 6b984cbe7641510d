import { type AddressInfo, type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import type { SettingsInput } from '../core/settings.ts'
import { type Running, running } from './environments.ts'
import { until } from './until.ts'

/** A connection on which bytes are written as they stand, and all that came back. */
const lineTo = (gateway: Running) => {
  const socket: Socket = connect((gateway.server.address() as AddressInfo).port, '127.0.0.1')
  let output = ''
  let closed = false
  socket
    .on('data', (part) => (output += part.toString('latin1')))
    .on('error', () => {})
    .on('close', () => (closed = true))
  return {
    socket,
    said: () => output,
    closed: () => closed,
    statuses: () => [...output.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)),
  }
}

const head = (method: string, path: string, key: string | null, more: string) =>
  `${method} ${path} HTTP/1.1\r\nhost: here\r\n${key === null ? '' : `authorization: Bearer ${key}\r\n`}${more}\r\n`

const chat = '/std/chat/completions'
const hello = { model: 'rehearsal', messages: [{ role: 'user', content: 'Hello' }] }
const started = (t: Parameters<typeof running>[0], settings: SettingsInput = {}) => running(t, memory(), settings)

t.test('a wrong body costs what its first faults cost', async (t) => {
  const server = await started(t)
  for (const [path, wrong] of [
    [chat, { model: 'rehearsal', messages: Array(45_000).fill({}) }],
    ['/files/encrypted/index', { files: Array(45_000).fill({}) }],
    ['/std/embeddings', { model: 'rehearsal-embedding', input: Array(95_000).fill(1) }],
  ] as const) {
    const began = process.cpuUsage()
    const answer = await server.call('POST', path, wrong)
    const { user, system } = process.cpuUsage(began)
    t.equal(answer.status, 400, path)
    const { validator } = (await answer.json()) as { validator: Record<string, string> }
    t.ok(Object.keys(validator).length <= 20, `${Object.keys(validator).length} fields are named`)
    t.ok(user + system < 600_000, `${(user + system) / 1000} ms of CPU, the sender's own with it`)
  }
})

t.test('JSON has a bound of elements, short or long, and says what is wrong with it', async (t) => {
  const server = await started(t, { bodies: { elements: 50_000 } })
  const long = ' '.repeat(1024 * 1024)
  for (const padding of ['', long]) {
    const many = await server.call('POST', chat, `{"x":[${'1,'.repeat(60_000)}1]}${padding}`)
    t.match(await many.json(), { status: 400, error: 'JSON has too many elements' })
    const torn = await server.call('POST', chat, `{"model":${padding}`)
    t.match(await torn.json(), { status: 400, error: 'Malformed JSON' })
    const wrong = await server.call('POST', chat, `{"model":true}${padding}`)
    t.match(await wrong.json(), { status: 400, validator: { model: /^Expected /, messages: 'Required' } })
    const latin = await server.call('POST', chat, Buffer.from([0x22, 0xff, 0x22, ...Buffer.from(padding)]) as never)
    t.match(await latin.json(), { status: 400 })
    const fine = await server.call('POST', chat, JSON.stringify(hello) + padding)
    t.equal(fine.status, 200)
    const twice = await server.call('POST', '/compat/v1/decision', `{"model":"a","model":"b"}${padding}`)
    t.match(await twice.json(), { status: 400, validator: { model: 'Expected once' } })
  }
})

t.test('one request at a time on a connection', async (t) => {
  const server = await started(t)
  const before = process.memoryUsage().rss
  const lines = Array.from({ length: 4 }, () => lineTo(server))
  for (const { socket } of lines) (socket.write(head('GET', '/docs', null, '').repeat(1500)), socket.pause())
  await sleep(300)
  const live = await server.call('GET', '/health/live')
  t.equal(live.status, 200)
  const grown = (process.memoryUsage().rss - before) / 1024 / 1024
  t.ok(grown < 64, `${Math.round(grown)} MiB more for 6,000 requests that were sent ahead`)
  t.ok(await until(() => lines.every(({ socket }) => socket.resume() && true)), 'read on')
  t.ok(await until(() => lines.every(({ closed }) => closed())), 'so many at once close the connection')

  const few = lineTo(server)
  few.socket.write(head('GET', '/health/live', null, '').repeat(10))
  t.ok(await until(() => few.statuses().length === 10), 'a few are answered in their turn')
  few.socket.destroy()
})

t.test('connections', async (t) => {
  const server = await started(t, { connections: { most: 12, keyless: 6, head: 500 } })
  const half = Array.from({ length: 4 }, () => lineTo(server))
  const silent = lineTo(server)
  for (const { socket } of half) socket.write('GET /health/live HTTP/1.1\r\nhost: ')
  t.ok(await until(() => half.every(({ closed }) => closed()), 5000), 'a head that does not come ends its connection')
  t.ok(await until(() => silent.closed(), 5000), 'so does silence')
  t.match(half[0]!.said(), /^HTTP\/1\.1 408 Request Timeout\r\n.*The request took too long/s)
  t.equal(silent.said(), '', 'which a browser would take for the answer to its next request on that connection')

  const keyless = Array.from({ length: 9 }, () => lineTo(server))
  t.ok(await until(() => keyless.filter(({ closed }) => closed()).length === 3), 'an address has a bound without a key')
  for (const { socket } of keyless) socket.destroy()
  await sleep(50)
  const known = []
  for (let at = 0; at < 9; at++) {
    const line = lineTo(server)
    line.socket.write(head('GET', '/std/models', server.key, ''))
    t.ok(await until(() => line.statuses().length === 1))
    known.push(line)
  }
  t.notOk(
    known.some(({ closed }) => closed()),
    'with a key it has none of its own',
  )
  for (const { socket } of known) socket.destroy()
})

t.test('requests without a key have an allowance of their own', async (t) => {
  const server = await started(t, { limits: { keyless: { requestsPerSecond: 5 } } })
  for (const [path, headers] of [
    ['/docs', {}],
    ['/nowhere', {}],
    ['/std/models', { authorization: `Bearer sk_live_${'1'.repeat(44)}` }],
  ] as const) {
    await sleep(1200)
    // A busy machine asks slowly, and the allowance grows meanwhile.
    const statuses: number[] = []
    while (statuses.at(-1) !== 429 && statuses.length < 100)
      statuses.push((await fetch(server.base + path, { headers })).status)
    t.ok(statuses.length > 5 && statuses.at(-1) === 429, `${path}: ${statuses}`)
  }
  t.equal((await server.call('GET', '/std/models')).status, 200, 'a valid key is not held up by them')
})

t.test('a body is asked for when its key was found valid', async (t) => {
  const server = await started(t)
  const body = JSON.stringify(hello)
  const more = `content-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n`
  const wrong = lineTo(server)
  wrong.socket.write(head('POST', chat, 'sk_live_wrong', more))
  t.ok(await until(() => wrong.statuses().length > 0))
  t.same(wrong.statuses(), [401])
  t.ok(await until(() => wrong.closed(), 3000), 'and its connection ends')
  const right = lineTo(server)
  right.socket.write(head('POST', chat, server.key, more))
  t.ok(await until(() => right.statuses()[0] === 100))
  right.socket.write(body)
  t.ok(await until(() => right.statuses()[1] === 200))
  right.socket.destroy()
})

t.test('a body that was refused is not read to its end', async (t) => {
  const server = await started(t)
  const line = lineTo(server)
  line.socket.write(head('POST', chat, 'sk_live_wrong', 'content-length: 100000000\r\n'))
  t.ok(await until(() => line.statuses().length === 1))
  t.ok(await until(() => line.closed(), 3000), 'the socket goes')
  t.same(line.statuses(), [401])
})

t.test('bytes have an allowance, by their head or as they come', async (t) => {
  const server = await started(t, { limits: { key: { bytesPerMinute: 500_000, requestsPerSecond: null } } })
  const wrong = `{"model":1,"x":"${'y'.repeat(200_000)}"}`
  const sent = async (body: BodyInit) =>
    fetch(server.base + chat, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body,
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    } as RequestInit).then(
      ({ status }) => status,
      () => 0,
    )
  t.same([await sent(wrong), await sent(wrong), await sent(wrong)], [400, 400, 429], 'a refused body pays its bytes')
  const other = await server.gateway.keys.create({})
  const flowing = () =>
    new ReadableStream({
      async pull(controller) {
        await sleep(5)
        controller.enqueue(new TextEncoder().encode(' '.repeat(100_000)))
      },
    })
  const answer = await fetch(server.base + chat, {
    method: 'POST',
    headers: { authorization: `Bearer ${other.credential}`, 'content-type': 'application/json' },
    body: flowing(),
    duplex: 'half',
  } as RequestInit)
  t.match(await answer.json(), { status: 429, error: 'Too many bytes' }, 'one without a length pays as it comes')
})

t.test('bytes in memory have a bound for each key, and none forever', async (t) => {
  const server = await started(t, { bodies: { inMemory: { key: 1_000_000 } } })
  const body = JSON.stringify(hello)
  const open = Array.from({ length: 2 }, () => lineTo(server))
  open[0]!.socket.write(head('POST', chat, server.key, 'content-length: 900000\r\n') + '{')
  await sleep(100)
  open[1]!.socket.write(head('POST', chat, server.key, 'content-length: 900000\r\n') + '{')
  t.ok(await until(() => open[1]!.statuses().length === 1))
  t.same(open[1]!.statuses(), [429])
  t.match(open[1]!.said(), /Too many bytes under way/)
  t.equal((await server.call('POST', chat, body)).status, 200, 'a small one still fits')
  for (const { socket } of open) socket.destroy()
  t.ok(
    await until(async () => (await server.call('POST', chat, body + ' '.repeat(1_500_000))).status === 200),
    'alone, any',
  )
})

t.test('a body that hardly comes is refused', { timeout: 60_000 }, async (t) => {
  const server = await started(t)
  // The first chat loads what a short one needs to go straight.
  await server.call('POST', chat, JSON.stringify(hello))
  const bodies = [
    [chat, 900_000],
    [chat, 9_000],
    ['/files/encrypted/upload', 900_000],
  ] as const
  const slow = bodies.map(([path, length]) => {
    const line = lineTo(server)
    line.socket.write(
      head('POST', path, server.key, `content-type: application/json\r\ncontent-length: ${length}\r\n`) + '{"',
    )
    return line
  })
  const drip = setInterval(() => slow.forEach(({ socket }) => socket.writable && socket.write('a')), 500)
  t.teardown(() => clearInterval(drip))
  t.ok(await until(() => slow.every(({ closed }) => closed()), 25_000))
  for (const line of slow) t.match(line.said(), /^HTTP\/1\.1 408 .*The body comes too slowly/s)
})

t.test('a path is what it is, letter for letter', async (t) => {
  const server = await started(t)
  for (const path of ['/STD/models', '/std/models/', '/Std/Models', '/health/live/', '/files/encrypted/']) {
    t.equal((await server.call('GET', path)).status, 404, path)
  }
})
