import './fakes/unwatched.ts'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { basename, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { fromConfig } from '../adapters/production/index.ts'
import { commandRunner } from './fakes/command-runner.ts'
import { listening } from './fakes/listening.ts'
import { aloneIn, program as main, served } from './fakes/served.ts'
import { folderOf } from './helpers.ts'
import { until } from './until.ts'
import { isWhole } from './whole.ts'

const run = promisify(execFile)
const command = commandRunner(t)

const started = async (t: Test, env: Record<string, string>, program?: string) => {
  const server = await served(env, program)
  t.teardown(() => server.child.kill('SIGKILL'))
  return server
}

const as = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })

t.test('the first start shows a key once; killed and started again, keys are there', async (t) => {
  const env = { SEALGATE_DATA: join(t.testdir(), 'data') }
  const first = await started(t, env)
  const key = first.key
  const file = join(env.SEALGATE_DATA, 'first-key')
  t.match(key, /^sk_live_\w{44}$/)
  t.match(first.said, `sealgate made a key; it stands in ${file}\n`)
  t.notMatch(first.said, key, 'output that anybody may keep holds no key')
  t.equal((await stat(file)).mode & 0o777, 0o600, 'for its owner alone')
  const ready = await fetch(`${first.base}/health/ready`)
  t.equal(ready.status, 200)
  const wanted = JSON.stringify({ name: 'second', scopes: ['api_key.read'] })
  const made = await fetch(`${first.base}/admin/keys`, { method: 'POST', headers: as(key), body: wanted })
  t.equal(made.status, 201)
  const { data } = (await made.json()) as { data: { key: string; id: string } }
  await first.stop('SIGKILL')

  const second = await started(t, env)
  t.notMatch(second.said, /made a key/, 'a second start makes none')
  for (const known of [key, data.key]) {
    t.equal((await fetch(`${second.base}/admin/keys`, { headers: as(known) })).status, 200)
  }

  const keys = (...args: string[]) => command(['keys', ...args], env)
  t.match((await keys('list')).stdout, new RegExp(`${data.id}\tdefault\tdefault\tsk_live_…\\w{4}\tactive\tsecond`))
  t.match((await keys('revoke', data.id)).stdout, /revoked/)
  const revoked = Date.now()
  let accepted = revoked
  const isRefused = async () => {
    const asked = Date.now()
    const { status } = await fetch(`${second.base}/admin/keys`, { headers: as(data.key) })
    if (status === 200) accepted = asked
    return status === 401
  }
  t.ok(await until(isRefused, 20_000, 100), 'revoked by another process, refused here')
  t.ok(accepted - revoked <= 5500, `the last request that passed came after ${accepted - revoked} ms`)
  const created = await keys('create', '--organization', 'acme', '--scopes', 'models.read', '--days', '1')
  const [credential] = /sk_live_\w+/.exec(created.stdout)!
  t.equal((await fetch(`${second.base}/std/models`, { headers: as(credential!) })).status, 200)
  t.equal((await fetch(`${second.base}/admin/keys`, { headers: as(credential!) })).status, 403)
  for (const bad of [['create', '--days', '-1'], ['revoke', 'key_no'], ['what']]) {
    t.equal((await keys(...bad)).code, 1, bad.join(' '))
  }
  t.equal(await second.stop('SIGTERM'), 0, 'drains and ends cleanly')
})

t.test('a port that is taken costs no key', async (t) => {
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  t.teardown(() => busy.close())
  const tmp = await folderOf(t)
  const env = { SEALGATE_DATA: join(t.testdir(), 'data'), TMPDIR: tmp }
  const { port } = busy.address() as AddressInfo
  const text = await started(t, { ...env, HOST: '127.0.0.1', PORT: String(port) }).then(
    () => 'it listens',
    ({ message }: Error) => message,
  )
  t.match(text, /port \d+ of 127\.0\.0\.1 is in use \(EADDRINUSE\); --port N takes another/)
  t.notMatch(text, /made a key/)
  t.same(await readdir(tmp), [], 'nothing is left behind')

  const server = await started(t, env)
  const key = server.key
  t.match(server.said, /made a key; it stands in [^]*listening on/)
  t.equal((await fetch(`${server.base}/admin/keys`, { headers: as(key) })).status, 200)
  t.equal(await server.stop('SIGTERM'), 0)
  t.same(await readdir(tmp), [], 'nor by one that was served')
})

t.test('a folder too long for a socket ends the start with the name of its variable', async (t) => {
  const name = 't'.repeat(100)
  const folder = t.testdir({ [name]: {} })
  const tmp = join(folder, name)
  const text = /^sealgate: .*TMPDIR is too long: the enclave's socket below \S+ has a path of over 103 bytes$/m
  await t.rejects(started(t, { SEALGATE_DATA: join(folder, 'data'), TMPDIR: tmp }), { message: text })
  t.same(await readdir(tmp), [], 'nothing is left behind')
})

t.test('a host without an address is told as such, and not as a taken port', async (t) => {
  const env = { ...aloneIn(t.testdir()), HOST: '[::1]', PORT: '0' }
  await t.rejects(started(t, env), { message: /of \[::1\] is nowhere[^]*ENOTFOUND\); an IPv6 address stands without/ })
})

t.test('a key that nobody can see is told', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { PATH: process.env['PATH'], PORT: '0', ...aloneIn(t.testdir()) },
    stdio: ['ignore', full, 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const work = text(child.stderr!)
  t.same(await once(child, 'exit', { signal: AbortSignal.timeout(20_000) }), [1, null])
  t.match(await work, /can't be shown \(ENOSPC\); sealgate keys create/)
})

t.test('the key can be given', async (t) => {
  const key = `sk_live_${'3'.repeat(44)}`
  const env = { ...aloneIn(t.testdir()), SEALGATE_KEY: key }
  for (const time of ['first', 'again']) {
    const server = await started(t, env)
    t.notMatch(server.said, /made a key/, time)
    t.equal((await fetch(`${server.base}/admin/keys`, { headers: as(key) })).status, 200)
    t.equal(await server.stop('SIGINT'), 0)
  }
  const server = await started(t, { ...env, SEALGATE_KEY: `${key}\n` })
  t.notMatch(server.said, /opens nothing/, 'a line break behind the key is none of the key')
  const keys = (await (await fetch(`${server.base}/admin/keys`, { headers: as(key) })).json()) as any
  await fetch(`${server.base}/admin/keys/${keys.data.keys[0].id}`, { method: 'DELETE', headers: as(key) })
  t.equal(await server.stop('SIGINT'), 0)
  const shut = await started(t, env)
  t.match(shut.said, /^sealgate: SEALGATE_KEY opens nothing: it was revoked$/m)
  t.equal((await fetch(`${shut.base}/admin/keys`, { headers: as(key) })).status, 401)
  t.equal(await shut.stop('SIGINT'), 0)
  await t.rejects(started(t, { SEALGATE_DATA: t.testdir(), SEALGATE_KEY: 'short' }), { message: /32 random bytes/ })
})

t.test('every doubt about the configuration stops the boot and names its place', async (t) => {
  const folder = t.testdir()
  await writeFile(
    join(folder, 'other.mjs'),
    `export default { port: { name: 'Upstream', key: Symbol('Upstream'), many: true }, name: 'other', create() {} }`,
  )
  const cases: [string, unknown, RegExp][] = [
    ['not JSON', '{', /is not JSON/],
    ['an unknown setting', { limits: { keys: {} } }, /limits\.keys is not a known setting/],
    ['a wrong value', { timeouts: { idle: 'x' } }, /timeouts\.idle expected a number/],
    [
      'a missing variable',
      { storage: { blobs: { use: 'fs', folder: '$NOT_SET' } } },
      /storage\.blobs\.folder: \$NOT_SET is not set/,
    ],
    [
      'an unknown plugin',
      { storage: { blobs: { use: 'ftp' } } },
      /storage\.blobs: there is no ftp in storage, only fs, postgres, /,
    ],
    [
      'a plugin that fits elsewhere',
      { storage: { metadata: { use: 'fs', folder } } },
      /storage\.metadata: fs fits BlobStore, not MetadataStore/,
    ],
    [
      'a plugin of another installed copy',
      { providers: { other: { use: join(folder, 'other.mjs') } } },
      /providers\.other: \S+ fits Upstream of another installed copy of sealgate/,
    ],
    [
      'a setting that the plugin does not know',
      { storage: { blobs: { use: 'fs', folder, foldr: 1 } } },
      /storage\.blobs\.foldr is not a known setting; did you mean folder\?/,
    ],
    ['a path for a name', { storage: { blobs: { use: '../tools/getTime' } } }, /storage\.blobs/],
    ['an unknown tool', { tools: { makeTea: {} } }, /tools\.makeTea: there is no makeTea in tools/],
    [
      'a model without its provider',
      { models: { m: { upstreams: [{ provider: 'nobody' }] } } },
      /models\.m\.upstreams\.0\.provider/,
    ],
  ]
  // A start reads its configuration with the same function: `npm test` starts a process for every fifth of them.
  for (const [at, [name, config, pattern]] of cases.entries()) {
    const file = join(folder, 'config.json')
    await writeFile(file, typeof config === 'string' ? config : JSON.stringify(config))
    const begun: Promise<unknown> =
      isWhole || at % 5 === 0
        ? started(t, { SEALGATE_DATA: folder, SEALGATE_CONFIG: file })
        : fromConfig(file, { env: {}, data: folder })
    await t.rejects(begun, { message: pattern }, name)
  }
  await t.rejects(started(t, { SEALGATE_DATA: folder, SEALGATE_CONFIG: join(folder, 'none.json') }), {
    message: /none\.json: can't be read/,
  })
  await t.rejects(fromConfig('nope.json'), { message: "nope.json: can't be read (ENOENT)" })
  await t.rejects(started(t, { SEALGATE_DATA: folder, PORT: 'eighty' }), { message: /server\.port/ })
})

t.test('a connection that came before the port closes is answered', async (t) => {
  const folder = t.testdir()
  const [stands, goes, stander] = [join(folder, 'stands'), join(folder, 'goes'), join(folder, 'stander.mjs')]
  // The process stands still until shortly after the time at which its port closes.
  await writeFile(
    stander,
    `import { existsSync, writeFileSync } from 'node:fs'
    const stand = () => {
      writeFileSync(${JSON.stringify(stands)}, '')
      for (const late = Date.now() + 20_000; !existsSync(${JSON.stringify(goes)}) && Date.now() < late;);
    }
    process.on('SIGTERM', () => setTimeout(stand, 100))`,
  )
  const env = aloneIn(folder)
  await writeFile(env.SEALGATE_CONFIG, JSON.stringify({ enclave: null, server: { linger: 120 } }))
  const server = await started(t, { ...env, NODE_OPTIONS: `--import=${pathToFileURL(stander).href}` })
  const ended = server.stop('SIGTERM')
  t.ok(await until(() => existsSync(stands), 20_000), 'it stands')
  const socket = connect(Number(new URL(server.base).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await sleep(100)
  await writeFile(goes, '')
  t.match(await text(socket), /^HTTP\/1\.1 200 /)
  t.equal(await ended, 0)
})

t.test('a stream that begins while load balancers notice the end goes on to its own', async (t) => {
  let goOn = (): void => {}
  const going = new Promise<void>((resolve) => (goOn = resolve))
  const event = (content: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`
  const backend = createHttpServer(async (request, response) => {
    await text(request)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event('first '))
    await going
    response.end(`${event('last', 'stop')}data: [DONE]\n\n`)
  })
  const { port } = await listening(t, backend, '127.0.0.1')
  const env = aloneIn(t.testdir())
  const providers = { house: { use: 'openai', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'x' } }
  const models = { small: { upstreams: [{ provider: 'house' }] } }
  await writeFile(
    env.SEALGATE_CONFIG,
    JSON.stringify({ enclave: null, providers, models, server: { linger: 3_000, drain: 3_000 } }),
  )
  const server = await started(t, env)
  const { base, key } = server
  const ended = server.stop('SIGTERM')
  const isLeaving = async () => (await fetch(`${base}/health/ready`)).status === 503
  t.ok(await until(isLeaving), 'nothing is under way')
  const body = JSON.stringify({ model: 'small', stream: true, messages: [{ role: 'user', content: 'a' }] })
  const answer = await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers: as(key), body })
  const isShut = () =>
    fetch(`${base}/health/live`).then(
      () => false,
      () => true,
    )
  t.ok(await until(isShut), 'the port is closed')
  goOn()
  t.match(await answer.text(), /first [^]*last[^]*\[DONE\]/)
  t.equal(await ended, 0)
})

t.test('the server in code serves', async (t) => {
  const data = join(t.testdir(), 'data')
  const child = spawn(process.execPath, ['dist/examples/server.js'], {
    env: { PATH: process.env['PATH'], PORT: '0', SEALGATE_DATA: data },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer]
  const base = /http:\/\/[\d.:]+/.exec(bytes.toString())![0]
  const { stdout } = await command(['keys', 'create'], { SEALGATE_DATA: data })
  const headers = as(/sk_live_\w+/.exec(stdout)![0])
  const body = JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hello' }] })
  t.equal((await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers, body })).status, 200)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

/** Imports the files that are named, and says each name before what the file prints. */
const inOneProcess = `for (const file of process.argv.slice(1)) {
  console.log('file ' + file)
  await import(file)
}`

/** What each example prints: in `npm test` in one process, at night in a process of its own. */
const printed = async (files: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const map = new Map<string, string>()
  for (const turn of isWhole ? files.map((file) => [file]) : [files]) {
    const args = ['--input-type=module', '--eval', inOneProcess, ...turn.map((file) => resolve('dist/examples', file))]
    const { stdout } = await run(process.execPath, args, { timeout: 60_000 })
    for (const part of stdout.split(/^file /m).slice(1)) {
      const [file = '', ...lines] = part.split('\n')
      map.set(basename(file), lines.join('\n').trim())
    }
  }
  return map
}

t.test('the examples run as they stand', async (t) => {
  const examples = (await readdir('dist/examples')).filter((file) => file.endsWith('.js') && file !== 'server.js')
  t.ok(examples.length >= 4)
  const map = await printed(examples)
  for (const example of examples) {
    t.ok(map.get(example), `${example}: ${map.get(example)?.slice(0, 200)}`)
    const own = (await readFile(join('examples', example.replace(/\.js$/, '.ts')), 'utf8'))
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.trim().startsWith('//'))
    if (example.startsWith('embed')) t.ok(own.length <= 26, `${example} is short: ${own.length} lines`)
  }
})
