import './fakes/unwatched.ts'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'libsql'
import t from 'tap'
import { surfaceNames } from '../adapters/production/config/surfaces.ts'
import { plainScopes } from '../core/access/caller.ts'
import { parseJsonc } from '../adapters/production/config/jsonc.ts'
import { commandRunner } from './fakes/command-runner.ts'
import { recorded } from './fakes/recorded.ts'
import { startRedis } from './fakes/redis.ts'
import { enclosed, served } from './fakes/served.ts'
import { folderOf } from './helpers.ts'
import { until } from './until.ts'

const command = commandRunner(t)
const redis = await startRedis()
t.teardown(() => redis?.close())
const commands =
  (env: Readonly<Record<string, string>>) =>
  (...args: readonly string[]) =>
    command(args, env)

const broken = `{
  // every fault has its place
  "limits": {
    "keyz": {},
    "key": { "requestsPerSecond": "many" },
  },
  "surfaces": ["chatt"],
  "providers": {
    "main": { "use": "opnai", "apiKey": "$NO_SUCH_VARIABLE" },
    "house": { "use": "vllm", "baseUrl": "Canary7319" }
  },
  "models": { "m": { "upstreams": [{ "provider": "mian" }] } }
}
`

t.test('a configuration is checked with every fault at its place', { timeout: 120_000 }, async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'sealgate.jsonc')
  const run = commands({ SEALGATE_DATA: join(folder, 'data') })
  const check = async (config: string, ...more: string[]) => {
    await writeFile(file, config)
    return run('check', file, ...more)
  }
  const shape = await check(broken)
  t.equal(shape.code, 1)
  const faults = shape.stdout.trim().split('\n')
  t.same(faults.slice(0, 4), [
    `${file}:9:31 providers.main.apiKey: $NO_SUCH_VARIABLE is not set`,
    `${file}:4:5 limits.keyz is not a known setting; did you mean key?`,
    `${file}:7:16 surfaces.0 expected one of ${surfaceNames.join(', ')}, or a path or a package with a slash; did you mean chat?`,
    `${file}:5:14 limits.key.requestsPerSecond expected a number`,
  ])
  t.match(faults[4], /:9:5 providers\.main: there is no opnai in providers/, 'those of plugins stand beside them')
  t.equal(faults.at(-1), '7 faults')
  const plugins = await check(
    broken
      .replace(/.*keyz.*\n/, '')
      .replace('"many"', '5')
      .replace('chatt', 'chat')
      .replace('$NO_SUCH_VARIABLE', 'x'),
  )
  t.match(plugins.stdout, /:8:5 providers\.main: there is no opnai in providers, only .*; did you mean openai\?/)
  t.match(plugins.stdout, /:9:\d+ providers\.house\.baseUrl expected/)
  t.match(plugins.stdout, /:11:\d+ models\.m\.upstreams\.0\.provider is not a provider; did you mean main\?\n3 faults/)
  t.notMatch(shape.stdout + plugins.stdout, /Canary7319/, 'never a value')
  t.match((await check('{ "env": development }')).stderr, /is not JSON: a value is expected \(line 1, column 10\)/)
  t.match((await run('check', file, 'more')).stderr, /more is one argument too many/)
  t.match((await run('check', join(folder, 'none'))).stderr, /none: can't be read \(ENOENT\)/)
})

t.test('and what it reaches is told', { timeout: 120_000 }, async (t) => {
  const backend = await recorded(() => ({ status: 401, body: 'Canary7319' }))
  t.teardown(() => backend.close())
  const folder = t.testdir()
  const file = join(folder, 'sealgate.json')
  const rehearsal = { use: 'rehearsal' }
  const run = commands({ SEALGATE_DATA: join(folder, 'data') })
  await writeFile(file, JSON.stringify({ $schema: './schema.json', providers: { rehearsal } }))
  const fine = await run('check', file)
  t.equal(fine.code, 0, fine.stderr)
  t.match(
    fine.stdout,
    /no faults\n✓ storage\.metadata: sqlite\n✓ storage\.blobs: fs\n✓ providers\.rehearsal: \d+ models\n✓ enclave: dev\n/,
  )
  const twelve = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`r${at}`, rehearsal]))
  await writeFile(file, JSON.stringify({ providers: twelve }))
  t.notMatch((await run('check', file)).stderr, /Warning/, 'many providers are no leak')
  const main = { use: 'openai', apiKey: 'x', baseUrl: backend.url }
  await writeFile(file, JSON.stringify({ providers: { rehearsal, main } }))
  const away = await run('check', file)
  t.equal(away.code, 1)
  t.match(away.stdout, '✗ providers.main: 401, the key was refused\n')
  t.equal((await run('check', file, '--offline')).code, 0, 'without asking anybody')
  await writeFile(file, JSON.stringify({ providers: { rehearsal }, limits: { redis: 'redis://127.0.0.1:1' } }))
  const lone = await run('check', file)
  t.equal(lone.code, 1, 'without Redis a start would refuse most calls')
  t.match(lone.stdout, '\n✗ limits.redis: nothing listens there (ECONNREFUSED)\n')
})

t.test('the check tells whether Redis takes writes', { skip: redis === null && 'no redis-server here' }, async (t) => {
  const file = join(t.testdir(), 'sealgate.json')
  const run = commands({ SEALGATE_DATA: join(t.testdirName, 'data') })
  const check = async (url: string) => {
    await writeFile(file, JSON.stringify({ enclave: null, providers: {}, limits: { redis: url } }))
    return run('check', file)
  }
  t.match(await check(redis!.url), { code: 0, stdout: '\n✓ limits.redis: writable\n' })
  const wrong = await check(Object.assign(new URL(redis!.url), { username: 'somebody', password: 'wrong' }).href)
  t.match(wrong, { code: 1, stdout: '\n✗ limits.redis: the password was refused (WRONGPASS)\n' })
})

t.test('a check names the one of several enclaves that is gone', { timeout: 120_000 }, async (t) => {
  const folder = await folderOf(t)
  const [file, inside, socket] = [join(folder, 'gateway.json'), join(folder, 'enclave.json'), join(folder, 'e.sock')]
  await writeFile(inside, JSON.stringify({ enclave: { listen: socket } }))
  const enclave = await enclosed({ SEALGATE_CONFIG: inside })
  t.teardown(() => enclave.kill('SIGKILL'))
  await writeFile(file, JSON.stringify({ providers: {}, enclave: { connect: [socket, join(folder, 'gone.sock')] } }))
  t.match(await commands({ SEALGATE_DATA: join(folder, 'data') })('check', file), {
    code: 1,
    stdout: '✓ enclave: dev\n✓ enclave.connect.0: it answers\n✗ enclave.connect.1: the socket is not there (ENOENT)\n',
  })
})

t.test('a store that cannot be opened is a fault of the check, at its place', { timeout: 120_000 }, async (t) => {
  const file = join(t.testdir(), 'sealgate.json')
  const run = commands({ SEALGATE_DATA: join(t.testdirName, 'data') })
  const metadata = { use: 'sqlite', file: join(file, 'rows.db') }
  await writeFile(file, JSON.stringify({ providers: {}, enclave: null, storage: { metadata } }))
  const { code, stdout, stderr } = await run('check', file)
  t.equal(code, 1)
  t.match(stdout, /^\S+sealgate\.json:1:\d+ storage\.metadata: sqlite: the file cannot be opened; [^\n]+\n1 fault\n$/)
  t.equal(stderr, '')
  t.match(await run('check', file, '--offline'), { code: 0, stdout: `${file}: no faults\n` })
})

t.test('a check waits for no enclave where none is there', { timeout: 120_000 }, async (t) => {
  const file = join(t.testdir(), 'sealgate.json')
  const run = commands({ SEALGATE_DATA: join(t.testdirName, 'data') })
  const [gone, silent] = ['/nowhere.sock', join(await folderOf(t), 's.sock')]
  const rehearsal = { use: 'rehearsal' }
  const check = async (...connect: readonly string[]) => {
    await writeFile(file, JSON.stringify({ providers: { rehearsal }, enclave: { connect } }))
    const began = performance.now()
    const { code, stdout } = await run('check', file)
    return { code, ms: performance.now() - began, lines: stdout.split('\n').slice(3) }
  }
  const dead = await check(gone, gone)
  t.match(dead, { code: 1, lines: [/^✓ providers\.rehearsal: /, /^✗ enclave\.connect\.0: the socket is not there/] })
  t.notMatch(dead.lines.join('\n'), '✗ enclave: ', 'each of them has its line')
  t.ok(dead.ms < 8_000, `${dead.ms} ms`)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(silent, resolve))
  t.teardown(() => server.close())
  t.match(await check(silent), {
    code: 1,
    lines: [/^✓ providers\.rehearsal: /, '✗ enclave.connect.0: no answer in time'],
  })
})

t.test('keys are made with little, shown, changed and rotated', { timeout: 170_000 }, async (t) => {
  const data = join(t.testdir(), 'data')
  const file = join(t.testdirName, 'config.json')
  const organizations = { default: { teams: { blue: {} } }, other: { teams: { blue: {} } } }
  // Nothing of an enclave is needed here, so none is started.
  await writeFile(
    file,
    JSON.stringify({
      enclave: { connect: ['/nowhere'] },
      providers: { rehearsal: { use: 'rehearsal' } },
      organizations,
    }),
  )
  const env = { SEALGATE_DATA: data, SEALGATE_CONFIG: file }
  const run = commands(env)
  const json = async (...args: readonly string[]) => JSON.parse((await run(...args, '--json')).stdout)
  const made = await json('keys', 'create', '--name', 'ci', '--days', '2')
  t.same(made.scopes, plainScopes, 'nothing administrative')
  t.ok(plainScopes.includes('audio.transcription'), 'and sound is read by a plain key')
  t.match(made.key, /^sk_live_\w{44}$/)
  const shown = await run('keys', 'show', made.id)
  t.match(shown.stdout, new RegExp(`^id +${made.id}\nstate +active\nname +ci\n`))
  t.notMatch(shown.stdout, made.key)
  t.match(await json('keys', 'update', made.id, '--models', 'small', '--days', 'never'), {
    models: ['small'],
    expires_at: null,
  })
  const next = await json('keys', 'rotate', made.id)
  t.match(next, { name: 'ci', models: ['small'], scopes: plainScopes, revoked_at: null })
  t.not(next.key, made.key)
  const states = Object.fromEntries((await json('keys', 'list')).map((row: any) => [row.id, row.revoked_at === null]))
  t.same(states, { [made.id]: false, [next.id]: true })
  t.match((await run('keys', 'create', '--scopes', 'chat.completion')).stderr, /did you mean chats\.completion\?/)
  t.match((await run('keys', 'creat')).stderr, /keys has no creat; did you mean create\?/)
  t.match((await run('keys', 'revoke', next.id, 'other')).stderr, /other is one argument too many/)
  for (const [verb, ...rest] of [
    ['update', next.id, '--scopes'],
    ['rotate', next.id, '--user'],
    ['list', '--team'],
  ] as const) {
    const { code, stderr } = await run('keys', verb, ...rest, 'all')
    t.equal(code, 1)
    t.match(stderr, `keys ${verb} takes no ${rest.at(-1)}\n`)
  }
  t.match(await json('keys', 'show', next.id), { scopes: plainScopes, revoked_at: null }, 'and nothing is changed')
  t.match((await run('audit')).stdout, /key\.revoke +key_\S+ +done\n[^]*key\.update[^]*key\.create/)

  const all = await json('keys', 'create', '--scopes', 'all')
  const server = await served({ ...env, SEALGATE_KEY: all.key })
  t.teardown(() => server.child.kill('SIGKILL'))
  const headers = { authorization: `Bearer ${all.key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hello' }] })
  t.equal((await fetch(`${server.base}/v1/chat/completions`, { method: 'POST', headers, body })).status, 200)
  const least = await fetch(`${server.base}/admin/keys`, { method: 'POST', headers, body: '{}' })
  t.same(((await least.json()) as any).data.scopes, plainScopes, 'the same over the network')
  const endless = JSON.stringify({ expires_at: Number.MAX_SAFE_INTEGER })
  const late = (await (
    await fetch(`${server.base}/admin/keys`, { method: 'POST', headers, body: endless })
  ).json()) as any
  t.match(
    (await run('keys', 'show', late.data.id)).stdout,
    /expires +\+275760-09-13T00:00:00\.000Z/,
    'an end beyond all dates is the last one',
  )
  const counted = async () => (await json('usage', '--by', 'model')) as { model: string; requests: number }[]
  t.ok(
    await until(
      async () => (await counted()).some(({ model, requests }) => model === 'rehearsal' && requests === 1),
      20_000,
    ),
  )
  t.match(
    (await run('usage', '--by', 'key', '--csv')).stdout,
    new RegExp(`^key,requests,input,output[^]*\r\n${all.id},1,`),
  )
  for (const organization of ['default', 'other']) {
    const { key } = await json('keys', 'create', '--organization', organization, '--user', 'ann', '--team', 'blue')
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    t.equal((await fetch(`${server.base}/v1/chat/completions`, { method: 'POST', headers, body })).status, 200)
  }
  const rowsOf = async (by: string, ...more: readonly string[]) =>
    ((await json('usage', '--by', by, ...more)) as Record<string, unknown>[])
      .filter((row) => row[by] === 'ann' || row[by] === 'blue')
      .map(({ organization, requests }) => [organization, requests])
  const apart = [
    ['default', 1],
    ['other', 1],
  ]
  t.ok(await until(async () => (await rowsOf('team')).length === 2, 20_000), 'teams of two organisations stay apart')
  for (const by of ['team', 'user']) {
    t.same(await rowsOf(by), apart, by)
    t.same(await rowsOf(by, '--organization', 'other'), [['other', 1]], 'and one organisation is asked alone')
    t.match((await run('usage', '--by', by, '--csv')).stdout, new RegExp(`^${by},organization,requests,`))
  }
  t.match((await run('usage', '--by', 'model', '--organization', 'other', '--csv')).stdout, /\r\nrehearsal,1,/)
  t.match((await run('usage', '--by', 'dya')).stderr, /did you mean day\?/)
  t.equal(
    (await run('usage', '--from', '2001-01-01', '--to', '2001-01-02', '--csv')).stdout.trim().split('\r\n').length,
    1,
  )
  for (const [option, day] of [
    ['--from', '2030-02-31'],
    ['--to', '2030-13-01'],
  ] as const)
    t.equal(
      (await run('usage', option, day)).stderr,
      `sealgate: ${option} takes a day of the calendar, such as 2030-01-31\n`,
    )
  for (const limit of ['1e21', '0', '1.5'])
    t.equal(
      (await run('audit', '--limit', limit)).stderr,
      'sealgate: --limit takes a whole number from 1 to 1000000000\n',
    )
  t.match((await run('models')).stdout, /^model +type +providers\n[^]*rehearsal +CHAT +rehearsal/)
  t.equal(await server.stop('SIGTERM'), 0)
})

t.test('a file of variables made on Windows names the same configuration, data and keys', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify({ enclave: { connect: ['/nowhere'] } }))
  const [data, keys] = [join(folder, 'data'), join(folder, 'keys.json')]
  const run = commands({ SEALGATE_CONFIG: `${file}\r`, SEALGATE_DATA: `${data}\r`, SEALGATE_KEYS: `${keys}\r` })
  t.equal((await run('check', '--offline')).stdout, `${file}: no faults\n`)
  for (const words of [
    ['keys', 'create'],
    ['kek', 'new'],
  ])
    t.equal((await run(...words)).code, 0, words.join(' '))
  t.same((await readdir(folder)).sort(), ['config.json', 'data', 'keys.json'])
})

t.test('usage of many keys takes few readings of all rows', { timeout: 120_000 }, async (t) => {
  const data = join(t.testdir(), 'data')
  await writeFile(join(t.testdirName, 'config.json'), JSON.stringify({ enclave: { connect: ['/nowhere'] } }))
  const run = commands({ SEALGATE_DATA: data, SEALGATE_CONFIG: join(t.testdirName, 'config.json') })
  await run('keys', 'list')
  const db = new Database(join(data, 'sealgate.db'))
  db.exec(`insert into rows
    with recursive keys(n) as (select 1 union all select n + 1 from keys where n < 30000)
    select 'usage', 'key_' || n || '/2030-01-01/m', json_object('organization', 'acme', 'key', 'key_' || n, 'model', 'm',
      'day', '2030-01-01', 'requests', 1, 'input', 2, 'output', 3, 'cost_micros', 4) from keys`)
  db.close()
  const timed = async (by: string) => {
    const began = performance.now()
    const lines = (await run('usage', '--by', by, '--csv')).stdout.trim().split('\r\n').length
    return [lines - 1, performance.now() - began] as const
  }
  const [days, short] = await timed('day')
  const [keys, long] = await timed('key')
  t.same([days, keys], [1, 30_000])
  t.ok(long < 10 * short, `${long} ms beside ${short}`)
})

t.test('a store that is out of reach is named', async (t) => {
  const file = join(t.testdir(), 'config.json')
  const metadata = { use: 'postgres', url: 'postgres://nobody@127.0.0.1:1/none' }
  await writeFile(file, JSON.stringify({ storage: { metadata }, enclave: { connect: ['/nowhere'] } }))
  const command = commands({ SEALGATE_CONFIG: file, SEALGATE_DATA: t.testdirName })
  for (const words of [['keys', 'list'], ['sweep']]) {
    const { stderr, code } = await command(...words)
    t.equal(code, 1)
    t.match(stderr, /^sealgate: storage\.metadata \(postgres\): .*ECONNREFUSED 127\.0\.0\.1:1/)
  }
})

t.test('names of models that a backend lists cannot move the cursor or begin a row', async (t) => {
  const data = ['a\u001b[31mred', 'two\nlines'].map((id) => ({ id, object: 'model' }))
  const backend = await recorded(() => ({ body: JSON.stringify({ data }) }))
  t.teardown(() => backend.close())
  const file = join(t.testdir(), 'config.json')
  const providers = { house: { use: 'openai', api: 'chat', baseUrl: backend.url, apiKey: 'x' } }
  await writeFile(file, JSON.stringify({ enclave: null, providers, limits: { key: { costPerDay: 1 } } }))
  const run = commands({ SEALGATE_CONFIG: file, SEALGATE_DATA: join(t.testdirName, 'data') })
  for (const words of [['models'], ['prices', 'check'], ['check']]) {
    const { stdout } = await run(...words)
    t.match(stdout, /a\?\[31mred[^]*two\?lines/, words.join(' '))
    t.notMatch(stdout, /\u001b|two\n/)
  }
})

t.test('JSON with comments', (t) => {
  const { value, place } = parseJsonc('\ufeff// one\n{ "a": [1, /* two */ -2.5e3, "// no", ], "b": { "c": null, }, }\n')
  t.same(value, { a: [1, -2500, '// no'], b: { c: null } })
  t.same(place(['b', 'c']), { line: 2, column: 49 })
  t.same(place(['b', 'none']), { line: 2, column: 42 }, 'the nearest above')
  t.same(place(['a', 1]), { line: 2, column: 22 })
  for (const wrong of [
    '',
    '{',
    '{"a":1',
    "{'a':1}",
    '[1 2]',
    '{} {}',
    '{"a":1,"a":2}',
    '01',
    'nul',
    '[,]',
    '"\n"',
    '"\\x"',
    '/*',
  ])
    t.throws(() => parseJsonc(wrong), { name: 'NotJson' }, wrong)
  t.throws(() => parseJsonc('['.repeat(10_000)), { name: 'NotJson' }, 'depth is bounded')
  t.same((parseJsonc('{"__proto__":{"x":1}}').value as any).x, undefined)
  t.end()
})
