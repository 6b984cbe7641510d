import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect as dial, createServer, type Socket } from 'node:net'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { ownersIn, sameUser } from '../adapters/local/socket-owner.ts'
import { running } from './environments.ts'
import { consoled } from './fakes/consoled.ts'
import { othersMayRun } from './fakes/other-user.ts'
import { ownerless, sealing } from './fakes/proxied.ts'

const listed = 'http://localhost:3000'
const token = 'a-token-of-this-test'
const body = JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] })

const send = (url: string, headers: Readonly<Record<string, string>>, method = 'POST') =>
  new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>((resolve, reject) => {
    const asked = request(`${url}/chat/completions`, { method, headers }, (answer) => {
      let text = ''
      answer.on('data', (part) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }))
    })
    asked.on('error', reject).end(method === 'POST' ? body : undefined)
  })

const key = (text: string) => ({ authorization: `Bearer ${text}` })

t.test('pages of a listed origin are served, and of no other', async (t) => {
  const gateway = await running(t, memory())
  const args = [
    '--base-url',
    gateway.base,
    '--key',
    gateway.key,
    '--allow-insecure-dev',
    '--origin',
    `https://a.example,${listed}`,
  ]
  const { url } = await sealing(t, args)
  const served = await send(url, { origin: listed, 'sec-fetch-site': 'cross-site' })
  t.match(served, { status: 200, headers: { 'access-control-allow-origin': listed, vary: 'origin' } })
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,x-a' }
  t.match(await send(url, { origin: listed, ...asked }, 'OPTIONS'), {
    status: 204,
    headers: { 'access-control-allow-origin': listed, 'access-control-allow-headers': 'authorization,x-a' },
  })
  for (const origin of [
    'http://localhost:3001',
    'https://localhost:3000',
    'http://127.0.0.1:3000',
    `${listed}.example`,
  ]) {
    for (const method of ['POST', 'OPTIONS']) {
      const refused = await send(url, { origin, ...asked }, method)
      t.equal(refused.status, 403, `${method} of ${origin}`)
      t.notOk(refused.headers['access-control-allow-origin'], 'whose page reads nothing')
    }
  }
  t.equal((await send(url, { 'sec-fetch-site': 'cross-site' })).status, 403, 'nor a page that hides its origin')
})

t.test('a token that is set is required', async (t) => {
  const gateway = await running(t, memory())
  const args = ['--base-url', gateway.base, '--key', gateway.key, '--allow-insecure-dev']
  const proxies = [
    await sealing(t, [...args, '--token', token]),
    await sealing(t, args, { SEALGATE_SEAL_TOKEN: token }),
  ]
  for (const { url, said } of proxies) {
    t.notMatch(said(), token)
    t.equal((await send(url, key(token))).status, 200)
    for (const headers of [{}, key('not-needed'), key(`${token}x`), { authorization: token }])
      t.match(await send(url, headers), { status: 401, text: /authentication_error/ })
  }
})

t.test('a target that is no address ends no proxy', async (t) => {
  const gateway = await running(t, memory())
  const key = ['--key', gateway.key, '--allow-insecure-dev']
  const seal = await sealing(t, ['--base-url', gateway.base, ...key])
  const own = await consoled(t, ['--gateway', gateway.base, ...key], {})
  const statusOf = (base: string, headers: Readonly<Record<string, string>>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(base)
      request({ hostname, port, path: '//', headers }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode))
      })
        .once('error', reject)
        .end()
    })
  for (const [base, headers] of [
    [seal.url, {}],
    [own.base, { authorization: `Bearer ${own.token}` }],
  ] as const) {
    t.equal(await statusOf(base, headers), 404)
    t.equal(await statusOf(base, headers), 404, 'and it goes on')
  }
})

t.test('where nobody tells who owns a connection, a key is made', async (t) => {
  const gateway = await running(t, memory())
  const args = ['--base-url', gateway.base, '--key', gateway.key, '--allow-insecure-dev']
  const { url, said } = await sealing(t, args, {}, ownerless)
  const made = /^sealgate seal takes this key alone: ([\w-]{43})\n/.exec(said())![1]!
  t.equal((await send(url, key(made))).status, 200)
  t.equal((await send(url, {})).status, 401)
  t.equal(await sameUser(65_534), null, 'nor where the kernel names no user')
})

const able = process.platform === 'linux' && othersMayRun()
const skip = able ? false : 'no other user can start this Node here'

t.test('another user of the machine is refused', { skip }, async (t) => {
  const gateway = await running(t, memory())
  const { url } = await sealing(t, ['--base-url', gateway.base, '--key', gateway.key, '--allow-insecure-dev'])
  const { port } = new URL(url)
  const as = async (uid: number, script: string) => {
    const child = spawn(process.execPath, ['-e', script], { uid, gid: uid, cwd: '/', env: {} })
    let output = ''
    for (const from of [child.stdout, child.stderr]) from.on('data', (part) => (output += part))
    await once(child, 'close')
    return output.trim()
  }
  const asks = `fetch('${url}/chat/completions', { method: 'POST', body: ${JSON.stringify(body)} })
    .then(async (it) => console.log(it.status, (await it.json()).error?.message))`
  t.match(await as(0, asks), /^200/, 'the same program of this user is served')
  t.match(await as(65_533, asks), '403 Only programs of the same user are served')
  const leaves = `const line = require('net').connect(${port}, '127.0.0.1', () => {
    line.write('POST /v1/chat/completions HTTP/1.1\\r\\nhost: localhost\\r\\ncontent-length: ${body.length}\\r\\n\\r\\n')
    line.write(${JSON.stringify(body)}, () => process.exit())
  })`
  t.equal(await as(65_533, leaves), '')
  t.match(await as(0, asks), /^200/)
  const chats = gateway.logged.filter(({ facts }) => facts['route'] === 'POST /rvenc/chat/completions')
  t.equal(chats.length, 2, 'those of this user alone')
})

t.test('the owner of a connection is found, by either family of addresses', { skip }, async (t) => {
  const [own, other] = [await sameUser(), await sameUser(1)]
  for (const [host, to] of [
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '::ffff:127.0.0.1'],
    ['127.0.0.7', '127.0.0.7'],
    ['::1', '::1'],
  ] as const) {
    const server = createServer().listen(0, host)
    const opened = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ])
    if (!opened) {
      t.comment(`there is no ${host} here`)
      continue
    }
    const line = dial((server.address() as { port: number }).port, to)
    const [socket] = (await once(server, 'connection')) as [Socket]
    t.same([await own!(socket), await other!(socket)], [true, false], `${to} to ${host}`)
    line.destroy()
    socket.destroy()
    server.close()
  }
})

t.test('what a process has closed has no owner', async (t) => {
  const ends = '0100007F:8A4C 0100007F:977B'
  const row = (uid: number, inode: number) =>
    `  20: ${ends} 05 00000001:00000000 01:00000012 00000000 ${uid}        0 ${inode} 2 000000003f0f953b 20 0 0 11 -1`
  const table = (uid: number, inode: number) => `  sl  local_address rem_address\n${row(uid, inode)}\n`
  t.same(ownersIn(table(7, 233), new Set([ends])), [7])
  t.same(ownersIn(table(0, 0), new Set([ends])), [], 'which older kernels tell as root’s')
  t.same(ownersIn(table(7, 233), new Set(['0100007F:8A4C 0100007F:977C'])), [])
})
