import './fakes/unwatched.ts'
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { clock as clockPlugin } from '../adapters/memory/platform.ts'
import { fetch as doors } from '../adapters/production/platform.ts'
import { plugin, use } from '../core/plugin.ts'
import { Clock } from '../core/ports/platform.ts'
import type { SettingsInput } from '../core/settings.ts'
import { Metrics } from '../plugins/observers/prometheus/metrics.ts'
import { fromHex } from '../plugins/sealed/wire/bytes.ts'
import { parseKeyset } from '../plugins/sealed/wire/keyset.ts'
import { backend } from './contracts/stage.ts'
import { running, unhurried } from './environments.ts'
import { upstreamsAt } from './fakes/doors.ts'
import type { Asked, Take } from './fakes/recorded.ts'
import { enclaveOf } from './fakes/sealed-doors.ts'
import { crafted } from './fakes/sealing.ts'
import { formOf, uploadOf } from './fakes/uploads.ts'
import { opcodes, rawPeer } from './fakes/web-sockets.ts'
import { watchedLimiter } from './fakes/watched-limiter.ts'
import { made } from './fitted.ts'
import { until } from './until.ts'

const mebibyte = 1024 * 1024
/** Bytes of bodies that one key may have in memory: those of all scenes, and few more. */
const bodyRoom = 200_000
const sse = { 'content-type': 'text/event-stream' }
const delta = (content: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`
/** More than a system keeps for a reader that takes nothing. */
const long = delta('x'.repeat(16 * 1024)).repeat(1_500) + delta('', 'stop') + 'data: [DONE]\n\n'
const short = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

/** Nobody waits for the end of a connection that is kept for the next call. */
const ending = { connection: 'close' }

/** What the backend does is said by the prompt. */
const play = ({ path, body }: Asked): Take => {
  const text = body.toString()
  if (path.endsWith('/models')) return { headers: ending, body: '{"data":[]}' }
  if (text.includes('silent')) return { body: '', pace: 'silent' }
  if (text.includes('endless')) return { headers: sse, body: long }
  if (text.includes('"stream":true')) return { headers: { ...sse, ...ending }, body: delta('Hi', 'stop') }
  return { headers: { 'content-type': 'application/json', ...ending }, body: JSON.stringify(short) }
}

/** Ten times as fast as the time of day, so that the patience of a gateway ends within a test. */
const hurried = () => {
  const system = made(Clock, use(clockPlugin))
  const began = system.now()
  const now = () => began + (system.now() - began) * 10
  return plugin({
    port: Clock,
    name: 'hurried',
    create: (): Clock => ({
      now,
      sleep: (ms, signal) => system.sleep(ms / 10, signal),
      alarm: (ms, ring) => system.alarm(ms / 10, ring),
    }),
  })
}

const patience = { total: 20_000, firstToken: 20_000, idle: 20_000, stalled: 10_000 }
const inSealed = { total: 2_000, firstToken: 2_000, idle: 2_000, stalled: 1_000, sealedIdle: 2_000 }

const house = async (t: Test) => {
  const vendor = await backend(t, play)
  const limiter = watchedLimiter()
  const models = {
    open: { upstreams: [{ provider: 'chat', model: 'gpt-own' }] },
    secret: { standard: false, confidential: true, upstreams: [{ provider: 'chat', model: 'gpt-own' }] },
  }
  const settings: SettingsInput = {
    ...{ models, routing: { retries: 0 }, ...unhurried },
    timeouts: patience,
    connections: { head: 800 },
    sockets: { ping: 30_000 },
    bodies: { inMemory: { key: bodyRoom } },
  }
  const gateway = await running(
    t,
    {
      ...memory(),
      ...{ fetch: use(doors), clock: use(hurried()), rateLimiter: limiter.fitting, upstreams: upstreamsAt(vendor.url) },
      enclave: enclaveOf(upstreamsAt(vendor.url), { ...settings, timeouts: inSealed }),
    },
    structuredClone(settings),
  )
  gateway.server.keepAliveTimeout = 500
  const { keyset } = (await (await gateway.call('GET', '/rvenc/keys')).json()) as { readonly keyset: string }
  const sealKey = parseKeyset(fromHex(keyset, 1 << 20)!)!.keys[0]!
  const active = async () => {
    const text = await gateway.gateway.supply({ metrics: Metrics }).metrics.told()
    return Number(/^sealgate_requests_active (\d+)/m.exec(text)?.[1])
  }
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      gateway.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  return { ...gateway, vendor, limiter, sealKey, active, connections }
}

type House = Awaited<ReturnType<typeof house>>

const requestOf = (key: string, method: string, path: string, body: string): string =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
  `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** How a client vanishes: by a reset, or in silence, where it neither reads nor ends its half. */
const ways = ['reset', 'silence'] as const
type Way = (typeof ways)[number]

/** A connection that sends its bytes, reads until the phase is there, and then vanishes. */
const vanishing = async (
  t: Test,
  { base }: House,
  way: Way,
  name: string,
  bytes: string,
  isThere: (came: string) => boolean | Promise<boolean>,
): Promise<Socket> => {
  const socket = connect({ port: Number(new URL(base).port), host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  let came = ''
  socket.on('error', () => {}).on('data', (part) => (came += part.toString('latin1').slice(0, 2_000)))
  socket.write(bytes)
  t.ok(await until(() => isThere(came)), `${name}: the phase is there`)
  vanishes(socket, way)
  return socket
}

const vanishes = (socket: Socket, way: Way): void => {
  if (way === 'reset') socket.resetAndDestroy()
  else socket.pause()
}

const chatOf = (content: string, stream: boolean, model = 'open') => ({
  ...{ model, stream, max_tokens: 50 },
  messages: [{ role: 'user', content }],
})

/** The phases of every kind of call, each with what the client sends, and how far it waits. */
const scenes = (house: House, file: string) => {
  const sealed = (content: string, stream: boolean) =>
    JSON.stringify(crafted(house.sealKey, chatOf(content, stream, 'secret')).body)
  const post = (path: string, body: string) => (key: string) => requestOf(key, 'POST', path, body)
  const chats = {
    clear: (content: string, stream: boolean) => post('/v1/chat/completions', JSON.stringify(chatOf(content, stream))),
    sealed: (content: string, stream: boolean) => post('/rvenc/chat/completions', sealed(content, stream)),
  }
  const upload = post('/files/encrypted/upload', JSON.stringify(uploadOf(randomBytes(20_000))))
  const isSent = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 100))
  const isAsked = (word: string) => () => house.vendor.asked.some(({ body }) => body.includes(word))
  const isStreaming = (came: string) => came.length > 1_000
  const isEnded = (came: string) => came.includes('\r\n0\r\n\r\n') || /^HTTP\/1.1 \d+[^]*\r\n\r\n[^]*}$/.test(came)
  const cut = (whole: (key: string) => string, by: number) => (key: string) => whole(key).slice(0, -by)
  const rows = Object.entries(chats).flatMap(([name, chat]) => [
    [`${name}: head`, (key: string) => chat('hi', false)(key).slice(0, 60), isSent],
    [`${name}: body`, cut(chat('x'.repeat(30_000), false), 100), isSent],
    [`${name}: waiting`, chat(`silent ${name} whole`, false), isAsked(`silent ${name} whole`)],
    [`${name}: waiting for a stream`, chat(`silent ${name} stream`, true), isAsked(`silent ${name} stream`)],
    [`${name}: streaming`, chat('endless', true), isStreaming],
    [`${name}: after the end`, chat('hi', false), isEnded],
    [`${name}: after the end of a stream`, chat('hi', true), isEnded],
  ]) as readonly (readonly [string, (key: string) => string, (came: string) => boolean | Promise<boolean>])[]
  return [
    ...rows,
    ['upload: body', cut(upload, 100), isSent],
    ['upload: after the end', upload, isEnded],
    [
      'download: streaming',
      (key: string) => requestOf(key, 'GET', `/files/encrypted/${file}/content`, ''),
      isStreaming,
    ],
  ] as const
}

const uploaded = async (house: House): Promise<string> => {
  const answer = await fetch(`${house.base}/files/encrypted/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.key}` },
    body: formOf(randomBytes(16 * mebibyte)),
  })
  return ((await answer.json()) as { readonly data: { readonly id: string } }).data.id
}

const resources = (): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

const isBack = async (house: House): Promise<boolean> =>
  house.limiter.held() === 0 &&
  house.limiter.open() === 0 &&
  (await house.active()) === 0 &&
  (await house.connections()) === 0 &&
  (await house.vendor.open()) === 0

const figures = async (house: House): Promise<string> =>
  `places ${house.limiter.held()}, reservations ${house.limiter.open()}, requests ${await house.active()}, ` +
  `connections ${await house.connections()}, to backends ${await house.vendor.open()}`

/** The key has its whole room for bodies: a body that is under way takes half, and a second body takes the rest. */
const hasRoom = async (t: Test, house: House, key: string): Promise<void> => {
  const half = JSON.stringify(chatOf('x'.repeat(bodyRoom / 2 - 1_000), false))
  const one = connect(Number(new URL(house.base).port), '127.0.0.1')
  one.on('error', () => {}).write(requestOf(key, 'POST', '/v1/chat/completions', half).slice(0, -10))
  t.ok(await until(async () => (await house.active()) === 1))
  const answer = await house.call('POST', '/v1/chat/completions', half, {
    authorization: `Bearer ${key}`,
    connection: 'close',
  })
  t.equal(answer.status, 200, 'no bytes of bodies are held')
  await answer.arrayBuffer()
  one.destroy()
  t.ok(await until(async () => house.limiter.held() === 0 && (await house.active()) === 0), await figures(house))
}

for (const way of ways) {
  t.test(`clients that vanish by ${way} leave nothing behind, in every phase`, async (t) => {
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    t.teardown(() => process.off('warning', note))
    const gateway = await house(t)
    const file = await uploaded(gateway)
    t.ok(await until(() => isBack(gateway), 15_000), await figures(gateway))
    const [before, listeners] = [resources(), process.eventNames().length]

    const peers = ['idle', 'silent', 'endless'].map(async (content) => {
      const peer = rawPeer(t, gateway)
      t.equal(await peer.status(), 101)
      if (content !== 'idle')
        peer.send(opcodes.text, JSON.stringify({ type: 'response.create', model: 'open', input: content }))
      t.ok(await until(() => content !== 'endless' || peer.all().length > 10_000), `a WebSocket is ${content}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
      vanishes(peer.socket, way)
      return peer.socket
    })
    const { credential: key } = await gateway.gateway.keys.create({})
    const played = scenes(gateway, file).map(async ([name, bytes, isThere]) => {
      // A key has one sealed stream at a time.
      const own = name.endsWith('body') ? key : (await gateway.gateway.keys.create({})).credential
      return vanishing(t, gateway, way, name, bytes(own), isThere)
    })
    const clients = await Promise.all([...peers, ...played])
    t.ok(await until(() => isBack(gateway), 15_000), `all is back: ${await figures(gateway)}`)
    t.ok(gateway.limiter.given().places > 20, 'places were held')
    t.same(process.eventNames().length, listeners)
    await hasRoom(t, gateway, key)
    for (const client of clients) client.destroy()
    const isWhole = () => Object.entries(resources()).every(([kind, count]) => count <= (before[kind] ?? 0))
    t.ok(await until(isWhole), `${JSON.stringify(before)}, then ${JSON.stringify(resources())}`)
    t.same(warnings, [])
    const faults = gateway.logged.filter(({ event, facts }) => event === 'fault' && facts['status'] !== 503)
    t.same(faults, [], 'a client that vanishes is no fault of the gateway')
  })
}
