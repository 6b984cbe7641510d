import './fakes/unwatched.ts'
import { execFile, execFileSync } from 'node:child_process'
import cluster from 'node:cluster'
import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { workerPool } from '../adapters/production/workers/pool.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { startRedis } from './fakes/redis.ts'
import { program, served } from './fakes/served.ts'
import { talking } from './fakes/talking.ts'
import { until } from './until.ts'
import { quietClock } from './slowness.ts'

const redis = await startRedis({ steer: true })
t.teardown(() => redis?.close())

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** What was started by that process and matches. */
const below = (pid: number, what: string): readonly number[] => {
  try {
    return execFileSync('pgrep', ['-P', String(pid), '-f', what], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number)
  } catch {
    return []
  }
}

/** Sends half of what it is to send, and the rest when told to. */
const slowly = () => {
  const [begun, begin] = promised()
  const [ended, end] = promised()
  const slow: typeof fetch = (url, { body, ...init } = {}) => {
    if (typeof body !== 'string') return fetch(url, init)
    const halves = async function* () {
      yield Buffer.from(body.slice(0, body.length / 2))
      begin()
      await ended
      yield Buffer.from(body.slice(body.length / 2))
    }
    return fetch(url, { ...init, body: halves() as unknown as BodyInit, duplex: 'half' } as RequestInit)
  }
  return { fetch: slow, begun, end }
}

const promised = (): [Promise<void>, () => void] => {
  let resolve = () => {}
  return [new Promise((act) => (resolve = act)), () => resolve()]
}

t.test('two workers are one gateway', { skip: redis === null && 'no redis-server here' }, async (t) => {
  const [a, b] = [await talking(t, 'a'), await talking(t, 'b')]
  const file = join(t.testdir(), 'config.json')
  const config = (baseUrl: string, more: object = {}) => ({
    providers: { main: { use: 'openai', baseUrl, apiKey: 'x' }, rehearsal: { use: 'rehearsal' } },
    models: {
      small: { upstreams: [{ provider: 'main' }] },
      secret: { confidential: true, standard: false, upstreams: [{ provider: 'rehearsal', model: 'rehearsal' }] },
    },
    enclave: { providers: { rehearsal: { use: 'rehearsal' } } },
    log: { level: 'info' },
    ...more,
    limits: {
      redis: redis!.url,
      patience: 2000,
      key: { requestsPerSecond: null, concurrentRequests: 8 },
      ...(more as any).limits,
    },
  })
  const write = (document: object | string) =>
    writeFile(file, typeof document === 'string' ? document : JSON.stringify(document))
  await write(config(a.baseUrl))
  const env = { SEALGATE_DATA: join(t.testdirName, 'data'), SEALGATE_CONFIG: file, SEALGATE_LOG: 'info' }
  const server = await served(env, program, ['serve', '--workers', '2'])
  t.teardown(() => server.child.kill('SIGKILL'))
  const workers = () => below(server.child.pid!, 'serve --workers')
  const enclaves = () => below(server.child.pid!, 'enclave')
  t.equal(server.said.match(/made a key/g)?.length, 1, 'one first key')
  t.equal(server.said.match(/listening on/g)?.length, 1, 'said once, by the one who leads')
  t.equal(workers().length, 2)
  t.equal(enclaves().length, 1, 'one confidential process for both')
  const key = server.key

  /** On a connection of its own, so that the next one is taken by the other worker. */
  const call = (method: string, path: string, body?: unknown) =>
    new Promise<{ status: number; json: any; text: string }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const asking = request(
        server.base + path,
        { method, headers, agent: new Agent({ keepAlive: false }) },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8')
          answer.on('data', (part) => (text += part)).on('error', reject)
          answer.on('end', () =>
            resolve({ status: answer.statusCode!, text, json: text.startsWith('{') ? JSON.parse(text) : null }),
          )
        },
      )
      asking.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    })
  const asked = (stream = false) => ({ model: 'small', stream, messages: [{ role: 'user', content: 'Hi' }] })
  const say = async () => {
    const { status, json } = await call('POST', '/std/chat/completions', asked())
    return status === 200 ? json.choices[0].message.content : status
  }
  const each = async (n: number, ask: () => Promise<unknown>) =>
    new Set(await Promise.all(Array.from({ length: n }, ask)))
  const pidsThatServed = () =>
    new Set([...server.said.matchAll(/"pid":(\d+),.*"event":"request"/g)].map(([, pid]) => pid))

  t.same(await each(6, say), new Set(['a']))
  t.ok(await until(() => pidsThatServed().size === 2), 'both have served')

  const client = connect({ baseUrl: server.base, apiKey: key, policy: { allowInsecureDev: true } })
  const hidden = (by = client) =>
    by.chat.completions.create({ model: 'secret', messages: [{ role: 'user', content: 'Hi' }] })
  const opened = await Promise.all(Array.from({ length: 4 }, () => hidden()))
  t.ok(
    opened.every(({ choices }) => choices[0]),
    'sealed to one, through either',
  )

  const streams = Array.from({ length: 8 }, () => call('POST', '/std/chat/completions', asked(true)))
  t.ok(await until(() => a.calls() === 6 + 8), 'as many at once as the limit says')
  t.same(await each(4, say), new Set([429]), 'and not one more in either')
  a.end()
  t.ok((await Promise.all(streams)).every(({ text }) => text.includes('[DONE]')))

  const totals = async () => {
    const { text } = await call('GET', '/metrics')
    const counted = [...text.matchAll(/^sealgate_request_seconds_count\{.*status="(\d+)".*\} (\d+)$/gm)]
    return counted.reduce((sum, [, status, count]) => sum + (status === '429' ? Number(count) : 0), 0)
  }
  t.same([await totals(), await totals()], [4, 4], 'either one tells the sum of both')

  const configured = async () => {
    const { data } = (await call('GET', '/admin/configuration')).json
    const place = data.settings.find(({ path }: any) => path.join('.') === 'providers.main.baseUrl').value
    return JSON.stringify([place, data.read_at, data.changes])
  }
  const first = await each(6, configured)
  t.equal(first.size, 1, 'either one tells the same configuration')
  const toldOf = (place: string) => new RegExp(`^\\["${place}",\\d+,\\[\\]\\]$`)
  t.match([...first][0], toldOf(a.baseUrl))

  const keyset = async () => (await call('GET', '/rvenc/keys')).json.keyset
  const before = await keyset()
  await write(config(b.baseUrl, { limits: { key: 7 } }))
  const refused = await call('POST', '/admin/reload')
  t.equal(refused.status, 400)
  t.match(refused.json.validator.configuration, /limits\.key/)
  t.same(await each(4, say), new Set(['a']), 'a bad file changes neither')
  await write(config(b.baseUrl))
  t.equal((await call('POST', '/admin/reload')).status, 200)
  t.same(await each(6, say), new Set(['b']), 'a good one changes both before it is acknowledged')
  const second = await each(6, configured)
  t.equal(second.size, 1, 'and both tell the new one')
  t.match([...second][0], toldOf(b.baseUrl))
  t.same(await each(4, keyset), new Set([before]), 'and the enclave is left alone')
  const slow = slowly()
  const patient = connect({ baseUrl: server.base, apiKey: key, policy: { allowInsecureDev: true }, fetch: slow.fetch })
  const coming = hidden(patient)
  await slow.begun
  await write(config(a.baseUrl, { timeouts: { idle: 7000 } }))
  server.child.kill('SIGHUP')
  const renewed = async () => {
    const seen = await each(4, keyset)
    return seen.size === 1 && !seen.has(before)
  }
  t.ok(await until(renewed), 'by a signal: new keys where something concerns the enclave, the same in both')
  t.ok((await hidden()).choices[0], 'the same client')
  await sleep(1500)
  t.equal(enclaves().length, 2, 'the old one stays while somebody speaks to it')
  slow.end()
  t.ok((await coming).choices[0], 'and hears them out')
  t.ok(await until(() => enclaves().length === 1), 'then it is gone')
  const acts = (await call('GET', '/admin/audit')).json.data.acts.filter(({ action }: any) => action === 'reload')
  t.same(
    acts.map(({ outcome }: any) => outcome),
    ['done', 'done', 'refused'],
    'each once',
  )

  const [victim, other] = workers()
  process.kill(victim!, 'SIGKILL')
  t.ok(await until(() => workers().length === 2 && !workers().includes(victim!)), 'one that dies is started anew')
  t.ok(workers().includes(other!), 'while the other one stays')
  t.ok(
    await until(() => /"signal":"SIGKILL",.*"event":"worker.ended"/.test(server.said)),
    'which is told with the signal',
  )
  t.ok(await until(async () => (await each(4, say)).size === 1), 'and serves what the others serve')
  t.same([await totals(), await totals()], [4, 4], 'and what the dead one had counted stays')

  const last = call('POST', '/std/chat/completions', asked(true))
  await sleep(300)
  const clock = quietClock()
  const ended = server.stop('SIGTERM')
  t.ok(
    await until(() => workers().length === 1),
    'one that has nothing under way is gone; the other waits for its stream',
  )
  a.end()
  t.match((await last).text, '[DONE]', 'which ends whole')
  t.equal(await ended, 0)
  t.ok(clock() < 10_000, 'before its drain is over')
  t.same([workers(), enclaves()], [[], []], 'nobody is left')
})

t.test('a signal that meets no worker is told', { skip: redis === null && 'no redis-server here' }, async (t) => {
  const file = join(t.testdir(), 'config.json')
  await writeFile(file, JSON.stringify({ limits: { redis: redis!.url }, enclave: { connect: ['/nowhere'] } }))
  const env = { SEALGATE_CONFIG: file, SEALGATE_DATA: join(t.testdirName, 'data'), SEALGATE_LOG: 'info' }
  const server = await served(env, program, ['serve', '--workers', '2'])
  t.teardown(() => server.child.kill('SIGKILL'))
  const ended = () => server.said.match(/"event":"worker\.ended"/g)?.length ?? 0
  for (const pid of below(server.child.pid!, 'serve --workers')) process.kill(pid, 'SIGKILL')
  t.ok(await until(() => ended() === 2))
  server.child.kill('SIGHUP')
  const refused = /"reason":"no worker is running",.*"event":"reload\.refused"/
  t.ok(await until(() => refused.test(server.said)), 'the leader logs the refusal')
  t.equal(await server.stop('SIGTERM'), 0)
})

t.test('told to end while one is on its way up', { skip: redis === null && 'no redis-server here' }, async (t) => {
  const file = join(t.testdir(), 'config.json')
  await writeFile(file, JSON.stringify({ limits: { redis: redis!.url }, enclave: { connect: ['/nowhere'] } }))
  const env = { SEALGATE_CONFIG: file, SEALGATE_DATA: join(t.testdirName, 'data') }
  const server = await served(env, program, ['serve', '--workers', '2'])
  t.teardown(() => server.child.kill('SIGKILL'))
  const workers = () => below(server.child.pid!, 'serve --workers')
  const before = workers()
  process.kill(before[0]!, 'SIGKILL')
  t.ok(await until(() => workers().some((pid) => !before.includes(pid))))
  const ended = server.stop('SIGTERM').then((code) => ({ code }))
  t.match(await Promise.race([ended, sleep(10_000, 'it goes on', { ref: false })]), { code: 0 })
  t.same(workers(), [])
})

t.test(
  'workers without the one who leads, and one that stands still',
  { skip: redis === null && 'no redis-server here' },
  async (t) => {
    const a = await talking(t, 'a')
    const file = join(t.testdir(), 'config.json')
    const config = {
      providers: { main: { use: 'openai', baseUrl: a.baseUrl, apiKey: 'x' } },
      models: { small: { upstreams: [{ provider: 'main' }] } },
      enclave: { connect: ['/nowhere'] },
      limits: { redis: redis!.url, patience: 2000 },
    }
    await writeFile(file, JSON.stringify(config))
    const env = { SEALGATE_CONFIG: file, SEALGATE_DATA: join(t.testdirName, 'data') }
    const server = await served(env, program, ['serve', '--workers', '2'])
    const pids = below(server.child.pid!, 'serve --workers')
    t.teardown(() => [server.child.pid!, ...pids].forEach((pid) => alive(pid) && process.kill(pid, 'SIGKILL')))
    const headers = {
      authorization: `Bearer ${server.key}`,
      'content-type': 'application/json',
    }

    const countIn = (text: string) => Number(/^sealgate_request_seconds_count\{.*200.*\} (\d+)$/m.exec(text)?.[1])
    const told = () =>
      fetch(`${server.base}/metrics`, {
        headers: { ...headers, connection: 'close' },
        signal: AbortSignal.timeout(3000),
      }).then(
        async (answer) => countIn(await answer.text()),
        () => NaN,
      )
    for (let at = 0; at < 4; at++) await told()
    t.equal(await told(), 4)
    process.kill(pids[0]!, 'SIGSTOP')
    t.ok(await until(async () => (await told()) >= 5), 'the other one tells what both have measured')
    process.kill(pids[0]!, 'SIGCONT')

    const body = JSON.stringify({ model: 'small', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
    const answer = await fetch(`${server.base}/std/chat/completions`, { method: 'POST', headers, body })
    server.child.kill('SIGKILL')
    await sleep(500)
    a.end()
    t.match(await answer.text(), '[DONE]', 'what is under way ends whole')
    t.ok(await until(() => !pids.some(alive)), 'and then nobody is left')
  },
)

t.test('a worker that ends while it is asked has one successor', async (t) => {
  const exec = join(
    t.testdir({ 'w.mjs': "import { createServer } from 'node:http'\ncreateServer().listen(0)" }),
    'w.mjs',
  )
  cluster.setupPrimary({ exec, execArgv: [] })
  const told: string[] = []
  const note = (event: string) => void told.push(event)
  const pool = workerPool(() => ({}), { info: note, warn: note, error: note })
  t.teardown(() => pool.close(false))
  await pool.start()
  const [member] = pool.members
  const asked = member!.line.ask('renew').catch(() => pool.replace(member!))
  member!.kill()
  await asked
  t.same(told, ['worker.ended'])
  t.ok(await until(() => pool.members.size === 1))
})

t.test('what stops it before it listens', async (t) => {
  const file = join(t.testdir(), 'config.json')
  const refused = async (config: object, ...args: readonly string[]): Promise<string> => {
    await writeFile(file, JSON.stringify(config))
    const env = { PATH: process.env['PATH'], SEALGATE_CONFIG: file, SEALGATE_DATA: join(t.testdirName, 'data') }
    const options = { env, timeout: 20_000 }
    return promisify(execFile)(process.execPath, [program, 'serve', ...args], options).then(
      () => 'served',
      ({ code, stderr }) => `${code} ${stderr}`,
    )
  }
  t.match(await refused({}, '--workers', '2'), /^1 sealgate: --workers needs limits\.redis/)
  t.match(await refused({}, '--workers', 'two'), /^1 sealgate: --workers takes a whole number/)
  const broken = {
    limits: { redis: 'redis://127.0.0.1:1' },
    storage: { metadata: { use: 'sqlite', file: '/dev/null/rows.db' } },
  }
  t.match(await refused(broken, '--workers', '2'), /a worker ended before it listened/)
})
