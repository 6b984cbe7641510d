import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import * as memory from '../../../adapters/memory/platform.ts'
import * as production from '../../../adapters/production/platform.ts'
import cache from '../../../adapters/production/redis/cache.ts'
import rateLimiter from '../../../adapters/production/redis/rate-limiter.ts'
import { writeLog } from '../../../adapters/production/log/log.ts'
import { type FileWriter, bufferedLines } from '../../../adapters/production/log/buffered-writer.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Clock, Fetch, Log, Random, type Ask } from '../../../core/ports/platform.ts'
import { clock } from '../../contracts/clock.ts'
import { conform } from '../../contracts/contract.ts'
import { fetch } from '../../contracts/fetch.ts'
import { log, type Kept } from '../../contracts/log.ts'
import { random } from '../../contracts/random.ts'
import { listening } from '../../fakes/listening.ts'
import { fitted, made } from '../../fitted.ts'
import { until } from '../../until.ts'
import { quietClock } from '../../slowness.ts'

const get = (more: Partial<Ask> = {}): Ask => ({ method: 'GET', signal: new AbortController().signal, ...more })

const serving = async (t: Test, listener: RequestListener) => {
  const { port, sockets } = await listening(t, createServer(listener), '127.0.0.1')
  return { url: `http://127.0.0.1:${port}`, sockets }
}

const open = (t: Test): Fetch => {
  const container = fitted(use(production.fetch))
  t.teardown(() => container.dispose())
  return container.supply({ fetch: Fetch }).fetch
}

t.test('memory', async (t) => {
  await t.test('clock', (t) => conform(t, clock.contract, () => made(Clock, use(memory.clock))))
  await t.test('random', (t) => conform(t, random.contract, () => made(Random, use(memory.random))))

  await t.test('fetch', async (t) => {
    const fetch = made(Fetch, use(memory.fetch))
    for (const door of [fetch.upstream, fetch.outside]) {
      await t.rejects(door('http://127.0.0.1/', get()), UpstreamFailed)
      const reason = new Error('left')
      await t.rejects(door('http://127.0.0.1/', get({ signal: AbortSignal.abort(reason) })), reason)
    }
  })
  const none = 'no network in memory'
  await t.test('fetch, its contract', (t) =>
    conform(t, fetch.contract, () => made(Fetch, use(memory.fetch)), {
      'gives status and headers': none,
      'carries method, path, headers and body': none,
      'gives the body byte for byte': none,
      'gives each part of the body as it comes': none,
      'any status is an answer': none,
      'follows no redirect': none,
      'a body that is cut does not end as if it were whole': none,
      'waiting for the answer ends with the reason of the signal': none,
      'reading the body ends with the reason of the signal': none,
      'leaving the body early closes the socket': none,
      'discarding closes the socket': none,
      'waits for the answer no longer than its patience': none,
      'patience is for the head alone': none,
      'a reader that waits holds the sender back': none,
    }),
  )

  const silent = 'keeps nothing'
  await t.test('log', (t) =>
    conform(t, log.contract, (): Kept => ({ log: made(Log, use(memory.log)), written: () => '' }), {
      'writes one line of JSON for each event': silent,
      'gives the facts as they are': silent,
      'tells what is said, what is odd and what is wrong apart': silent,
      'says when': silent,
      'keeps the facts beside the cause': silent,
      'says class, code and place of a cause and of what caused it': silent,
      'writes nothing that a cause says': silent,
      'bears causes without end': silent,
    }),
  )
})

t.test('production', async (t) => {
  await t.test('clock', (t) => conform(t, clock.contract, () => made(Clock, use(production.clock))))
  await t.test('random', (t) => conform(t, random.contract, () => made(Random, use(production.random))))
  await t.test('fetch', (t) => conform(t, fetch.contract, open))
  await t.test('log', (t) =>
    conform(t, log.contract, (): Kept => {
      let text = ''
      return { log: writeLog('info', { write: (line) => void (text += line) }), written: () => text }
    }),
  )
})

t.test('a setting that is wrong stops the boot', async (t) => {
  t.throws(() => use(production.fetch, { outside: { allow: ['10.0.0.0/33'] } }), /allow.*expected a host name/)
  t.throws(() => use(production.fetch, { outside: { ports: [0] } }), /ports/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(production.fetch, { upstream: {} }), /not a known setting/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(production.log, { level: 'all' }), /level/)
  t.doesNotThrow(() => use(production.fetch, { outside: { allow: ['10.0.0.0/8', '::1', 'wiki.internal'] } }))
})

t.test('a time that no timer of Node holds stops the boot', async (t) => {
  const days = 24 * 86_400_000
  const url = 'redis://127.0.0.1:9'
  for (const { of, ms } of [
    { of: 'outside', ms: (time: number) => use(production.fetch, { outside: { time } }) },
    { of: 'cache', ms: (patience: number) => use(cache, { url, patience }) },
    { of: 'limits', ms: (patience: number) => use(rateLimiter, { url, patience }) },
  ]) {
    t.throws(() => ms(days + 1), / expected 2073600000 or less$/, of)
    t.doesNotThrow(() => ms(days), of)
  }
})

t.test('calls one after the other share a socket', async (t) => {
  const { upstream } = open(t)
  const { url, sockets } = await serving(t, (request, response) => request.pipe(response))
  for (let i = 0; i < 50; i++) {
    const answer = await upstream(url, get({ method: 'POST', body: `${i}` }))
    t.equal(await text(answer.body), `${i}`)
  }
  t.equal(sockets.length, 1)
})

t.test('calls at once each have a socket', async (t) => {
  const { upstream } = open(t)
  const waiting: (() => void)[] = []
  const { url, sockets } = await serving(t, (_, response) => {
    waiting.push(() => response.end('here'))
    if (waiting.length === 100) for (const go of waiting) go()
  })
  const texts = await Promise.all(Array.from({ length: 100 }, async () => text((await upstream(url, get())).body)))
  t.equal(texts.join(''), 'here'.repeat(100))
  t.equal(sockets.length, 100)
})

t.test('written bytes leave at once', async (t) => {
  const { upstream } = open(t)
  const { url, sockets } = await serving(t, (_, response) => response.end('here'))
  const delays = t.capture(Socket.prototype, 'setNoDelay', Socket.prototype.setNoDelay)
  const port = Number(new URL(url).port)
  await text((await upstream(url, get())).body)
  const ours = delays().filter(({ receiver }) => (receiver as Socket).remotePort === port)
  t.equal(sockets.length, 1)
  t.equal(ours.length, 1)
  t.not(ours[0]?.args[0], false)
})

t.test('a signal that outlives many calls gathers no listeners', async (t) => {
  const { upstream } = open(t)
  const { url } = await serving(t, (_, response) => response.end('here'))
  const { signal } = new AbortController()
  let listeners = 0
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = function (...args: [any, any]) {
    listeners++
    return addEventListener.apply(this, args)
  }
  signal.removeEventListener = function (...args: [any, any]) {
    listeners--
    return removeEventListener.apply(this, args)
  }
  for (let i = 0; i < 5; i++) await text((await upstream(url, get({ signal }))).body)
  ;(await upstream(url, get({ signal }))).discard()
  await t.rejects(upstream('http://127.0.0.1:1/', get({ signal })), UpstreamFailed)
  t.equal(listeners, 0)
})

t.test('a fault inside a body carries the answer’s status', async (t) => {
  const { upstream } = open(t)
  const { url } = await serving(
    t,
    ({ socket }, response) => void response.writeHead(203).write('a', () => socket.end()),
  )
  const fault = await text((await upstream(url, get())).body).then(t.fail, (fault) => fault)
  t.match(fault, { answered: 203, again: true })
})

t.test('a place that is none is not worth another try', async (t) => {
  const { upstream } = open(t)
  for (const url of ['nowhere', 'ftp://127.0.0.1/', 'http://user:secret@127.0.0.1:1/', 'http://127.0.0.1:99999/']) {
    const fault = await upstream(url, get()).then(t.fail, (fault) => fault)
    t.match(fault, { again: false, message: 'Upstream service failed' })
    t.ok(fault instanceof UpstreamFailed)
  }
})

t.test('giving up while connecting does not wait for the connection', async (t) => {
  const { upstream } = open(t)
  // It accepts, and never says a word of TLS.
  const server = createTcpServer()
  const { port } = await listening(t, server, '127.0.0.1')
  const stop = new AbortController()
  const reason = new Error('left')
  const call = upstream(`https://127.0.0.1:${port}/`, get({ signal: stop.signal }))
  await once(server, 'connection')
  const clock = quietClock()
  stop.abort(reason)
  await t.rejects(call, reason)
  t.ok(clock() < 1000, 'at once')
})

t.test('closing ends calls in progress', async (t) => {
  const { upstream, dispose } = open(t)
  const { url } = await serving(t, (_, response) => void response.write('first'))
  const reading = text((await upstream(url, get())).body)
  await dispose?.()
  await t.rejects(reading, UpstreamFailed)
  await t.rejects(upstream(url, get()), UpstreamFailed)
})

/** A process of its own that runs `script` with a log as `it`. */
const writing = (script: string): string[] => {
  const places = ['core/plugin', 'adapters/production/platform', 'test/fitted', 'core/ports/platform']
  const ending = import.meta.url.slice(-3)
  const [plugin, host, fitted, ports] = places.map((place) =>
    JSON.stringify(new URL(`../../../${place}${ending}`, import.meta.url).href),
  )
  const setup = `
    const { use } = await import(${plugin}), { log } = await import(${host})
    const { fitted } = await import(${fitted}), { Log } = await import(${ports})
    const container = fitted(use(log, { level: 'warn' }))
    const it = container.supply({ log: Log }).log;`
  return [...process.execArgv, '--input-type=module', '--eval', setup + script]
}

t.test('all that was logged is out when the log is closed', async (t) => {
  const script = `
    it.info('unheard')
    for (let i = 0; i < 500; i++) it.warn('heard', { i })
    await container.dispose()
    process.kill(process.pid, 'SIGKILL')`
  const run = promisify(execFile)(process.execPath, writing(script), { timeout: 20_000 })
  const { stdout } = await run.catch((killed: { stdout: string }) => killed)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(lines.length, 500)
  t.match(lines[499], { level: 'warn', event: 'heard', i: 499 })
})

t.test('a line is out after a moment, also when the process stays', async (t) => {
  const child = spawn(process.execPath, writing("it.warn('heard'); setInterval(() => {}, 1000)"))
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(20_000) })
  t.match(JSON.parse(String(line)), { event: 'heard', pid: child.pid })
})

t.test('a log that closes waits for the write that is under way', async (t) => {
  const taken: string[] = []
  let end = () => {}
  const door = {
    writeSync(_: number, bytes: Uint8Array) {
      taken.push(Buffer.from(bytes).toString())
      return bytes.length
    },
    write(_: number, bytes: Uint8Array, done: (fault: Error | null, written: number) => void) {
      end = () => {
        taken.push(Buffer.from(bytes).toString())
        done(null, bytes.length)
      }
    },
  }
  const lines = bufferedLines(1, door as unknown as FileWriter)
  const long = `${'a'.repeat(70_000)}\n`
  lines.write(long)
  lines.write('later\n')
  const closed = lines.close()
  t.same(taken, [], 'the order of the lines stays')
  end()
  await closed
  t.same(taken, [long, 'later\n'])
})

t.test('a log that cannot be written', async (t) => {
  const taken: string[] = []
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' })
  let room = 0
  const fill = (bytes: Uint8Array): number => {
    if (room === 0) throw full
    const some = bytes.subarray(0, room)
    room -= some.length
    taken.push(Buffer.from(some).toString())
    return some.length
  }
  const door = {
    writeSync: (_: number, bytes: Uint8Array) => fill(bytes),
    write(_: number, bytes: Uint8Array, done: (fault: Error | null, written: number) => void) {
      setImmediate(() => {
        try {
          done(null, fill(bytes))
        } catch (fault) {
          done(fault as Error, 0)
        }
      })
    },
  } as unknown as FileWriter
  const lines = bufferedLines(9, door)
  const line = (at: number) => `{"event":"e","at":${at},"of":"${'x'.repeat(1000)}"}\n`
  const many = 20_000
  for (let at = 0; at < many; at++) lines.write(line(at))
  // What is under way comes to its end.
  await new Promise(setImmediate)
  lines.flushSync()
  t.same(taken, [], 'a full disk takes nothing and stops nobody')
  room = 1_500
  lines.flushSync()
  t.equal(taken.join('').length, 1_500)
  room = Infinity
  lines.flushSync()
  lines.write(line(many))
  lines.flushSync()
  await until(async () => taken.join('').includes(`"at":${many},`))
  const kept = taken
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; at: number; lines: number })
  const events = kept.filter(({ event }) => event === 'e').map(({ at }) => at)
  const [lost] = kept.filter(({ event }) => event === 'log.lost')
  t.same(
    events.slice(0, -1),
    Array.from({ length: events.length - 1 }, (_, at) => at),
    'what fitted is whole and in order',
  )
  t.equal(lost?.lines, many - events.length + 1, 'and how many did not is said')
  t.equal(kept.at(-2)?.event, 'log.lost')

  const log = new URL('../../../adapters/production/log/log.js', import.meta.url).href
  const program = `
    import { standardOutput, writeLog } from '${log}'
    const log = writeLog('info', standardOutput())
    for (let at = 0; at < 99; at++) log.info('e', { of: 'x'.repeat(99) })
    setTimeout(() => process.exit(7), 400)`
  const device = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', device, 'inherit'],
  })
  closeSync(device)
  t.same(await once(child, 'exit'), [7, null], 'a process goes on, and ends when it wants to')
})
