import { randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { system } from '../../../../adapters/memory/platform.ts'
import { openOutside, type Resolve } from '../../../../adapters/production/network/fetch-outside.ts'
import { Lifecycle } from '../../../../core/lifecycle.ts'
import { plugin, use } from '../../../../core/plugin.ts'
import { Observer } from '../../../../core/ports/observer.ts'
import { Clock, Fetch, Log, type LogFacts, Random } from '../../../../core/ports/platform.ts'
import { SettingsShape } from '../../../../core/settings.ts'
import { budgetWebhook } from '../../../../plugins/observers/budget-webhook/budget-webhook.ts'
import { fakeClock, settled } from '../../../fakes/clock.ts'
import { closing, listening } from '../../../fakes/listening.ts'
import { fitted } from '../../../fitted.ts'
import { until } from '../../../until.ts'

const receiverName = 'hooks.example.org'
const start = Date.UTC(2030, 0, 31, 12)

/** A receiver at 127.0.0.2, which counts as public, and another machine at 127.0.0.1, which is inside. */
const house = async (t: Test, answer: RequestListener, resolve?: Resolve) => {
  const seen: { readonly host: string; readonly path: string }[] = []
  const receiver = await listening(
    t,
    createServer((request, response) => {
      seen.push({ host: String(request.headers.host), path: String(request.url) })
      request.resume()
      answer(request, response)
    }),
    '127.0.0.2',
  )
  const inside = await listening(
    t,
    createServer((_, response) => response.end('inside')),
    '127.0.0.1',
  )
  const other = await listening(
    t,
    createServer((_, response) => response.end('other')),
    '127.0.0.2',
  )
  const logged: { readonly event: string; readonly facts: LogFacts }[] = []
  const note = (event: string, facts: LogFacts = {}) => void logged.push({ event, facts })
  const clock = fakeClock(start)
  const ending = new AbortController()
  t.teardown(() => ending.abort())
  const lifecycle: Lifecycle = { draining: ending.signal, held: 0, closing: ending.signal }
  const ports = [receiver.port, inside.port, other.port]
  const door = openOutside(
    { ports, bytes: 1024 * 1024, time: 15_000, allow: ['127.0.0.2'] },
    resolve ?? (async () => ['127.0.0.2']),
  )
  const { observers } = fitted(
    use(budgetWebhook),
    use(plugin({ port: Fetch, name: 'fetch', create: (): Fetch => ({ upstream: door, outside: door }) })),
    use(plugin({ port: Random, name: 'random', create: (): Random => ({ ...system.random, fraction: () => 0 }) })),
    use(plugin({ port: Clock, name: 'clock', create: (): Clock => clock })),
    use(plugin({ port: Log, name: 'log', create: (): Log => ({ info: note, warn: note, error: note }) })),
    use(plugin({ port: Lifecycle, name: 'lifecycle', create: () => lifecycle })),
  ).supply({ observers: Observer })
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const webhook = { url: `http://${receiverName}:${receiver.port}/hook`, secret }
  const settings = v.parse(SettingsShape, { limits: { budgets: { webhook } } })
  const share = { of: 'organization', whose: 'acme', period: 'day', percent: 80, at: start } as const
  return {
    ...{ receiver, inside, other, seen, logged, clock, secret },
    tell: (name = 'one') => observers[0]?.reached?.({ ...share, name }, settings),
    lines: (count: number) => until(() => logged.length >= count),
  }
}

type House = Awaited<ReturnType<typeof house>>

/** Nobody but the receiver has a connection, and the log names no host, no secret and no organisation. */
const staysThere = (t: Test, { inside, other, logged, secret }: House, what: string) => {
  t.equal(inside.sockets.length, 0, `${what}: nothing goes inward`)
  t.equal(other.sockets.length, 0, `${what}: nothing goes to another host`)
  t.notMatch(JSON.stringify(logged), new RegExp(`acme|example|${secret.slice(6, 20).replace(/[+/]/g, '.')}`))
}

const destinations = (house: House): Readonly<Record<string, string>> => ({
  'a private address': `http://127.0.0.1:${house.inside.port}/`,
  'a private address in other words': `http://[::ffff:7f00:1]:${house.inside.port}/`,
  'the metadata address': 'http://169.254.169.254/latest/meta-data/',
  'a file': 'file:///etc/passwd',
  'another port': `http://${receiverName}:${house.other.port}/hook`,
  'a closed port': `http://${receiverName}:22/`,
  'another host': `http://other.example.org:${house.other.port}/hook`,
  'another path': '/welcome',
})

t.test('no redirect of a receiver is followed, and the message is tried again', async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    let location = ''
    const gateway = await house(t, (_, response) => response.writeHead(status, { location }).end())
    let lines = 0
    for (const [what, where] of Object.entries(destinations(gateway))) {
      location = where
      const before = gateway.seen.length
      gateway.tell(what)
      t.ok(await gateway.lines(++lines))
      t.equal(gateway.seen.length, before + 1, `${status} to ${what}: the receiver is asked once`)
      t.match(gateway.logged.at(-1), { event: 'webhook.failed', facts: { status, again: true } })
      staysThere(t, gateway, `${status} to ${what}`)
    }
  }
})

t.test('a name that turns inward between two tries is refused at the second one', async (t) => {
  const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2', '127.0.0.1'], ['169.254.169.254']]
  for (const turned of answers.slice(1)) {
    let asked = 0
    const gateway = await house(
      t,
      (_, response) => response.writeHead(503).end(),
      async () => (asked++ === 0 ? ['127.0.0.2'] : turned),
    )
    gateway.tell()
    t.ok(await gateway.lines(1))
    await settled()
    await gateway.clock.pass(5_000)
    t.ok(await gateway.lines(2))
    t.equal(asked, 2, 'the name is looked up for each try')
    t.match(gateway.logged[1], { event: 'webhook.failed', facts: { status: null, again: false } })
    t.equal(gateway.seen.length, 1)
    staysThere(t, gateway, turned.join(' '))
  }
})

t.test('an answer without end is taken by its head, and its socket ends', async (t) => {
  let sent = 0
  const part = Buffer.alloc(65_536)
  const gateway = await house(t, (_, response) => {
    response.writeHead(200)
    const more = () => {
      while (!response.destroyed && response.write(part)) sent += part.length
      response.once('drain', more)
    }
    more()
  })
  const before = process.memoryUsage().rss
  for (let i = 0; i < 40; i++) gateway.tell(`budget ${i}`)
  t.ok(await gateway.lines(40))
  t.ok(gateway.logged.every(({ event }) => event === 'webhook.delivered'))
  await closing(gateway.receiver.sockets)
  t.ok(process.memoryUsage().rss - before < 128 * 1024 * 1024, 'the memory is bounded')
  t.ok(sent / 40 < 16 * 1024 * 1024, `${sent} bytes of 40 answers were sent`)
  staysThere(t, gateway, 'an endless answer')
})

t.test('a head without end is given up', async (t) => {
  const gateway = await house(t, ({ socket }) => {
    const parts = setInterval(() => socket.write('HTTP/1.1 200 OK\r\nx: '.padEnd(8_192, 'y')), 1)
    socket.on('close', () => clearInterval(parts))
  })
  gateway.tell()
  t.ok(await gateway.lines(1))
  t.match(gateway.logged, [{ event: 'webhook.failed', facts: { status: null, again: true } }])
  await closing(gateway.receiver.sockets)
})

t.test('a slow receiver has four sockets, a bounded queue, and nobody who waits for it', async (t) => {
  const gateway = await house(t, () => undefined)
  const promises: unknown[] = []
  const began = performance.now()
  for (let i = 0; i < 20_000; i++) promises.push(gateway.tell(`budget ${i}`))
  const ms = performance.now() - began
  t.ok(
    promises.every((promise) => promise === undefined),
    'a call gets no promise to wait for',
  )
  t.ok(ms < 5_000, `20,000 shares took ${Math.round(ms)} ms`)
  t.ok(await until(() => gateway.receiver.sockets.length === 4))
  await settled()
  t.equal(gateway.receiver.sockets.length, 4, 'four sockets')
  t.equal(gateway.logged.filter(({ event }) => event === 'webhook.lost').length, 19_900, 'a hundred wait')
  await gateway.clock.pass(10_000)
  await closing(gateway.receiver.sockets.slice(0, 4))
  staysThere(t, gateway, 'a slow receiver')
})
