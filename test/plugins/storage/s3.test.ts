import { once } from 'node:events'
import { createServer, request as ask, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { clock, fetch, log, random } from '../../../adapters/production/platform.ts'
import { system } from '../../../adapters/memory/platform.ts'
import type { Fitting } from '../../../core/container.ts'
import { Unavailable } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { Clock, Fetch } from '../../../core/ports/platform.ts'
import s3 from '../../../plugins/storage/s3.ts'
import { blobStore } from '../../contracts/blob-store.ts'
import { conform } from '../../contracts/contract.ts'
import { opensHttp } from '../../fakes/listening.ts'
import { startS3 } from '../../fakes/s3.ts'
import { fitted, given } from '../../fitted.ts'
import { quietClock } from '../../slowness.ts'
import { failed } from '../../helpers.ts'

const MiB = 1024 * 1024
const server = await startS3()
const ours = server && process.env.S3_URL ? await startS3({ steer: true }) : server
t.teardown(() => Promise.all([server?.close(), ours !== server && ours?.close()]))
const skip = server ? {} : { skip: 'no S3 server here' }

const at = (t: Test, settings: object, ...more: readonly Fitting<any>[]) => {
  const container = fitted(
    use(fetch),
    use(clock),
    use(random),
    use(log, { level: 'silent' }),
    use(s3, settings as never),
    ...more,
  )
  t.teardown(() => container.dispose())
  return container.supply({ store: BlobStore }).store
}

/** A new bucket on the server, and how to reach it. */
const place = async (on = server!) => {
  const { endpoint, region, accessKeyId, secretAccessKey } = on
  return { bucket: await on.bucket(), endpoint, region, accessKeyId, secretAccessKey }
}

const bytes = (size: number, seed = 0) => Buffer.alloc(size, Buffer.from(`${seed} and so on, `.repeat(97)))

const flow = async function* (all: Uint8Array, step = 64 * 1024) {
  for (let i = 0; i < all.length; i += step) {
    await new Promise(setImmediate)
    yield all.subarray(i, i + step)
  }
}

const read = async (store: BlobStore, path: string, range?: { start: number; end?: number }) => {
  const found = await store.get(path, range)
  const chunks: Uint8Array[] = []
  if (found) for await (const chunk of found.bytes) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const listed = async (store: BlobStore, prefix = '') => {
  const paths: string[] = []
  for await (const path of store.list(prefix)) paths.push(path)
  return paths
}

/** What S3 knows of uploads that are neither complete nor given up. */
const pending = async (bucket: string) => {
  const xml = await (await server!.ask(`${bucket}?uploads`)).text()
  return [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key)
}

const unavailable = async (t: Test, work: Promise<unknown>, why: object = {}) => {
  const fault: unknown = await failed(work)
  t.ok(fault instanceof Unavailable, 'is Unavailable', { fault })
  t.match(fault, { message: 'Service temporarily unavailable', cause: why })
}

interface Said {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer
  /** Hangs up after so many bytes of the body. */
  readonly cut?: number
}

type Hook = (request: IncomingMessage, body: Buffer, pass: (body?: Uint8Array) => Promise<Said>) => Promise<Said | null>

/** Stands between a store and the server, and may change what either says; null hangs up. */
const between = async (t: Test, hook: Hook) => {
  const settings = await place()
  const heard: string[] = []
  let open = 0
  const entry = createServer(async (request, response) => {
    open++
    response.on('close', () => open--)
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    heard.push(`${request.method} ${request.url!.replace(`/${settings.bucket}`, '').replace(/=[^&]*/g, '')}`)
    const pass = async (body: Uint8Array = Buffer.concat(chunks)): Promise<Said> => {
      const { connection, 'transfer-encoding': _, ...headers } = request.headers as Record<string, string>
      const onward = ask(settings.endpoint + request.url, { method: request.method!, headers })
      onward.end(body)
      const [answer] = (await once(onward, 'response')) as [IncomingMessage]
      const parts: Uint8Array[] = []
      for await (const part of answer) parts.push(part)
      const { 'transfer-encoding': __, connection: ___, 'content-length': ____, ...kept } = answer.headers
      return { status: answer.statusCode!, headers: kept as Record<string, string>, body: Buffer.concat(parts) }
    }
    const line = await hook(request, Buffer.concat(chunks), pass)
    if (!line) return request.socket.destroy()
    response.writeHead(line.status, { ...line.headers, 'content-length': line.body.length })
    if (line.cut === undefined) return response.end(line.body)
    response.write(line.body.subarray(0, line.cut), () => setTimeout(() => request.socket.destroy(), 20))
  })
  const endpoint = await opensHttp(t, entry)
  return { settings, store: at(t, { ...settings, endpoint, patience: 3000 }), heard, open: () => open }
}

const refused = (status: number, code: string, top = 'Error'): Said => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: Buffer.from(`<?xml version="1.0"?><${top}><Code>${code}</Code></${top}>`),
})

t.test('contract', skip, (t) => conform(t, blobStore.contract, async (t) => at(t, await place())))

t.test('a large file goes in parts, of which two are held at most', skip, async (t) => {
  const settings = await place()
  const store = at(t, settings)
  await store.put('small', flow(bytes(10)))
  const chunk = bytes(64 * 1024)
  const total = 20 * MiB + 17
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) {
    collect()
    await sleep(20)
  }
  const before = process.memoryUsage().arrayBuffers
  let peak = 0
  const source = async function* () {
    for (let size = 0; size < total; size += chunk.length) {
      await new Promise(setImmediate)
      if (size % MiB === 0) collect()
      if (size % MiB === 0) peak = Math.max(peak, process.memoryUsage().arrayBuffers - before)
      yield chunk.subarray(0, Math.min(chunk.length, total - size))
    }
  }
  t.same(await store.put('large', source()), { size: total })
  t.comment(`20 MiB: at most ${(peak / MiB).toFixed(1)} MiB held`)
  t.ok(peak < 18 * MiB, 'two parts')
  const answer = await server!.ask(`${settings.bucket}/large`, { method: 'HEAD' })
  t.match(answer.headers.get('etag'), /-3"$/, 'in three parts')
  t.same(await pending(settings.bucket), [])

  const found = await store.get('large')
  t.equal(found?.size, total)
  let size = 0
  let same = true
  for await (const piece of found!.bytes) {
    for (let i = 0; i < piece.length; i += 997) same &&= piece[i] === chunk[(size + i) % chunk.length]
    size += piece.length
  }
  t.equal(size, total)
  t.ok(same, 'the bytes are those')
  const across = await read(store, 'large', { start: 8 * MiB - 100_000, end: 8 * MiB + 100_000 })
  t.equal(across.length, 200_001)
  t.equal(across[0], chunk[(8 * MiB - 100_000) % chunk.length])
  t.same(await listed(store), ['large', 'small'])
})

t.test('exactly one part is no upload in parts, and one byte more is', skip, async (t) => {
  const { store, heard } = await between(t, (_, __, pass) => pass())
  t.same(await store.put('a', flow(bytes(8 * MiB))), { size: 8 * MiB })
  t.same(heard.splice(0), ['PUT /a'])
  t.same(await store.put('a', flow(bytes(8 * MiB + 1), 9 * MiB)), { size: 8 * MiB + 1 })
  const parts = ['PUT /a?partNumber&uploadId', 'PUT /a?partNumber&uploadId']
  t.same(
    heard.filter((line) => line !== 'GET /?uploads'),
    ['POST /a?uploads', ...parts, 'POST /a?uploadId'],
  )
})

t.test('an upload in parts that fails leaves the old bytes and nothing else', skip, async (t) => {
  const settings = await place()
  const store = at(t, settings)
  await store.put('old', flow(bytes(10)))
  const fault = new Error('broken')
  const broken = async function* () {
    yield* flow(bytes(17 * MiB), MiB)
    t.same(await pending(settings.bucket), ['old'])
    throw fault
  }
  await t.rejects(store.put('old', broken()), fault)
  const stop = new AbortController()
  const stuck = async function* () {
    yield* flow(bytes(17 * MiB), MiB)
    setTimeout(() => stop.abort(new Error('left')), 10)
    await new Promise(() => {})
  }
  const clock = quietClock()
  await t.rejects(store.put('old', stuck(), stop.signal), { message: 'left' })
  t.ok(clock() < 5000, 'does not wait for the source')
  t.same(await pending(settings.bucket), [])
  t.same(await read(store, 'old'), bytes(10))
  t.same(await listed(store), ['old'])
})

t.test('a refusal by S3 is Unavailable with its code', skip, async (t) => {
  const settings = await place()
  await at(t, settings).put('a', flow(bytes(10)))
  const wrong = at(t, { ...settings, secretAccessKey: 'wrong' })
  const why = { code: 'SignatureDoesNotMatch' }
  await unavailable(t, wrong.get('a'), why)
  await unavailable(t, wrong.put('a', flow(bytes(10, 1))), why)
  await unavailable(t, wrong.put('a', flow(bytes(9 * MiB, 1))), why)
  await unavailable(t, wrong.remove('a'), why)
  await unavailable(t, listed(wrong), why)
  t.same(await read(at(t, settings), 'a'), bytes(10))
  const nowhere = at(t, { ...settings, bucket: 'no-such-bucket' })
  await unavailable(t, nowhere.get('a'), { code: 'NoSuchBucket' })
  await unavailable(t, nowhere.put('a', flow(bytes(10))), { code: 'NoSuchBucket' })
  await unavailable(t, listed(nowhere), { code: 'NoSuchBucket' })
})

t.test('a link works without us, for its time and for its path', skip, async (t) => {
  const store = at(t, await place())
  await store.put('a/b.enc', flow(bytes(100_000)))
  await store.put('a/c.enc', flow(bytes(10)))
  const link = await store.link!('a/b.enc', 60_000)
  t.notMatch(link, server!.secretAccessKey)
  const answer = await globalThis.fetch(link)
  t.equal(answer.status, 200)
  t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes(100_000)), 'the bytes are those')
  for (const other of [
    link.replace('b.enc', 'c.enc'),
    link.replace('Expires=60', 'Expires=9999'),
    link.split('?')[0]!,
  ]) {
    t.ok([400, 403].includes((await globalThis.fetch(other)).status), 'refused')
  }
  t.equal((await globalThis.fetch(link, { method: 'DELETE' })).status, 403)
  const short = await store.link!('a/b.enc', 1000)
  t.equal((await globalThis.fetch(short)).status, 200)
  await sleep(2100)
  t.equal((await globalThis.fetch(short)).status, 403, 'is over')
  await t.rejects(store.link!('../a', 1000), { name: 'BadRequest' })
})

t.test('a bucket may stand in the host', { skip: !server?.domain && 'no domain known' }, async (t) => {
  const { bucket, endpoint, ...keys } = await place()
  const { host, port } = new URL(endpoint)
  const seen = new Set<string>()
  const rerouted = given(Fetch, 'rerouted', () => {
    const real = fetch.create({}, { outside: { ports: [], bytes: 1, time: 1, allow: [] } }, 'fetch')
    return {
      ...real,
      upstream: (url, ask) => {
        const named = new URL(url).host
        seen.add(named)
        return real.upstream(url.replace(named, host), { ...ask, headers: { ...ask.headers, host: named } })
      },
    }
  })
  const domain = `http://${server!.domain}:${port}`
  const store = at(t, { bucket, ...keys, endpoint: domain, addressing: 'host' }, rerouted)
  await store.put('a/b', flow(bytes(9 * MiB), MiB))
  t.ok((await read(store, 'a/b')).equals(bytes(9 * MiB)), 'the bytes are those')
  t.same(await listed(store), ['a/b'])
  t.same([...seen], [`${bucket}.${server!.domain}:${port}`])
})

t.test('tries again where that helps, with the same bytes', skip, async (t) => {
  let left = 0
  let ill: Hook = async () => null
  const { store, heard } = await between(t, (request, body, pass) =>
    left-- > 0 && request.method !== 'DELETE' ? ill(request, body, pass) : pass(),
  )
  const illnesses: Readonly<Record<string, Hook>> = {
    'slow down': async () => refused(503, 'SlowDown'),
    'hangs up': async () => null,
    'bytes that change on the way': (_, body, pass) => pass(Buffer.from(body.map((value) => value ^ 1))),
    'hangs up after it is done': async (_, __, pass) => pass().then(() => null),
  }
  for (const [seed, [name, hook]] of Object.entries(illnesses).entries()) {
    ill = hook
    left = 1
    t.same(await store.put('a', flow(bytes(1000, seed))), { size: 1000 }, name)
    left = 1
    t.ok((await read(store, 'a')).equals(bytes(1000, seed)), 'the bytes are those')
    left = 1
    t.same(await listed(store), ['a'])
  }
  heard.length = 0
  ill = async () => refused(503, 'SlowDown')
  left = Infinity
  await unavailable(t, store.get('a'), { code: 'SlowDown' })
  t.equal(heard.length, 3, 'not for ever')
})

t.test('goes on reading where a connection broke, but never in another file', skip, async (t) => {
  let cuts = 0
  let meanwhile = async () => {}
  const { settings, store, heard } = await between(t, async (request, _, pass) => {
    const line = await pass()
    if (line.body.length < 200_000 || cuts-- <= 0) return line
    await meanwhile()
    return { ...line, cut: 150_000 }
  })
  await store.put('a', flow(bytes(MiB)))
  cuts = 3
  t.ok((await read(store, 'a', { start: 5 })).equals(bytes(MiB).subarray(5)), 'the bytes are those')
  t.equal(heard.filter((line) => line.startsWith('GET /a')).length, 5, 'one ahead, three cut, one to the end')
  cuts = 1
  const beside = at(t, settings)
  meanwhile = async () => void (await beside.put('a', flow(bytes(MiB, 7))))
  await t.rejects(read(store, 'a'), { name: 'Unavailable', message: 'The file was replaced while it was read' })
  const gone = await store.get('a')
  await beside.remove('a')
  const rest = async () => {
    for await (const _ of gone!.bytes);
  }
  await t.rejects(rest(), { name: 'Unavailable', message: 'The file was replaced while it was read' })
})

t.test('an unread stream holds no connection', skip, async (t) => {
  const { store, open } = await between(t, (_, __, pass) => pass())
  await store.put('a', flow(bytes(MiB)))
  for (let i = 0; i < 20; i++) await store.get('a')
  for (let i = 0; i < 5; i++) for await (const _ of (await store.get('a'))!.bytes) break
  await sleep(20)
  t.equal(open(), 0)
})

t.test('the end of an upload in parts may go wrong in ways of its own', skip, async (t) => {
  let last: Hook = (_, __, pass) => pass()
  const { settings, store } = await between(t, (request, body, pass) =>
    request.method === 'POST' && request.url!.includes('uploadId=') ? last(request, body, pass) : pass(),
  )
  const put = (seed: number) => store.put('a', flow(bytes(9 * MiB, seed), MiB))
  let first = true
  last = async (_, __, pass) => {
    if (!first) return refused(404, 'NoSuchUpload')
    first = false
    await pass()
    return null
  }
  t.same(await put(1), { size: 9 * MiB }, 'it was done, though the answer was lost')
  t.ok((await read(store, 'a')).equals(bytes(9 * MiB, 1)), 'the bytes are those')
  await unavailable(t, put(2), { code: 'NoSuchUpload' })
  last = async () => refused(200, 'InternalError')
  await unavailable(t, put(3), { code: 'InternalError' })
  t.ok((await read(store, 'a')).equals(bytes(9 * MiB, 1)), 'the old bytes')
  t.same(await pending(settings.bucket), [])
})

t.test('a tag that tells of other bytes is no success', skip, async (t) => {
  let headers = {}
  const { store } = await between(t, async (_, __, pass) => {
    const line = await pass()
    return { ...line, headers: { ...line.headers, etag: `"${'0'.repeat(32)}"`, ...headers } }
  })
  await unavailable(t, store.put('a', flow(bytes(10))), { code: 'OtherBytes' })
  headers = { 'x-amz-server-side-encryption': 'aws:kms' }
  t.same(await store.put('a', flow(bytes(10))), { size: 10 }, 'of encrypted ones it tells nothing')
})

t.test('uploads that a dead process left are given up after a day', skip, async (t) => {
  let old = ''
  const { settings, store } = await between(t, async (request, _, pass) => {
    const line = await pass()
    if (request.method !== 'GET' || !request.url!.includes('uploads')) return line
    const aged = (upload: string) =>
      upload.includes(`<Key>${old}</Key>`)
        ? upload.replace(/<Initiated>[^<]*/, '<Initiated>2020-01-01T00:00:00.000Z')
        : upload
    return {
      ...line,
      body: Buffer.from(
        line.body
          .toString()
          .split(/(?=<Upload>)/)
          .map(aged)
          .join(''),
      ),
    }
  })
  for (const key of ['dead', 'alive']) await server!.ask(`${settings.bucket}/${key}?uploads`, { method: 'POST' })
  old = 'dead'
  t.same(await pending(settings.bucket), ['alive', 'dead'])
  await store.put('a', flow(bytes(9 * MiB), MiB))
  for (let i = 0; i < 100 && (await pending(settings.bucket)).length > 1; i++) await sleep(20)
  t.same(await pending(settings.bucket), ['alive'])
})

t.test('remains of parts are looked for again after an hour, also behind a look that failed', skip, async (t) => {
  const answer = (status: number, body = ''): Said => ({ status, headers: { etag: '"x"' }, body: Buffer.from(body) })
  const old = '<Upload><Key>dead</Key><UploadId>7</UploadId><Initiated>2020-01-01T00:00:00.000Z</Initiated></Upload>'
  let isDown = true
  let looks = 0
  const removed: string[] = []
  const entry = createServer(async (request, response) => {
    for await (const _ of request);
    const { method, url = '' } = request
    const isLook = method === 'GET' && url.includes('uploads')
    if (isLook) looks++
    if (method === 'DELETE') removed.push(url)
    const { status, headers, body } =
      isLook && isDown
        ? answer(403, '<Error><Code>AccessDenied</Code></Error>')
        : answer(200, isLook ? old : '<UploadId>1</UploadId>')
    response.writeHead(status, headers).end(body)
  })
  const endpoint = await opensHttp(t, entry)
  let later = 0
  const moved = given(Clock, 'later', () => ({ ...system.clock, now: () => Date.now() + later }))
  const store = at(t, { bucket: 'here', endpoint, accessKeyId: 'a', secretAccessKey: 'b' }, moved)
  const put = () => store.put('a', flow(bytes(9 * MiB), MiB))
  const looked = async (times: number) => {
    for (let i = 0; i < 100 && looks < times; i++) await sleep(20)
    await sleep(50)
    return looks
  }
  await put()
  await put()
  t.equal(await looked(1), 1, 'one look for all uploads of an hour')
  t.same(removed, [])
  isDown = false
  later = 3_600_001
  await put()
  t.equal(await looked(2), 2)
  for (let i = 0; i < 100 && removed.length === 0; i++) await sleep(20)
  t.same(removed, ['/here/dead?uploadId=7'])
})

t.test('a listing has only keys of this store', skip, async (t) => {
  const settings = await place()
  const store = at(t, settings)
  for (const key of ['a b', 'ä', 'dir/', 'ok', 'x&y', 'z//z'])
    await server!.ask(`${settings.bucket}/${encodeURI(key)}`, { method: 'PUT' })
  t.same(await listed(store), ['ok'])
  t.same(await listed(store, "o' or 1"), [])
  t.same(await listed(store, 'o\0'), [])
})

t.test('a server that is away, silent or back', { skip: !ours && 'no S3 server here' }, async (t) => {
  const store = at(t, { ...(await place(ours!)), patience: 400 })
  await store.put('a', flow(bytes(100_000)))
  const away = async (limit: number, why: object) => {
    for (const work of [
      () => store.get('a'),
      () => store.put('b', flow(bytes(10))),
      () => store.put('b', flow(bytes(9 * MiB), MiB)),
      () => store.remove('b'),
      () => listed(store),
    ]) {
      const clock = quietClock()
      await unavailable(t, work(), why)
      const ms = clock()
      t.ok(ms < limit, `after ${Math.round(ms)} ms`)
    }
  }
  const half = await store.get('a')
  ours!.pause()
  const rest = async () => {
    for await (const _ of half!.bytes);
  }
  const clock = quietClock()
  await unavailable(t, rest())
  t.ok(clock() < 6000, 'a reader is told too')
  await away(2500, { name: 'UpstreamFailed' })
  ours!.resume()
  t.same((await read(store, 'a')).length, 100_000)
  await ours!.stop()
  await away(2500, { name: 'UpstreamFailed', cause: { code: 'ECONNREFUSED' } })
  await ours!.start()
  t.same((await read(store, 'a')).length, 100_000)
  await store.put('b', flow(bytes(20)))
  t.same(await listed(store), ['a', 'b'])
})

t.test('a wrong setting fails at boot', async (t) => {
  const right = { bucket: 'files', accessKeyId: 'a', secretAccessKey: 'b' }
  use(s3, right)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(s3, { ...right, buckets: 'x' }), /buckets is not a known setting/)
  t.throws(() => use(s3, { ...right, bucket: 'a/b' }), /bucket expected/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(s3, { bucket: 'files', accessKeyId: 'a' }), /secretAccessKey is missing/)
  t.throws(() => use(s3, { ...right, endpoint: 'ftp://x' }), /endpoint expected/)
  const link = await at(t, { ...right, region: 'eu-west-1' }).link!('a/b', 1000)
  t.match(link, 'https://files.s3.eu-west-1.amazonaws.com/a/b?')
  const session = await at(t, { ...right, sessionToken: 'xyz', endpoint: 'https://h/base/' }).link!('a', 1)
  t.match(session, /^https:\/\/h\/base\/files\/a\?.*X-Amz-Security-Token=xyz/)
})
