import { createServer, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { makeEgress } from '../../../../adapters/production/network/egress.ts'
import {
  openOutside,
  type OutsideSettings,
  type Resolve,
} from '../../../../adapters/production/network/fetch-outside.ts'
import { BadRequest, UpstreamFailed } from '../../../../core/errors.ts'
import type { Ask, Door, Fetch } from '../../../../core/ports/platform.ts'
import { conform } from '../../../contracts/contract.ts'
import { fetch } from '../../../contracts/fetch.ts'
import { inwardUrls } from '../../../fakes/inward-urls.ts'
import { closing, listening } from '../../../fakes/listening.ts'
import { quietClock } from '../../../slowness.ts'
import { failed } from '../../../helpers.ts'

const get = (more: Partial<Ask> = {}): Ask => ({ method: 'GET', signal: new AbortController().signal, ...more })

const serving = (t: Test, listener: RequestListener) => listening(t, createServer(listener), '127.0.0.1')

const answering: RequestListener = (_, response) => response.end('secret')

/** What nobody may reach: it listens on every address of this machine. */
const secret = (t: Test) => listening(t, createServer(answering), '0.0.0.0')

const outside = (settings: Partial<OutsideSettings>, resolve?: Resolve): Door =>
  openOutside({ ports: [80, 443], bytes: 1024 * 1024, time: 5000, allow: [], ...settings }, resolve)

/** Every name is the machine itself, as far as the resolver is concerned. */
const itself: Resolve = async () => ['127.0.0.1']
const open = 'open.example.org'

t.test('no spelling leads inside', async (t) => {
  const { port, sockets } = await secret(t)
  const door = outside({ ports: [80, 443, port], allow: [open] }, itself)
  t.ok(inwardUrls.length >= 150)
  t.equal(new Set(inwardUrls).size, inwardUrls.length)
  for (const spelling of inwardUrls) {
    // `open` itself may be reached at the port, so what is refused about it is the rest.
    const url = spelling.replaceAll('PORT', `${port}`)
    const refused = await failed(door(url, get()))
    t.ok(refused instanceof BadRequest, JSON.stringify(spelling))
    t.match(refused.message, /^The address is not allowed$/)
  }
  t.equal(sockets.length, 0)

  await text((await door(`http://${open}:${port}/`, get())).body)
  t.equal(sockets.length, 1, 'a connection would have been seen')
})

t.test('only the open parts of the address space are open', async (t) => {
  const { check } = makeEgress([], [])
  const opened =
    '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 ' +
    '169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 ' +
    '2606:4700:4700::1111 2a00:1450:4001:80b::200e 2001:200::1 2001:4860:4860::8888 2003::1 2620:fe::fe'
  for (const address of opened.split(' ')) t.doesNotThrow(() => check('a.example', [address]), address)
  const odd = ['', 'localhost', '8.8.8', '8.8.8.8%lo', '2606:4700:4700::1111%lo', '[2606:4700:4700::1111]', ' 8.8.8.8']
  for (const address of odd) t.throws(() => check('a.example', [address]), BadRequest, address)
  t.throws(() => check('a.example', []), BadRequest)
})

t.test('an operator opens hosts, addresses and ranges', async (t) => {
  const egress = makeEgress(['10.1.0.0/16', 'fd00:1::/32', '192.168.1.5', 'Wiki.internal'], [80])
  t.doesNotThrow(() => egress.check('a.example', ['10.1.255.1', 'fd00:1::9', '192.168.1.5']))
  for (const address of ['10.2.0.1', 'fd00:2::9', '192.168.1.6', '127.0.0.1']) {
    t.throws(() => egress.check('a.example', [address]), BadRequest, address)
  }
  t.doesNotThrow(() => egress.target('http://WIKI.internal./'))
  t.doesNotThrow(() => egress.check('wiki.internal', ['10.9.9.9']))
  t.throws(() => egress.target('http://a.wiki.internal/'), BadRequest)
  t.throws(() => egress.target('http://localhost/'), BadRequest, 'a range opens no name')
})

t.test('every address of a name counts', async (t) => {
  const { port, sockets } = await secret(t)
  const mixes = [
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['2606:4700:4700::1111', '::ffff:127.0.0.1'],
    ['8.8.8.8', '8.8.4.4', '::1'],
    ['8.8.8.8', '169.254.169.254'],
    ['8.8.8.8', 'fe80::1%lo'],
    [],
  ]
  for (const addresses of mixes) {
    const refused = await failed(outside({ ports: [port] }, async () => addresses)(`http://a.example:${port}/`, get()))
    t.ok(refused instanceof BadRequest, addresses.join(' '))
  }
  t.equal(sockets.length, 0)
})

t.test('a name is resolved once, and the connection goes where the check went', async (t) => {
  const inner = await secret(t)
  let asked = 0
  const turning: Resolve = async () => [++asked === 1 ? '127.0.0.2' : '127.0.0.1']
  // Only 127.0.0.2 is allowed, and only there does `public` listen.
  const shown = createServer(({ url, headers }, response) =>
    url === '/again' ? response.writeHead(302, { location: '/' }).end() : response.end(headers.host),
  )
  const { port, sockets } = await listening(t, shown, '127.0.0.2')
  const door = outside({ ports: [port, inner.port], allow: ['127.0.0.2'] }, turning)
  t.equal(await text((await door(`http://turning.example:${port}/`, get())).body), `turning.example:${port}`)
  t.equal(asked, 1)

  asked = 0
  const refused = await failed(door(`http://turning.example:${port}/again`, get()))
  t.ok(refused instanceof BadRequest, 'the next hop is checked anew')
  t.equal(asked, 2)
  t.equal(sockets.length, 2)

  asked = 1
  t.ok((await failed(door(`http://turning.example:${inner.port}/`, get()))) instanceof BadRequest)
  t.equal(inner.sockets.length, 0)
})

t.test('no redirect leads inside', async (t) => {
  const inner = await secret(t)
  // `/3/<where>` goes three hops before it goes there.
  const { port } = await serving(t, ({ url = '', headers }, response) => {
    const [, hops, where = ''] = /^\/(\d+)\/(.*)$/.exec(url) ?? []
    const location = hops === '1' ? decodeURIComponent(where) : `http://${headers.host}/${Number(hops) - 1}/${where}`
    response.writeHead([301, 302, 303, 307, 308][Number(hops) % 5]!, { location }).end()
  })
  const door = outside({ ports: [port, inner.port], allow: [open] }, itself)
  const targets = [
    `http://127.0.0.1:${inner.port}/`,
    `//127.0.0.1:${inner.port}/`,
    `\\\\127.0.0.1:${inner.port}\\`,
    `http://[::ffff:7f00:1]:${inner.port}/`,
    `http://2130706433:${inner.port}/`,
    `http://localhost:${inner.port}/`,
    `http://private.example.org:${inner.port}/`,
    `http://user:word@${open}:${inner.port}/`,
    `http://${open}:22/`,
    'http://169.254.169.254/latest/meta-data/',
    'file:///etc/passwd',
    'data:text/plain,secret',
    'javascript:1',
    'http://[',
  ]
  for (const target of targets) {
    for (const hops of [1, 2, 4]) {
      const url = `http://${open}:${port}/${hops}/${encodeURIComponent(target)}`
      t.ok((await failed(door(url, get()))) instanceof BadRequest, `${hops} ${target}`)
    }
  }
  t.equal(inner.sockets.length, 0)
})

t.test('a redirect in plain UTF-8 leads where it leads in a browser, under the policy', async (t) => {
  const inner = await secret(t)
  const raw = (location: string) => Buffer.from(location, 'utf8').toString('latin1')
  const { port } = await serving(t, ({ url = '' }, response) => {
    if (url === '/plain') response.writeHead(302, { location: raw('/münchen?q=é') })
    if (url === '/old') response.writeHead(302, { location: '/m\xfcnchen' })
    if (url === '/inside') response.writeHead(302, { location: raw(`http://１２７。0。0。1:${inner.port}/`) })
    response.end(url)
  })
  const door = outside({ ports: [port, inner.port], allow: [open] }, itself)
  const at = (path: string) => `http://${open}:${port}${path}`
  const plain = await door(at('/plain'), get())
  t.equal(plain.url, at('/m%C3%BCnchen?q=%C3%A9'))
  t.equal(await text(plain.body), '/m%C3%BCnchen?q=%C3%A9', 'the fetched address is the one of the answer')
  t.equal(await text((await door(at('/old'), get())).body), '/m%C3%BCnchen', 'Latin-1 stays as it was')
  t.ok((await failed(door(at('/inside'), get()))) instanceof BadRequest)
  t.equal(inner.sockets.length, 0)
})

t.test('follows five redirects and no more', async (t) => {
  const { port } = await serving(t, ({ url = '' }, response) => {
    const left = Number(url.slice(1))
    if (left > 0) response.writeHead(302, { location: `/${left - 1}` })
    response.end('here')
  })
  const door = outside({ ports: [port], allow: ['127.0.0.1'] })
  t.equal(await text((await door(`http://127.0.0.1:${port}/5`, get())).body), 'here')
  t.ok((await failed(door(`http://127.0.0.1:${port}/6`, get()))) instanceof BadRequest)
})

t.test('headers that identify the caller stay with their origin', async (t) => {
  const tell: RequestListener = async (request, response) => {
    const { url = '', method, headers } = request
    const [, status, where] = /^\/(\d+)\/(.*)$/.exec(url) ?? []
    if (where !== undefined) return response.writeHead(Number(status), { location: decodeURIComponent(where) }).end()
    response.end(JSON.stringify({ method, headers, body: await text(request) }))
  }
  const [first, second] = [await serving(t, tell), await serving(t, tell)]
  const door = outside({ ports: [first.port, second.port], allow: ['127.0.0.1'] })
  const headers = {
    Authorization: 'Bearer a',
    Cookie: 'b',
    'X-Api-Key': 'c',
    Accept: 'text/html',
    'User-Agent': 'me',
    Host: 'd',
  }
  const ask = get({ method: 'POST', headers: { ...headers, 'content-type': 'text/plain' }, body: 'word' })
  const told = async (status: number, port: number) => {
    const url = `http://127.0.0.1:${first.port}/${status}/${encodeURIComponent(`http://127.0.0.1:${port}/`)}`
    return JSON.parse(await text((await door(url, ask)).body))
  }

  const same = await told(307, first.port)
  t.match(same, { method: 'POST', body: 'word', headers: { authorization: 'Bearer a', cookie: 'b', 'x-api-key': 'c' } })
  t.match(same.headers, { 'user-agent': 'sealgate', host: `127.0.0.1:${first.port}` })

  const other = await told(307, second.port)
  t.match(other, { method: 'POST', body: 'word', headers: { accept: 'text/html', 'user-agent': 'sealgate' } })
  for (const name of ['authorization', 'cookie', 'x-api-key']) t.equal(other.headers[name], undefined, name)

  for (const status of [301, 302, 303]) {
    const turned = await told(status, second.port)
    t.match(turned, { method: 'GET', body: '' })
    t.equal(turned.headers['content-type'], undefined)
  }
})

t.test('is cut at its size, also when it comes compressed', async (t) => {
  const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024))
  const { port, sockets } = await serving(t, ({ url }, response) => {
    if (url === '/bomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    else if (url === '/small') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('here'))
    else response.end(Buffer.alloc(Number(url?.slice(1))))
  })
  const door = outside({ ports: [port], allow: ['127.0.0.1'], bytes: 100_000 })
  const url = `http://127.0.0.1:${port}`
  for (const path of ['/bomb', '/100001', '/9000000']) {
    let read = 0
    const reading = async () => {
      for await (const part of (await door(url + path, get())).body) read += part.length
    }
    const large = await failed(reading())
    t.ok(large instanceof UpstreamFailed && !large.again, path)
    t.ok(read <= 100_000)
  }
  await closing(sockets)
  t.equal((await text((await door(`${url}/100000`, get())).body)).length, 100_000)
  t.equal(await text((await door(`${url}/small`, get())).body), 'here')
})

t.test('is refused in chunks that are mostly tiny, and read in many short ones', async (t) => {
  const chunked = (bytes: number, chunk: string): string =>
    `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(Math.ceil(bytes / chunk.length)) + '0\r\n\r\n'
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n'
  const bodies = {
    '/tiny': chunked(500_000, 'a'),
    '/few': chunked(8_000, 'a'),
    '/short': chunked(500_000, 'a'.repeat(64)),
  }
  const { port } = await serving(t, ({ url, socket }) => void socket.end(head + bodies[url as keyof typeof bodies]))
  const door = outside({ ports: [port], allow: [open] }, itself)
  const read = async (path: string): Promise<readonly [number, number]> => {
    const parts: Uint8Array[] = []
    for await (const part of (await door(`http://${open}:${port}${path}`, get())).body) parts.push(part)
    return [Buffer.concat(parts).length, parts.length]
  }
  await t.rejects(read('/tiny'), new UpstreamFailed('The answer comes in tiny chunks', { answered: 200 }))
  t.equal((await read('/few'))[0], 8_000)
  const [bytes, parts] = await read('/short')
  t.equal(bytes, 500_032)
  t.ok(parts < 200, `${parts} parts`)
})

t.test('a call ends at its time limit in every phase', async (t) => {
  const { port, sockets } = await serving(t, ({ url }, response) => {
    if (url === '/silent') return
    if (url === '/round') return void setTimeout(() => response.writeHead(302, { location: '/round' }).end(), 60)
    const timer = setInterval(() => response.write('a'), 20)
    response.on('close', () => clearInterval(timer))
  })
  const door = outside({ ports: [port], allow: ['127.0.0.1'], time: 200 })
  for (const path of ['/silent', '/dribble', '/round']) {
    const clock = quietClock()
    const late = await failed(door(`http://127.0.0.1:${port}${path}`, get()).then(({ body }) => text(body)))
    t.ok(late instanceof UpstreamFailed && late.again, path)
    t.ok(clock() < 2000)
  }
  // Nobody reads this one, nobody discards it.
  await door(`http://127.0.0.1:${port}/dribble`, get())
  await closing(sockets)

  const slow = outside({ time: 100 }, () => new Promise(() => {}))
  t.ok((await failed(slow('http://a.example/', get()))) instanceof UpstreamFailed, 'a resolver that never answers')
  const stop = new AbortController()
  const reason = new Error('left')
  const call = failed(outside({}, () => new Promise(() => {}))('http://a.example/', get({ signal: stop.signal })))
  stop.abort(reason)
  t.equal(await call, reason)
})

t.test('an unknown host name is a fault of the network', async (t) => {
  const unknown = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
  const fault = await failed(outside({}, () => Promise.reject(unknown))('http://a.example/', get()))
  t.ok(fault instanceof UpstreamFailed)
  t.equal(fault.cause, unknown)
})

t.test('an unknown host name after the caller has left has no effect', async (t) => {
  const caller = new AbortController()
  const reason = new Error('left')
  const unhandled: unknown[] = []
  const note = (fault: unknown) => void unhandled.push(fault)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const leaving: Resolve = async () => {
    caller.abort(reason)
    throw new Error('ENOTFOUND')
  }
  t.equal(await failed(outside({}, leaving)('http://nowhere.example.org/', get({ signal: caller.signal }))), reason)
  await new Promise(setImmediate)
  t.same(unhandled, [])
})

t.test('TLS names the host although the connection goes to its address', async (t) => {
  const named: string[] = []
  const tls = createTlsServer({
    SNICallback: (name, done) => {
      named.push(name)
      done(new Error('no certificate'))
    },
  }).on('tlsClientError', () => {})
  const { port } = await listening(t, tls, '127.0.0.1')
  const door = outside({ ports: [port], allow: [open] }, itself)
  t.ok((await failed(door(`https://${open}:${port}/`, get()))) instanceof UpstreamFailed)
  t.same(named, [open])
})

t.test('the contract of a door', (t) =>
  conform(
    t,
    fetch.contract,
    (): Fetch => {
      const door: Door = (url, ask) =>
        outside({ ports: [Number(new URL(url).port)], bytes: 2 ** 30, allow: ['127.0.0.1'] })(url, ask)
      return { upstream: door, outside: door }
    },
    { 'follows no redirect': 'it follows them under its policy' },
  ),
)

t.test('a caller who leaves before a body is sent ends that call alone', async (t) => {
  const door = openOutside({ ports: [9], bytes: 1024, time: 5000, allow: ['127.0.0.1'] })
  const caller = new AbortController()
  const asked = door('http://127.0.0.1:9/', { method: 'POST', body: 'words', signal: caller.signal })
  caller.abort(new Error('left'))
  await t.rejects(asked, { message: 'left' })
  // An error that nobody catches ends the process, and so this test.
  await new Promise(setImmediate)
})
