import './fakes/unwatched.ts'
import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { running } from './environments.ts'

/** Word by word. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"

const filesOf = (page: string) =>
  [...page.matchAll(/(?:href|src)="(console\/[^"]+)" integrity="([^"]+)"/g)].map(([, path, integrity]) => ({
    path: path!,
    integrity: integrity!,
  }))

t.test('the page is served with its policy, and needs no key', async (t) => {
  const it = await running(t, memory())
  const answer = await fetch(`${it.base}/console`)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-security-policy'), policy)
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  t.equal(answer.headers.get('set-cookie'), null)
  const page = await answer.text()
  t.notMatch(page, /<script(?![^>]* src=)|<style|\son\w+=|https?:/, 'nothing inline, and nothing from elsewhere')
})

t.test('every file stands under the hash of all, carries its own, and never changes', async (t) => {
  const it = await running(t, memory())
  const page = await (await fetch(`${it.base}/console`)).text()
  const files = filesOf(page)
  const served = (await readdir('dist/core/console', { recursive: true })).filter((name) => name.endsWith('.js'))
  t.equal(files.length, served.length + 1, 'the scripts and the style')
  let sum = gzipSync(page).length
  for (const { path, integrity } of files) {
    const answer = await fetch(`${it.base}/${path}`)
    const bytes = Buffer.from(await answer.arrayBuffer())
    t.equal(answer.status, 200, path)
    t.equal(integrity, `sha256-${createHash('sha256').update(bytes).digest('base64')}`, path)
    t.match(answer.headers.get('content-type'), path.endsWith('.css') ? 'text/css' : 'text/javascript')
    t.match(answer.headers.get('cache-control'), 'immutable')
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    t.notMatch(bytes.toString(), /sourceMappingURL/)
    sum += gzipSync(bytes).length
  }
  t.ok(sum <= 250_000, `${sum} bytes gzipped`)
  const [hash] = /[0-9a-f]{32}/.exec(files[0]!.path)!
  const wrong = '0'.repeat(32)
  for (const path of [
    `/console/${wrong}/main.js`,
    `/console/${hash}/main.js.map`,
    `/console/${hash}/main.d.ts`,
    `/console/${hash}/..%2Fcontainer.js`,
    `/console/${hash}/pages/..%2Fmain.js`,
    `/console/${hash}/pages`,
  ])
    t.equal((await fetch(it.base + path)).status, 404, path)
})

t.test('few scripts stand before the first view, and a page that is signed in waits for none by name', async (t) => {
  const it = await running(t, memory())
  const page = await (await fetch(`${it.base}/console`)).text()
  const named = (rel: string) =>
    [...page.matchAll(new RegExp(`rel="${rel}" href="console/\\w+/([^"]+)"`, 'g'))].map((it) => it[1]!)
  const [first, later] = [named('modulepreload'), named('later')]
  t.ok(first.length >= 5 && first.length <= 12, `${first.length} scripts beside main.js`)
  t.ok(first.includes('sign-in.js'))
  t.ok(['inside.js', 'pages.js', 'pages/home.js'].every((name) => later.includes(name)))
  const scripts = (await readdir('dist/core/console', { recursive: true })).filter((name) => name.endsWith('.js'))
  t.same([...first, ...later, 'main.js'].sort(), scripts.sort(), 'each is named once')
  const root = /console\/\w+\//.exec(page)![0]
  const loads = new Set(['main.js', ...first])
  for (const name of loads) {
    const code = await (await fetch(`${it.base}/${root}${name}`)).text()
    for (const [, to] of code.matchAll(/^(?:import|\} from|.*\bfrom) ?["']\.\/([^"']+)["']/gm))
      t.ok(loads.has(to!), `${name} waits for ${to}, which is named`)
  }
})

t.test('the console can be switched off, and stands under a prefix', async (t) => {
  const off = await running(t, memory(), { surfaces: ['chat', 'admin'] })
  t.equal((await fetch(`${off.base}/console`)).status, 404)
  t.notMatch(await (await fetch(off.base)).json(), { data: { links: { console: '/console' } } })
  const under = await running(t, memory(), { prefix: '/gateway' })
  const page = await (await fetch(`${under.base}/gateway/console`)).text()
  const [first] = filesOf(page)
  t.equal((await fetch(new URL(first!.path, `${under.base}/gateway/console`))).status, 200)
  t.match(await (await fetch(`${under.base}/gateway`)).json(), { data: { links: { console: '/console' } } })
})

t.test('no script of the console reads markup, or knows another origin', async (t) => {
  const names = (await readdir('core/console', { recursive: true })).filter((name) => name.endsWith('.ts'))
  t.ok(names.length > 30)
  for (const name of names) {
    const text = await readFile(`core/console/${name}`, 'utf8')
    t.notMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setHTML|createContextualFragment|\beval\(|new Function|localStorage|document\.cookie/,
      name,
    )
    t.notMatch(text.replaceAll('http://www.w3.org/2000/svg', ''), /['"`]https?:\/\//, name)
  }
})
