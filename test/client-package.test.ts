import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { running } from './environments.ts'
import { launchChromium, withoutChromium } from './fakes/chromium.ts'
import { listening } from './fakes/listening.ts'
import { npmWith, unwanted } from './lab/suites/python.ts'

const run = promisify(execFile)
const home = resolve('.')

t.setTimeout(600_000)

/** The package as npm would publish it: its archive, and the folder of a user who installed it. */
const packed = async (t: Test) => {
  await run(process.execPath, ['test/client-package.mjs'])
  const folder = t.testdir({ 'package.json': '{"name":"page","private":true,"type":"module"}' })
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, './dist/client-package'])
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  await run('npm', ['install', '--no-audit', '--no-fund', '--offline', `./${filename}`], { cwd: folder })
  return { folder, archive: join(folder, filename), installed: join(folder, 'node_modules/sealgate-client') }
}

/** What a user writes: a sealed chat whose answer is shown. */
const chat = (from: string, told: string): string => `
  import { connect } from ${JSON.stringify(from)}
  const { baseUrl, apiKey, show } = ${told}
  const client = connect({ baseUrl, apiKey, policy: { allowInsecureDev: true } })
  const messages = [{ role: 'user', content: 'Who reads this?' }]
  const answer = await client.chat.completions.create({ model: 'rehearsal', messages })
  show(answer.choices[0].message.content)`

const expected = /The last message was: Who reads this\?/

/** A page of an origin of its own, from files of a folder. */
const served = async (t: Test, folder: string): Promise<string> => {
  const types: Readonly<Record<string, string>> = { js: 'text/javascript', html: 'text/html' }
  const server = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '')
    const type = types[path.slice(path.lastIndexOf('.') + 1)] ?? 'text/plain'
    const send = (status: number, body: Uint8Array | string) =>
      response.writeHead(status, { 'content-type': type }).end(body)
    readFile(join(folder, path)).then(
      (bytes) => send(200, bytes),
      () => send(404, ''),
    )
  })
  const { port } = await listening(t, server, '127.0.0.1')
  return `http://127.0.0.1:${port}`
}

/** What the page shows after it sealed a chat to a gateway, and the plaintext that left it. */
const shown = async (t: Test, folder: string) => {
  const origin = await served(t, folder)
  const gateway = await running(t, memory(), { cors: { origins: [origin] } })
  const browser = await launchChromium()
  t.teardown(() => browser.close())
  const tab = await browser.newPage()
  const sent: string[] = []
  tab.on('request', (request) => sent.push(request.postData() ?? ''))
  tab.on('pageerror', (error) => t.fail(error.message))
  await tab.addInitScript(
    ({ baseUrl, apiKey }) => {
      const show = (text: string) => {
        document.title = text
      }
      Object.assign(globalThis, { told: { baseUrl, apiKey, show } })
    },
    { baseUrl: gateway.base, apiKey: gateway.key },
  )
  await tab.goto(origin)
  await tab.waitForFunction(() => document.title !== '', null, { timeout: 60_000 })
  return { title: await tab.title(), sent: sent.join('\n') }
}

const page = (script: string): string => `<!doctype html><meta charset="utf-8"><script type="module">${script}</script>`

t.test('the package of the client is small, needs no other one, and seals in Node', async (t) => {
  const { folder, archive, installed } = await packed(t)
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>
  t.equal(manifest['dependencies'], undefined, 'no dependencies')
  const { size } = await stat(archive)
  t.ok(size <= 111_000, `${size} bytes packed, with all that is loaded later`)
  const gateway = await running(t, memory())
  const told = JSON.stringify({ baseUrl: gateway.base, apiKey: gateway.key })
  await writeFile(join(folder, 'chat.mjs'), chat('sealgate-client', `{ ...${told}, show: console.log }`))
  const { stdout } = await run(process.execPath, ['chat.mjs'], { cwd: folder })
  t.match(stdout, expected)
  const [own, from] = await Promise.all([
    import('../plugins/sealed/client/own-client.ts'),
    import(join(installed, 'client/index.js')) as Promise<object>,
  ])
  t.same(Object.keys(from).sort(), Object.keys(own).sort(), 'it exports what sealgate/client exports')
  const body =
    "import { connect } from 'sealgate-client'\nconst at: (o: Parameters<typeof connect>[0]) => unknown = connect\nconsole.log(at)\n"
  await writeFile(join(folder, 'typed.mts'), body)
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2023', types: [] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.mts'] }))
  const compiler = join(home, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, '--project', folder]).catch((error: { stdout: string }) =>
    t.fail(error.stdout),
  )
})

t.test('a page of plain modules seals a chat in a real browser', { skip: withoutChromium }, async (t) => {
  const { installed, folder: user } = await packed(t)
  const folder = join(user, 'site')
  await mkdir(folder)
  await writeFile(join(folder, 'index.html'), page(chat('./client/index.js', 'globalThis.told')))
  await cp(join(installed, 'client'), join(folder, 'client'), { recursive: true })
  const { title, sent } = await shown(t, folder)
  t.match(title, expected)
  t.notMatch(sent, /Who reads this/, 'no plaintext leaves the page')
})

t.test('a page of Vite seals a chat in a real browser', { skip: withoutChromium || unwanted }, async (t) => {
  const { folder } = await packed(t)
  const vite = join(await npmWith('vite@8.3.8'), 'node_modules/vite/bin/vite.js')
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'src/main.js'), chat('sealgate-client', 'globalThis.told'))
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><meta charset="utf-8"><script type="module" src="/src/main.js"></script>',
  )
  await run(process.execPath, [vite, 'build', '--target', 'es2022', '--base', './'], { cwd: folder })
  const { title, sent } = await shown(t, join(folder, 'dist'))
  t.match(title, expected)
  t.notMatch(sent, /Who reads this/, 'no plaintext leaves the page')
})
