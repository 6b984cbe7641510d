import { opensHttp } from './fakes/listening.ts'
import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { compiled } from './compiled.ts'
import { served } from './fakes/served.ts'
import { blocksOf } from './docs/blocks.ts'

const run = promisify(execFile)

/** The new files that pages show, by their paths. */
const shownFiles = async (): Promise<ReadonlyMap<string, string>> => {
  const pages = (await readdir('docs')).filter((name) => name.endsWith('.md'))
  const texts = await Promise.all(pages.map((name) => readFile(join('docs', name), 'utf8')))
  return new Map(
    texts.flatMap(blocksOf).flatMap(({ mark, text }) => {
      const file = /^new file (\S+)$/.exec(mark ?? '')?.[1]
      return file === undefined ? [] : [[file, text] as const]
    }),
  )
}

const backend = async (t: Test): Promise<string> => {
  const completion = { id: '1', object: 'chat.completion', created: 1, model: 'm', usage: {}, choices: [{ index: 0 }] }
  const message = { role: 'assistant', content: 'Coo.' }
  const server = createServer((request, response) => {
    const chat = { ...completion, choices: [{ index: 0, finish_reason: 'stop', message }] }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url?.endsWith('/models') ? { data: [{ id: 'grey' }] } : chat))
  })
  return `${await opensHttp(t, server)}/v1`
}

t.test('a tool, a reader, a provider, a store and a surface are two new files each, and no other edit', async (t) => {
  const scratch = t.testdir()
  for (const folder of ['package.json', 'test/vectors/providers'])
    await cp(folder, join(scratch, folder), { recursive: true })
  const isCode = (path: string) => !/\.(d\.ts|map)$/.test(path)
  for (const folder of [
    'core',
    'plugins',
    'adapters',
    'test/helpers.js',
    'test/fitted.js',
    'test/contracts',
    'test/fakes',
  ])
    await cp(join('dist', folder), join(scratch, 'dist', folder), { recursive: true, filter: isCode })
  await symlink(join(process.cwd(), 'node_modules'), join(scratch, 'node_modules'))
  // What stands there is built already: only the new files are.
  const added = await shownFiles()
  t.equal(added.size, 10)
  for (const [file, text] of added) {
    const place = join(scratch, 'dist', file.replace(/\.ts$/, '.js'))
    await mkdir(dirname(place), { recursive: true })
    await writeFile(place, compiled(text))
  }
  for (const [file, pattern] of [
    ['tools/countWords', /ok 1 - contract[^]*ok 2 - counts/],
    ['readers/recipe', /ok 1 - contract[^]*ok 2 - is found by its file/],
    ['providers/pigeon', /ok 1 - contract/],
    ['storage/drawer', /ok 1 - contract/],
    ['surfaces/semaphore', /ok 1 - contract/],
  ] as const) {
    const { stdout } = await run(process.execPath, [`dist/test/plugins/${file}.test.js`], { cwd: scratch })
    t.match(stdout, pattern, `${file} keeps the contract of its port`)
    t.notMatch(stdout, /^not ok/m)
  }

  const key = `sk_live_${'3'.repeat(44)}`
  const config = {
    providers: { pigeon: { use: 'pigeon', apiKey: 'key-1', baseUrl: await backend(t) } },
    models: { grey: { upstreams: [{ provider: 'pigeon', model: 'grey' }] } },
    storage: { blobs: { use: 'drawer' } },
  }
  await writeFile(join(scratch, 'config.json'), JSON.stringify(config))
  const server = await served(
    { SEALGATE_DATA: join(scratch, 'data'), SEALGATE_CONFIG: join(scratch, 'config.json'), SEALGATE_KEY: key },
    join(scratch, 'dist/adapters/production/main.js'),
  )
  t.teardown(() => server.child.kill('SIGKILL'))
  const answer = await fetch(`${server.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'grey', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  t.match(
    await answer.json(),
    { choices: [{ message: { content: 'Coo.' } }] },
    'the gateway answers by the new provider',
  )
  const { data } = (await (await fetch(`${server.base}/tools`)).json()) as { data: { name: string }[] }
  t.ok(
    data.some(({ name }) => name === 'countWords'),
    'the new tool is found by its file',
  )
  const wave = (authorization: string) =>
    fetch(`${server.base}/semaphore`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Hi' }),
    })
  t.match(await (await wave(`Bearer ${key}`)).json(), { flags: 2 }, 'the new surface is served')
  t.equal((await wave('Bearer nobody')).status, 401, 'to keys alone')
  const { paths } = (await (await fetch(`${server.base}/openapi.json`)).json()) as { paths: Record<string, any> }
  t.same(paths['/semaphore'].post.tags, ['Semaphore'], 'and describes itself')
  t.equal(await server.stop('SIGINT'), 0)
  await rm(join(scratch, 'node_modules'))
})
