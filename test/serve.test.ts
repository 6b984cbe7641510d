import './fakes/unwatched.ts'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { cp, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { program as main, served } from './fakes/served.ts'

const run = promisify(execFile)

const started = async (t: Test, env: Record<string, string>, program?: string) => {
  const it = await served(env, program)
  t.teardown(() => it.child.kill('SIGKILL'))
  return it
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

  const keys = (...args: string[]) =>
    run(process.execPath, [main, 'keys', ...args], { env: { PATH: process.env['PATH'], ...env } })
  t.match((await keys('list')).stdout, new RegExp(`${data.id}\tdefault\tdefault\tsk_live_…\\w{4}\tactive\tsecond`))
  t.match((await keys('revoke', data.id)).stdout, /revoked/)
  const began = Date.now()
  while (
    (await fetch(`${second.base}/admin/keys`, { headers: as(data.key) })).status === 200 &&
    Date.now() - began < 8000
  ) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const took = Date.now() - began
  t.equal((await fetch(`${second.base}/admin/keys`, { headers: as(data.key) })).status, 401)
  t.ok(took <= 5500, `revoked by another process, refused here after ${took} ms`)
  const created = await keys('create', '--organization', 'acme', '--scopes', 'models.read', '--days', '1')
  const [credential] = /sk_live_\w+/.exec(created.stdout)!
  t.equal((await fetch(`${second.base}/std/models`, { headers: as(credential!) })).status, 200)
  t.equal((await fetch(`${second.base}/admin/keys`, { headers: as(credential!) })).status, 403)
  for (const bad of [['create', '--days', '-1'], ['revoke', 'key_no'], ['what']]) {
    await t.rejects(keys(...bad), { code: 1 }, bad.join(' '))
  }
  t.equal(await second.stop('SIGTERM'), 0, 'drains and ends cleanly')
})

t.test('a port that is taken costs no key', async (t) => {
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  t.teardown(() => busy.close())
  const folder = t.testdir({ tmp: {} })
  const env = { SEALGATE_DATA: join(folder, 'data'), TMPDIR: join(folder, 'tmp') }
  const { port } = busy.address() as AddressInfo
  const said = await started(t, { ...env, HOST: '127.0.0.1', PORT: String(port) }).then(
    () => 'it listens',
    ({ message }: Error) => message,
  )
  t.match(said, /port \d+ of 127\.0\.0\.1 is in use \(EADDRINUSE\); --port N takes another/)
  t.notMatch(said, /made a key/)
  t.same(await readdir(join(folder, 'tmp')), [], 'nothing is left behind')

  const it = await started(t, env)
  const key = it.key
  t.match(it.said, /made a key; it stands in [^]*listening on/)
  t.equal((await fetch(`${it.base}/admin/keys`, { headers: as(key) })).status, 200)
  t.equal(await it.stop('SIGTERM'), 0)
  t.same(await readdir(join(folder, 'tmp')), [], 'nor by one that was served')
})

t.test('a key that nobody can see is told', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { PATH: process.env['PATH'], PORT: '0', SEALGATE_DATA: join(t.testdir(), 'data') },
    stdio: ['ignore', full, 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const said = text(child.stderr!)
  t.same(await once(child, 'exit', { signal: AbortSignal.timeout(20_000) }), [1, null])
  t.match(await said, /can't be shown \(ENOSPC\); sealgate keys create/)
})

t.test('the key can be given', async (t) => {
  const key = `sk_live_${'3'.repeat(44)}`
  const env = { SEALGATE_DATA: t.testdir(), SEALGATE_KEY: key }
  for (const time of ['first', 'again']) {
    const it = await started(t, env)
    t.notMatch(it.said, /made a key/, time)
    t.equal((await fetch(`${it.base}/admin/keys`, { headers: as(key) })).status, 200)
    t.equal(await it.stop('SIGINT'), 0)
  }
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
    ['a wrong value', { timeouts: { idle: 'x' } }, /timeouts\.idle expected number/],
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
      /storage\.blobs: fs: foldr is not a known setting/,
    ],
    ['a path for a name', { storage: { blobs: { use: '../tools/getTime' } } }, /storage\.blobs/],
    ['an unknown tool', { tools: { makeTea: {} } }, /tools\.makeTea: there is no makeTea in tools/],
    [
      'a model without its provider',
      { models: { m: { upstreams: [{ provider: 'nobody' }] } } },
      /models\.m\.upstreams\.0\.provider/,
    ],
  ]
  for (const [name, config, said] of cases) {
    const file = join(folder, 'config.json')
    await writeFile(file, typeof config === 'string' ? config : JSON.stringify(config))
    await t.rejects(started(t, { SEALGATE_DATA: folder, SEALGATE_CONFIG: file }), { message: said }, name)
  }
  await t.rejects(started(t, { SEALGATE_DATA: folder, SEALGATE_CONFIG: join(folder, 'none.json') }), {
    message: /none\.json: can't be read/,
  })
  await t.rejects(started(t, { SEALGATE_DATA: folder, PORT: 'eighty' }), { message: /server\.port/ })
})

t.test('a new tool is two new files and no other edit, and so is a new reader', async (t) => {
  const scratch = t.testdir()
  for (const it of ['core', 'plugins', 'adapters', 'package.json', 'tsconfig.json'])
    await cp(it, join(scratch, it), { recursive: true })
  for (const it of ['helpers.ts', 'fitted.ts', 'contracts'])
    await cp(join('test', it), join(scratch, 'test', it), { recursive: true })
  await symlink(join(process.cwd(), 'node_modules'), join(scratch, 'node_modules'))
  await mkdir(join(scratch, 'test/plugins/tools'), { recursive: true })
  await mkdir(join(scratch, 'test/plugins/readers'), { recursive: true })

  await writeFile(
    join(scratch, 'plugins/tools/countWords.ts'),
    `import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ text: v.string() })

export default plugin({
  port: Tool,
  name: 'countWords',
  create: (): Tool<typeof params> => ({
    name: 'countWords',
    description: 'Counts the words of a text.',
    kind: 'simple',
    params,
    async run({ text }, signal) {
      signal.throwIfAborted()
      return { words: text.split(/\\s+/).filter(Boolean).length }
    },
  }),
})
`,
  )
  await writeFile(
    join(scratch, 'test/plugins/tools/countWords.test.ts'),
    `import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import countWords from '../../../plugins/tools/countWords.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'

const made = () => fitted(use(countWords)).supply({ tools: Tool }).tools[0]!
t.test('contract', (t) => conform(t, tool.contract, () => ({ tool: made(), good: { params: { text: 'a b' } }, bad: null })))
t.test('counts', async (t) => {
  const it = made()
  if (it.kind === 'simple') t.same(await it.run({ text: ' one two  three ' }, AbortSignal.timeout(1000)), { words: 3 })
})
`,
  )
  await writeFile(
    join(scratch, 'plugins/readers/recipe.ts'),
    `import { Unreadable } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'

export default plugin({
  port: Reader,
  name: 'recipe',
  create: (): Reader<'document'> => ({
    name: 'recipe',
    kind: 'document',
    fits: ({ name }) => name.endsWith('.recipe'),
    async read({ bytes }, signal, { characters = 100_000 } = {}) {
      signal.throwIfAborted()
      const [title, text] = new TextDecoder().decode(bytes).split('\\n---\\n')
      if (title === undefined || text === undefined) throw new Unreadable()
      const sections = [{ heading: title, text: text.slice(0, characters) }]
      const content = { format: 'recipe', title, sections, truncated: text.length > characters }
      return { content, sections: [{ ...sections[0]!, page: null }] }
    },
  }),
})
`,
  )
  await writeFile(
    join(scratch, 'test/plugins/readers/recipe.test.ts'),
    `import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Reader } from '../../../core/ports/reader.ts'
import recipe from '../../../plugins/readers/recipe.ts'
import getTextDocumentContent from '../../../plugins/tools/getTextDocumentContent.ts'
import { Tool } from '../../../core/ports/tool.ts'
import { pluginNames } from '../../../adapters/production/config/load-plugin.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { fitted } from '../../fitted.ts'

const file = (name: string, text: string) => ({ id: 'file_1', name, mime: '', bytes: Buffer.from(text) })
const soup = file('soup.recipe', 'Soup\\n---\\nBoil the leeks for an hour.')
t.test('contract', (t) =>
  conform(t, reader.contract, () => ({
    reader: fitted(use(recipe)).supply({ readers: Reader }).readers[0]!,
    good: { file: soup, says: 'leeks' },
    broken: file('secret.recipe', 'Soup'),
    foreign: file('soup.txt', 'words'),
  })),
)
t.test('is found by its file, and a tool reads with it', async (t) => {
  t.ok((await pluginNames('readers')).includes('recipe'))
  const [tool] = fitted(use(recipe), use(getTextDocumentContent)).supply({ tools: Tool }).tools
  if (tool?.kind !== 'reads-file') throw new Error('It reads no file')
  t.match(await tool.run({ fileId: 'file_1' }, AbortSignal.timeout(1000), soup), { format: 'recipe', title: 'Soup' })
})
`,
  )
  await run(
    process.execPath,
    [
      join(process.cwd(), 'node_modules/typescript/bin/tsc'),
      '--noCheck',
      '--incremental',
      'false',
      '--declaration',
      'false',
      '--sourceMap',
      'false',
    ],
    { cwd: scratch },
  )
  const tested = await run(process.execPath, ['dist/test/plugins/tools/countWords.test.js'], { cwd: scratch })
  t.match(tested.stdout, /ok 2 - counts/)
  const read = await run(process.execPath, ['dist/test/plugins/readers/recipe.test.js'], { cwd: scratch })
  t.match(read.stdout, /ok 1 - contract[^]*ok 2 - is found by its file/)
  const it = await started(
    t,
    { SEALGATE_DATA: join(scratch, 'data') },
    join(scratch, 'dist/adapters/production/main.js'),
  )
  const { data } = (await (await fetch(`${it.base}/tools`)).json()) as { data: { name: string }[] }
  t.ok(
    data.some(({ name }) => name === 'countWords'),
    'it is found by its file',
  )
  t.equal(await it.stop('SIGINT'), 0)
  await rm(join(scratch, 'node_modules'))
})

t.test('the server in code serves', async (t) => {
  const data = join(t.testdir(), 'data')
  const child = spawn(process.execPath, ['dist/examples/server.js'], {
    env: { PATH: process.env['PATH'], PORT: '0', SEALGATE_DATA: data },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const base = /http:\/\/[\d.:]+/.exec(said.toString())![0]
  const { stdout } = await run(process.execPath, [main, 'keys', 'create'], {
    env: { PATH: process.env['PATH'], SEALGATE_DATA: data },
  })
  const headers = as(/sk_live_\w+/.exec(stdout)![0])
  const body = JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hello' }] })
  t.equal((await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers, body })).status, 200)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

t.test('the examples run as they stand', async (t) => {
  const examples = (await readdir('dist/examples')).filter((file) => file.endsWith('.js') && file !== 'server.js')
  t.ok(examples.length >= 4)
  for (const example of examples) {
    const { stdout } = await run(process.execPath, [join('dist/examples', example)], { timeout: 30_000 })
    t.ok(stdout.length > 0, `${example}: ${stdout.trim().slice(0, 200)}`)
    const own = (await readFile(join('examples', example.replace(/\.js$/, '.ts')), 'utf8'))
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.trim().startsWith('//'))
    if (example.startsWith('embed')) t.ok(own.length <= 26, `${example} is short: ${own.length} lines`)
  }
})
