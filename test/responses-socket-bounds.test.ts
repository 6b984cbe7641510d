import './fakes/unwatched.ts'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import { running, unhurried } from './environments.ts'
import { opened } from './fakes/doors.ts'
import { opensHttp } from './fakes/listening.ts'
import type { Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { connected, opcodes, rawPeer } from './fakes/web-sockets.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

const hello = scripted(() => [{ say: 'Hello.' }])
const create = (input: string, model = 'chat') => JSON.stringify({ type: 'response.create', model, input })

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
const sse = { 'content-type': 'text/event-stream' }
/** Begins an answer and says no more. */
const stalling = (): Take => ({ headers: sse, body: chunk('Hel'), pace: { stall: 10_000 } })

const begun = async (value: { backend: { asked: readonly unknown[] } }) =>
  t.ok(await until(() => value.backend.asked.length > 0))

t.test('the handshake is a request of the table of routes', async (t) => {
  const doors = await opened(t, hello, {}, { sockets: { most: 2 } })
  t.equal(await rawPeer(t, { ...doors, key: '' }).status(), 401, 'no key')
  t.equal(await rawPeer(t, { ...doors, key: 'sk_live_wrong' }).status(), 401, 'another key')
  const narrow = await doors.gateway.keys.create({ scopes: ['audio.transcription'] })
  t.equal(await rawPeer(t, { ...doors, key: narrow.credential }).status(), 403, 'no scope')
  const plain = await doors.call('GET', '/v1/responses')
  t.same([plain.status, plain.headers.get('allow')], [405, 'POST'], 'no upgrade')
  const old = rawPeer(t, doors, ['Sec-WebSocket-Version: 7'])
  t.equal(await old.status(), 400, 'two versions')
  t.ok(await until(old.isClosed))
  const open = [rawPeer(t, doors), rawPeer(t, doors)]
  for (const peer of open) t.equal(await peer.status(), 101)
  t.equal(await rawPeer(t, doors).status(), 429, 'more at once than a key may open')
  open[0]!.socket.destroy()
  t.ok(await until(async () => (await rawPeer(t, doors).status()) === 101), 'the place is free again')
  t.ok(doors.logged.some(({ facts }) => facts['route'] === 'GET /v1/responses' && facts['status'] === 101))
})

t.test('a connection holds no place among the calls at once', async (t) => {
  const doors = await opened(t, hello)
  const { credential: key } = await doors.gateway.keys.create({ limits: { concurrentRequests: 1 } })
  const [one, other] = [connected(t, { ...doors, key }), connected(t, { ...doors, key })]
  for (const { turn } of [one, other])
    t.equal((await turn({ model: 'chat', input: 'Hi' })).at(-1).type, 'response.completed')
})

t.test('a key that is revoked ends its connections', async (t) => {
  const settings = { timeouts: { revoked: 100, idle: 60_000 } }
  const doors = await opened(t, stalling, {}, settings)
  const { credential: key, row } = await doors.gateway.keys.create({})
  const [idle, busy] = [rawPeer(t, { ...doors, key }), rawPeer(t, { ...doors, key })]
  for (const peer of [idle, busy]) t.equal(await peer.status(), 101)
  const other = rawPeer(t, doors)
  t.equal(await other.status(), 101)
  busy.send(opcodes.text, create('Hi'))
  await begun(doors)
  await doors.gateway.keys.revoke(row.id, null)
  t.ok(await until(() => idle.isClosed() && busy.isClosed()))
  t.ok(await until(async () => (await doors.backend.open()) === 0), 'the backend is left too')
  t.notOk(other.isClosed(), 'another key’s connection stays')
})

t.test('frames', async (t) => {
  const cases: Readonly<Record<string, readonly [code: number, act: (peer: ReturnType<typeof rawPeer>) => unknown]>> = {
    'a message that is too long': [1009, (peer) => peer.send(opcodes.text, create('x'.repeat(5_000)))],
    'a message in too many pieces': [
      1008,
      (peer) => [...'x'.repeat(1_100)].forEach((text, at) => peer.send(at === 0 ? 1 : 0, text, false)),
    ],
    'bytes in place of text': [1003, (peer) => peer.send(opcodes.binary, create('Hi'))],
    'text that is no UTF-8': [1007, (peer) => peer.send(opcodes.text, Buffer.from([0xc3, 0x28]))],
    'a frame without a mask': [1002, (peer) => peer.socket.write(Buffer.from([0x81, 0x01, 0x61]))],
    'messages without a turn': [
      1008,
      async (peer) => {
        for (let at = 0; at < 20; at++) {
          peer.send(opcodes.text, '{}')
          await until(
            () => peer.isClosed() || peer.all().toString('latin1').split('Expected a message').length > at + 1,
          )
        }
      },
    ],
  }
  const doors = await opened(t, hello, {}, { bodies: { chat: 4_096 }, sockets: { most: 100 } })
  for (const [name, [code, act]] of Object.entries(cases)) {
    const peer = rawPeer(t, doors)
    t.equal(await peer.status(), 101)
    await act(peer)
    t.ok(await until(peer.isClosed), `${name}: it ends`)
    t.equal(peer.closeCode(), code, name)
  }
  t.equal(doors.backend.asked.length, 0)
})

t.test('bytes that connections hold count for their key', async (t) => {
  const inMemory = { key: 1_048_576, organization: 4_194_304, process: 8_388_608 }
  const doors = await opened(t, hello, {}, { bodies: { inMemory } })
  const [one, other] = [connected(t, doors), connected(t, doors)]
  const warm = async (peer: typeof one, bytes: number) =>
    (await peer.turn({ model: 'chat', input: 'x'.repeat(bytes), generate: false })).at(-1)
  for (let at = 0; at < 20; at++)
    t.equal((await warm(one, 200_000)).type, 'response.completed', 'a turn gives the bytes of its message back')
  t.equal((await warm(other, 200_000)).type, 'response.completed')
  const { response } = await warm(one, 300_000)
  t.match((await warm(other, 300_000)).error?.message, 'Too many bytes under way', 'a body beside what is remembered')
  t.equal(other.closed(), null)
  t.equal(
    (await one.turn({ model: 'chat', input: 'Hi', previous_response_id: response.id })).at(-1).type,
    'response.completed',
  )

  // A frame of 900,000 bytes, of which few come.
  const part = rawPeer(t, doors)
  t.equal(await part.status(), 101)
  const head = Buffer.alloc(14)
  head.writeUInt16BE(0x81ff, 0)
  head.writeBigUInt64BE(900_000n, 2)
  part.socket.write(Buffer.concat([head, Buffer.alloc(100, 0x20)]))
  t.ok(await until(() => part.isClosed()))
  t.equal(part.closeCode(), 1013, 'a message on its way counts, and its peer may come again')
  one.socket.close({ code: 1000, reason: 'OK' })
  t.ok(
    await until(async () => (await warm(other, 400_000)).type === 'response.completed'),
    'a connection that ends gives all back',
  )
})

t.test('a flood behind a turn ends the connection and its turn', async (t) => {
  const doors = await opened(t, stalling, {}, { timeouts: { idle: 60_000 } })
  const peer = rawPeer(t, doors)
  t.equal(await peer.status(), 101)
  for (let at = 0; at < 10; at++) peer.send(opcodes.text, create('Hi'))
  t.ok(await until(peer.isClosed))
  t.equal(peer.closeCode(), 1008)
  t.equal(doors.backend.asked.length, 1, 'no turn began behind the first one')
  t.ok(await until(async () => (await doors.backend.open()) === 0))
})

t.test('a peer that leaves ends its turn', async (t) => {
  const doors = await opened(t, stalling, {}, { timeouts: { idle: 60_000 } })
  const peer = rawPeer(t, doors)
  await peer.status()
  peer.send(opcodes.text, create('Hi'))
  await begun(doors)
  peer.socket.destroy()
  t.ok(await until(async () => (await doors.backend.open()) === 0))
})

t.test('a peer that never reads is bounded, and then cut', async (t) => {
  const endless: Take = { headers: sse, body: chunk('x'.repeat(1_000)).repeat(30_000) }
  const doors = await opened(t, () => endless, {}, { timeouts: { stalled: 300 } })
  const peer = rawPeer(t, doors)
  await peer.status()
  peer.socket.pause()
  peer.send(opcodes.text, create('Hi'))
  t.ok(await until(async () => doors.backend.asked.length === 1 && (await doors.backend.open()) === 0), 'the turn ends')
  const open = () => new Promise<number>((resolve) => doors.server.getConnections((_, count) => resolve(count)))
  t.ok(await until(async () => (await open()) === 0), 'no socket stays')
  peer.socket.resume()
  await until(peer.isClosed)
  t.ok(peer.all().length < 16 * 1024 * 1024, 'most of the answer was never written')
})

t.test('a flood of pings or pongs is bounded', async (t) => {
  const doors = await opened(t, hello)
  for (const opcode of [opcodes.ping, opcodes.pong]) {
    const peer = rawPeer(t, doors)
    await peer.status()
    for (let at = 0; at < 100; at++) peer.send(opcode, 'x'.repeat(125))
    t.ok(await until(peer.isClosed))
    t.equal(peer.closeCode(), 1008)
  }
  const { socket, closed } = connected(t, doors)
  await until(() => socket.socket.readyState === 1)
  t.equal(closed(), null, 'a usual peer stays')
})

t.test('a peer that sleeps', async (t) => {
  const ends = async (sockets: SettingsInput['sockets']) => {
    const doors = await opened(t, hello, {}, { sockets })
    return { doors, peer: rawPeer(t, doors), sdk: connected(t, doors) }
  }
  const silent = await ends({ ping: 100 })
  await silent.peer.status()
  t.ok(await until(silent.peer.isClosed), 'a peer that answers no ping is gone')
  t.equal(silent.peer.closeCode(), null)
  t.equal(silent.sdk.closed(), null, 'one that answers stays')
  const idle = await ends({ idle: 200 })
  t.ok(await until(() => idle.sdk.closed() !== null))
  t.same(idle.sdk.closed(), [1000, 'No turn for too long'])
  const old = await ends({ life: 200 })
  t.ok(await until(() => old.sdk.closed() !== null))
  t.equal(old.sdk.closed()![0], 1001)
  t.match(old.sdk.told.at(-1), { type: 'error', error: { code: 'websocket_connection_limit_reached' } })
})

t.test('a gateway that drains lets turns end and takes no more', async (t) => {
  let answer = (): void => {}
  const held = new Promise<void>((resolve) => (answer = resolve))
  const doors = await opened(t, async (request) => {
    if (request.body.includes('slowly')) await held
    return hello(request)
  })
  const [idle, busy] = [connected(t, doors), connected(t, doors)]
  t.equal((await idle.turn({ model: 'chat', input: 'Hi' })).at(-1).type, 'response.completed')
  const turn = busy.turn({ model: 'chat', input: 'slowly' })
  await until(() => doors.backend.asked.length === 2)
  const left = doors.gateway.drain(5_000)
  t.ok(await until(() => idle.closed() !== null), 'an idle connection ends at once')
  t.equal(busy.closed(), null)
  answer()
  t.equal(await left, 0)
  t.equal((await turn).at(-1).type, 'response.completed')
  t.ok(await until(() => idle.closed() !== null && busy.closed() !== null))
  t.same([idle.closed()![0], busy.closed()![0]], [1001, 1001])
})

t.test('a reload: a connection keeps nothing of the past, and its next turn is of the new generation', async (t) => {
  const doors = await opened(t, hello)
  const { turn } = connected(t, doors)
  t.equal((await turn({ model: 'chat', input: 'Hi' })).at(-1).type, 'response.completed')
  await doors.gateway.renew({
    settings: { ...unhurried, models: { talk: { upstreams: [{ provider: 'chat', model: 'gpt-own' }] } } },
  } as never)
  t.match((await turn({ model: 'chat', input: 'Hi' })).at(-1), { status: 404 })
  t.equal((await turn({ model: 'talk', input: 'Hi' })).at(-1).type, 'response.completed')
})

t.test('an open connection holds no past generation', async (t) => {
  let isDisposed = false
  const upstream = (name: string, dispose?: () => void) =>
    given(Upstream, name, () => ({ name, models: async () => [], ...(dispose && { dispose }) }))
  const gateway = await running(t, { ...memory(), upstreams: [upstream('old', () => void (isDisposed = true))] })
  const peer = rawPeer(t, gateway)
  t.equal(await peer.status(), 101)
  await gateway.gateway.renew({ ...memory(), settings: {}, upstreams: [upstream('new')] } as never)
  t.ok(await until(() => isDisposed))
  t.notOk(peer.isClosed())
})

t.test('other upgrades go on as HTTP', async (t) => {
  const gateway = await running(t, memory(), unhurried)
  const { hostname, port } = new URL(gateway.base)
  const body = JSON.stringify({ model: 'rehearsal', input: 'Hi' })
  const asked = (connection: string, upgrade: string, parts = body) =>
    `POST /v1/responses HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\n` +
    `content-length: ${body.length}\r\nconnection: ${connection}\r\n${upgrade}\r\n${parts}`
  const socket = connect(Number(port), hostname)
  const h2c = 'upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n'
  const byteses: Buffer[] = []
  socket.on('data', (part) => void byteses.push(part))
  const answers = () => Buffer.concat(byteses).toString().split('HTTP/1.1 200').length - 1
  socket.write(asked('Upgrade, HTTP2-Settings', h2c))
  t.ok(await until(() => answers() === 1), 'a body that came with the head')
  socket.write(asked('Upgrade, HTTP2-Settings', h2c, ''))
  setTimeout(() => socket.write(body), 50)
  t.ok(await until(() => answers() === 2), 'a body that came later, on the same connection')
  socket.end(asked('close', ''))
  t.ok(await until(() => answers() === 3))
  const ahead = connect(Number(port), hostname)
  ahead.write(asked('keep-alive', '') + asked('Upgrade', 'upgrade: websocket\r\n'))
  t.notMatch(await text(ahead), / 101 /, 'none is opened behind an answer that is not written')
})

t.test('where a program holds the server, a WebSocket is refused so that clients come by HTTP', async (t) => {
  const gateway = await running(t, memory())
  const base = await opensHttp(t, createServer(gateway.gateway.listener))
  const peer = rawPeer(t, { base, key: gateway.key })
  t.equal(await peer.status(), 426)
  t.match(peer.all().toString(), /\r\nupgrade: HTTP\/1\.1\r\n/i)
  t.match(peer.all().toString(), /\r\nconnection: upgrade, close\r\n/i)
})
