import './fakes/unwatched.ts'
import { createHash } from 'node:crypto'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import ts from 'typescript-api'
import { memory } from '../adapters/memory/index.ts'
import { writeKeys } from '../adapters/local/key-file.ts'
import { built } from '../plugins/surfaces/console/built.ts'
import { newKek } from '../plugins/sealed/client/client.ts'
import { running } from './environments.ts'
import { type Consoled, consoled } from './fakes/consoled.ts'

/** Word by word. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"

const filesOf = (page: string) =>
  [...page.matchAll(/(?:href|src)="(console\/[^"]+)" integrity="([^"]+)"/g)].map(([, path, integrity]) => ({
    path: path!,
    integrity: integrity!,
  }))

t.test('the page is served with its policy, and needs no key', async (t) => {
  const gateway = await running(t, memory())
  const answer = await fetch(`${gateway.base}/console`)
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
  const gateway = await running(t, memory())
  const page = await (await fetch(`${gateway.base}/console`)).text()
  const files = filesOf(page)
  const served = (await readdir('dist/plugins/surfaces/console/browser', { recursive: true })).filter((name) =>
    name.endsWith('.js'),
  )
  const names = files.map(({ path }) => path.split('/').slice(2).join('/'))
  for (const name of [...served, 'style.css', 'sealed/plugins.sealed.client.client.js'])
    t.ok(names.includes(name), `${name} is served`)
  let sum = gzipSync(page).length
  for (const { path, integrity } of files) {
    const answer = await fetch(`${gateway.base}/${path}`)
    const bytes = Buffer.from(await answer.arrayBuffer())
    t.equal(answer.status, 200, path)
    t.equal(integrity, `sha256-${createHash('sha256').update(bytes).digest('base64')}`, path)
    t.match(answer.headers.get('content-type'), path.endsWith('.css') ? 'text/css' : 'text/javascript')
    t.match(answer.headers.get('cache-control'), 'immutable')
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    t.notMatch(bytes.toString(), /sourceMappingURL/)
    sum += gzipSync(bytes).length
  }
  t.ok(sum <= 264_000, `${sum} bytes gzipped`)
  const [hash] = /[0-9a-f]{32}/.exec(files[0]!.path)!
  const wrong = '0'.repeat(32)
  for (const path of [
    `/console/${wrong}/main.js`,
    `/console/${hash}/main.js.map`,
    `/console/${hash}/main.d.ts`,
    `/console/${hash}/..%2Fcontainer.js`,
    `/console/${hash}/pages/..%2Fmain.js`,
    `/console/${hash}/sealed/..%2Fmain.js`,
    `/console/${wrong}/sealed/playground.js`,
    `/console/${hash}/sealed/aead.node.js`,
    `/console/${hash}/pages`,
  ])
    t.equal((await fetch(gateway.base + path)).status, 404, path)
})

t.test('few scripts stand before the first view, and a page that is signed in waits for none by name', async (t) => {
  const gateway = await running(t, memory())
  const page = await (await fetch(`${gateway.base}/console`)).text()
  const named = (rel: string) =>
    [...page.matchAll(new RegExp(`rel="${rel}" href="console/\\w+/([^"]+)"`, 'g'))].map((match) => match[1]!)
  const [first, later] = [named('modulepreload'), named('later')]
  t.ok(first.length >= 5 && first.length <= 12, `${first.length} scripts beside main.js`)
  t.ok(first.includes('sign-in.js'))
  t.ok(['inside.js', 'pages.js', 'pages/home.js'].every((name) => later.includes(name)))
  const scripts = (await readdir('dist/plugins/surfaces/console/browser', { recursive: true })).filter((name) =>
    name.endsWith('.js'),
  )
  const all = [...first, ...later, ...named('sealed'), 'main.js']
  t.equal(new Set(all).size, all.length, 'each is named once')
  t.same(
    scripts.filter((name) => !all.includes(name)),
    [],
    'every script of the console is named',
  )
  const root = /console\/\w+\//.exec(page)![0]
  const loads = new Set(['main.js', ...first])
  for (const name of loads) {
    const code = await (await fetch(`${gateway.base}/${root}${name}`)).text()
    for (const [, to] of code.matchAll(/\b(?:from|import) ?["']\.\/([^"']+)["']/g))
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
  const names = (await readdir('plugins/surfaces/console/browser', { recursive: true })).filter((name) =>
    name.endsWith('.ts'),
  )
  t.ok(names.length > 30)
  for (const name of names) {
    const text = await readFile(`plugins/surfaces/console/browser/${name}`, 'utf8')
    t.notMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setHTML|createContextualFragment|\beval\(|new Function|localStorage|document\.cookie/,
      name,
    )
    t.notMatch(text.replaceAll('http://www.w3.org/2000/svg', ''), /['"`]https?:\/\//, name)
  }
})

/** The tokens of a script, whatever it calls other scripts. */
const tokensOf = (code: string): string => {
  const file = ts.createSourceFile('script.ts', code, ts.ScriptTarget.ESNext, true)
  const tokens: string[] = []
  const walk = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return
    const parts = node.getChildren(file)
    if (parts.length === 0) tokens.push(node.getText(file))
    else parts.forEach(walk)
  }
  walk(file)
  return tokens.join('\n').replace(/^(from|import\n\()\n(['"])[^'"\n]+\2$/gm, '$1\nit')
}

t.test('a served script is the compiled one, and names served scripts alone', async (t) => {
  const { files } = await built()
  const scripts = [...files].filter(([name]) => name.endsWith('.js'))
  const strangers = scripts.flatMap(([name, { bytes }]) =>
    ts
      .preProcessFile(Buffer.from(bytes).toString(), true, true)
      .importedFiles.filter((file) => !files.has(posix.join(posix.dirname(name), file.fileName)))
      .map((file) => `${name} imports ${file.fileName}`),
  )
  t.same(strangers, [])
  t.ok(scripts.length > 150)
  const folder = 'dist/plugins/surfaces/console/browser'
  const own = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.js'))
  for (const [name, path] of [
    ...own.map((name) => [name, `${folder}/${name}`] as const),
    ['sealed/plugins.sealed.client.seal-request.js', 'dist/plugins/sealed/client/seal-request.js'],
    ['sealed/noble.ciphers.aes.js', 'node_modules/@noble/ciphers/aes.js'],
    ['sealed/noble.hashes.sha2.js', 'node_modules/@noble/hashes/sha2.js'],
    ['sealed/noble.curves.ed25519.js', 'node_modules/@noble/curves/ed25519.js'],
    ['sealed/noble.post-quantum.ml-dsa.js', 'node_modules/@noble/post-quantum/ml-dsa.js'],
  ] as readonly (readonly [string, string])[])
    t.equal(tokensOf(Buffer.from(files.get(name)!.bytes).toString()), tokensOf(await readFile(path, 'utf8')), name)
  t.match(
    Buffer.from(files.get('sealed/noble.post-quantum.ml-kem.js')!.bytes).toString(),
    'MIT License',
    'licences stay',
  )
})

/** The texts in backticks of a script, as they are written. */
const textsOf = (code: string): readonly string[] => {
  const texts: string[] = []
  const walk = (node: ts.Node): void => {
    if (ts.isTemplateLiteralToken(node)) texts.push(node.rawText ?? node.text)
    ts.forEachChild(node, walk)
  }
  walk(ts.createSourceFile('script.js', code, ts.ScriptTarget.ESNext))
  return texts
}

t.test('no space and no comment is taken out of a text', async (t) => {
  const { files } = await built()
  const own = (await readdir('dist/plugins/surfaces/console/browser', { recursive: true })).filter((name) =>
    name.endsWith('.js'),
  )
  let long = 0
  for (const name of own) {
    const texts = textsOf(await readFile(`dist/plugins/surfaces/console/browser/${name}`, 'utf8'))
    long += texts.filter((text) => text.includes('\n')).length
    t.same(textsOf(Buffer.from(files.get(name)!.bytes).toString()), texts, name)
  }
  t.ok(long > 0, 'some texts go over several lines')
})

/** Asks the own machine as a program of this user. */
const asks = (own: Consoled, path: string, headers: Readonly<Record<string, string>>, method = 'GET') =>
  new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    request(own.base + path, { method, headers }, (answer) => {
      let text = ''
      answer.on('data', (part) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
      .on('error', reject)
      .end()
  })

const guarded = async (t: Test, own: Consoled, key: Readonly<Record<string, string>>): Promise<void> => {
  const status = async (...given: Parameters<typeof asks>) => (await asks(...given)).status
  t.equal(await status(own, '/console', {}), 200, 'the page has nothing of its reader')
  for (const path of ['/own', '/own/files', '/admin/self', '/rvenc/keys', '/'])
    for (const headers of [{}, { authorization: `Bearer ${own.token}x` }, { authorization: own.token }])
      t.equal(await status(own, path, headers), 401, path)
  for (const path of ['/own', '/console', '/admin/self']) {
    t.equal(await status(own, path, { ...key, host: 'sealgate.example' }), 403, 'a name that was rebound')
    t.equal(await status(own, path, { ...key, origin: 'https://sealgate.example' }), 403, 'a page of another origin')
  }
  t.equal(await status(own, '/console', {}, 'POST'), 401, 'only reading the page needs no token')
  t.equal(await status(own, '/own/files/other', key), 404)
  t.equal(await status(own, '/own', key, 'POST'), 404)
}

t.test('the own machine guards its door, and keeps both keys to itself', async (t) => {
  const gateway = await running(t, memory())
  const folder = t.testdir({})
  const [file, policy] = [join(folder, 'keys.json'), join(folder, 'policy.json')]
  const kek = newKek()
  await writeKeys(file, { kek, wrapped_rag_dek: null }, false)
  await writeFile(policy, '{"profile":"strict"}')
  const own = await consoled(t, ['--gateway', `${gateway.base}/`, '--keys', file, '--policy', policy], {
    SEALGATE_KEY: gateway.key,
  })
  const key = { authorization: `Bearer ${own.token}` }
  t.match(own.token, /^own_[\w-]{43}$/)
  await guarded(t, own, key)
  const told = await asks(own, '/own', key)
  t.match(JSON.parse(told.text), {
    data: { gateway: gateway.base, policy: '{"profile":"strict"}', allowInsecureDev: false },
  })
  t.notMatch(told.text, kek)
  t.notMatch(told.text, gateway.key)
  t.match(
    JSON.parse((await asks(own, '/admin/self', key)).text),
    { data: { operator: true } },
    'by the key of the process',
  )
  t.equal((await asks(own, '//sealgate.example/admin/self', key)).status, 200, 'a path names no host')
  const page = (await asks(own, '/console', {})).text
  t.equal(
    page.replace('<meta name="sealgate-console" content="own">', ''),
    await (await fetch(`${gateway.base}/console`)).text(),
  )
  await new Promise((resolve) => gateway.server.close(resolve).closeAllConnections())
  t.match(await asks(own, '/admin/self', key), { status: 503, text: '{"error":"The gateway cannot be reached"}' })
})

t.test('the own machine hands its key to the gateway that was named, and to no other', async (t) => {
  const asked: (string | undefined)[] = []
  const elsewhere = createServer((request, answer) => {
    asked.push(request.headers.authorization)
    answer.end('{}')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  const to = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/taken`
  const told = { location: to, 'set-cookie': 'a=b', 'x-sealgate-refusal': 'ab' }
  const gateway = createServer((_, answer) => answer.writeHead(302, told).end())
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  t.teardown(() => [elsewhere, gateway].map((server) => server.close().closeAllConnections()))
  const base = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  const own = await consoled(t, ['--gateway', base], { SEALGATE_KEY: `sk_live_${'1'.repeat(44)}` })
  const answer = await fetch(`${own.base}/admin/self`, {
    headers: { authorization: `Bearer ${own.token}` },
    redirect: 'manual',
  })
  t.equal(answer.status, 302)
  t.equal(answer.headers.get('location'), null)
  t.equal(answer.headers.get('set-cookie'), null)
  t.equal(answer.headers.get('x-sealgate-refusal'), 'ab', 'the page reads what the enclave sealed of a 429')
  t.same(asked, [], 'a redirect is not followed')
})
