import '../../fakes/unwatched.ts'
import { IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import * as v from 'valibot'
import blobStore from '../../../adapters/memory/blob-store.ts'
import { memory } from '../../../adapters/memory/index.ts'
import type { Intake } from '../../../core/http/body-intake.ts'
import { inputOf } from '../../../core/http/body.ts'
import { SettingsShape } from '../../../core/settings.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { running, unhurried } from '../../environments.ts'
import { formOf } from '../../fakes/uploads.ts'
import { until } from '../../until.ts'
import { given } from '../../fitted.ts'

/** The intake of a body that was read before. */
const unread: Intake = {
  whole: () => Promise.reject(new Error('The body was read')),
  pieces: () => {
    throw new Error('The body was read')
  },
}

t.test('a download that breaks in the store is cut', async (t) => {
  const inner: BlobStore = blobStore.create({}, {}, 'blobs')
  async function* breaking(bytes: AsyncIterable<Uint8Array>) {
    for await (const part of bytes) {
      yield part
      throw new Error('secret words of the store')
    }
  }
  const blobs: BlobStore = {
    ...inner,
    async get(...given) {
      const found = await inner.get(...given)
      return found && { ...found, bytes: breaking(found.bytes) }
    },
  }
  const kept = given(BlobStore, 'breaking', () => blobs)
  const gateway = await running(t, { ...memory(), blobStore: kept }, unhurried)
  const headers = { authorization: `Bearer ${gateway.key}` }
  const body = formOf(Buffer.alloc(200_000, 1))
  const sent = await fetch(`${gateway.base}/files/encrypted/upload`, { method: 'POST', headers, body })
  const { data } = (await sent.json()) as { data: { id: string } }
  const answer = await fetch(`${gateway.base}/files/encrypted/${data.id}/content`, {
    headers,
    signal: AbortSignal.timeout(3_000),
  })
  t.equal(answer.status, 200)
  await t.rejects(answer.bytes(), { name: 'TypeError', message: 'terminated' })
  t.equal((await gateway.call('GET', '/health/live')).status, 200, 'and nothing else ends')
})

t.test('a body of exactly the limit is taken, and one byte more is not', async (t) => {
  const most = 1000
  const gateway = await running(t, memory(), { ...unhurried, bodies: { chat: most } })
  const text = JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] })
  /** Sends as many bytes, with their length in the head or piece by piece. */
  const send = (length: number, chunked: boolean): Promise<number> =>
    new Promise((done, fail) => {
      const headers = {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }),
      }
      const asked = request(
        `${gateway.base}/std/chat/completions`,
        { method: 'POST', headers, agent: false },
        (answer) => {
          answer.resume()
          done(answer.statusCode!)
        },
      )
      asked.on('error', fail)
      asked.end(text.padEnd(length))
    })
  for (const chunked of [false, true]) {
    t.equal(await send(most, chunked), 200, `${most} bytes, chunked: ${chunked}`)
    t.equal(await send(most + 1, chunked), 400, `${most + 1} bytes, chunked: ${chunked}`)
  }
})

t.test('the check of a long body has turns of the loop before and behind it', async (t) => {
  const order: (number | 'check')[] = []
  const pace = {
    spend(ns: number) {
      order.push(ns)
      return null
    },
  }
  const schema = v.custom<unknown>(() => {
    order.push('check')
    return true
  }, 'any value')
  const ctx = { request: { headers: {} }, req: { headers: {} } } as Parameters<typeof inputOf>[0]
  const settings = v.parse(SettingsShape, {})
  const bytes = Buffer.from(`{"a":"${'a'.repeat(200_000)}"}`)
  for (const read of ['json', 'relayed'] as const) {
    order.length = 0
    await inputOf(ctx, { read, schema, bytes: 1_000_000 }, settings, unread, pace, bytes)
    const at = order.indexOf('check')
    t.same(order.slice(at - 1), [10 * bytes.length, 'check', 10 * bytes.length], read)
  }
})

t.test(
  'a body in tiny chunks is refused after its first 64 KiB, however it is read',
  { timeout: 120_000 },
  async (t) => {
    const gateway = await running(t, memory(), unhurried)
    const text = JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] })
    /** Sends a body of so many bytes in chunks; gives back status and body of the answer. */
    const send = (path: string, type: string, body: string, chunk: number) =>
      new Promise<string>((done) => {
        const { hostname, port } = new URL(gateway.base)
        const socket = connect({ host: hostname, port: Number(port) })
        let answer = ''
        socket.on('data', (part: Buffer) => (answer += part.toString()))
        socket.on('error', () => undefined).once('close', () => done(answer))
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer ${gateway.key}\r\n` +
            `content-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`,
        )
        const parts: string[] = []
        for (let at = 0; at < body.length; at += chunk) {
          const part = body.slice(at, at + chunk)
          parts.push(`${part.length.toString(16)}\r\n${part}\r\n`)
        }
        socket.write(`${parts.join('')}0\r\n\r\n`)
      })
    const chat = (length: number, chunk: number) =>
      send('/std/chat/completions', 'application/json', text.padEnd(length), chunk)
    const refused = /^HTTP\/1\.1 400 .*The body comes in chunks of less than 64 bytes/s
    t.match(await chat(4_000, 1), /^HTTP\/1\.1 200 /, 'a short body may come in any chunks')
    t.match(await chat(100_000, 64), /^HTTP\/1\.1 200 /)
    t.match(await chat(100_000, 32), refused)
    const boundary = 'multipart/form-data; boundary=a'
    const file = `--a\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n${' '.repeat(200_000)}\r\n--a--\r\n`
    t.match(await send('/v1/audio/transcriptions', boundary, file, 16), refused, 'a form')
    t.match(await send('/files/encrypted/upload', boundary, file, 8), refused, 'a body that is read as it comes')
    t.notMatch(await send('/files/encrypted/upload', boundary, file.padEnd(300_000), 1_000), refused)
  },
)

t.test('what comes behind the refusal of tiny chunks is parsed no further', { timeout: 60_000 }, async (t) => {
  const gateway = await running(t, memory(), unhurried)
  let parsed = 0
  const push = IncomingMessage.prototype.push
  t.teardown(() => Object.defineProperty(IncomingMessage.prototype, 'push', { value: push, writable: true }))
  // The parser calls what the gateway puts in the place of `push`.
  Object.defineProperty(IncomingMessage.prototype, 'push', {
    configurable: true,
    get: () => push,
    set(this: IncomingMessage, own: typeof push) {
      const value = (part: unknown) => {
        parsed++
        return own.call(this, part)
      }
      Object.defineProperty(this, 'push', { value })
    },
  })
  const { hostname, port } = new URL(gateway.base)
  for (const [path, key] of [
    ['/std/chat/completions', gateway.key],
    ['/files/encrypted/upload', gateway.key],
    ['/std/chat/completions', 'none'],
  ]) {
    parsed = 0
    const socket = connect({ host: hostname, port: Number(port) })
    let answer = ''
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('data', (part: Buffer) => (answer += part.toString())).on('error', () => undefined)
    const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ntransfer-encoding: chunked\r\n\r\n`
    socket.write(head + '1\r\n \r\n'.repeat(300_000))
    await closed
    t.match(answer, /^HTTP\/1\.1 40[01] /)
    t.ok(parsed > 0 && parsed < 60_000, `${parsed} of 300,000 chunks`)
  }
})

t.test('what is left of a refused body keeps no later request of its connection', async (t) => {
  const gateway = await running(t, memory(), unhurried)
  const { hostname, port } = new URL(gateway.base)
  const socket = connect({ host: hostname, port: Number(port) })
  t.teardown(() => socket.destroy())
  let output = ''
  socket.on('data', (part: Buffer) => (output += part.toString()))
  const body = '['.padEnd(40_000)
  socket.write(
    `POST /files/encrypted/upload HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  t.ok(await until(() => output.startsWith('HTTP/1.1 400 '), 5_000), output)
  socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n')
  t.ok(await until(() => output.includes('HTTP/1.1 200 '), 5_000), output)
})

t.test('what is left of a body that was read in part keeps no later request of its connection', async (t) => {
  const chat = 16 * 1024
  const server = await running(t, memory(), { ...unhurried, bodies: { chat } })
  const { hostname, port } = new URL(server.base)
  const socket = connect({ host: hostname, port: Number(port) })
  t.teardown(() => socket.destroy())
  let answers = ''
  socket.on('data', (part: Buffer) => (answers += part.toString()))
  const chunk = `${(20_000).toString(16)}\r\n${' '.repeat(20_000)}\r\n`
  socket.write(
    `POST /std/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${server.key}\r\n` +
      `content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(2)}0\r\n\r\n`,
  )
  t.ok(await until(() => answers.startsWith('HTTP/1.1 400 '), 5_000), answers)
  socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n')
  t.ok(await until(() => answers.includes('HTTP/1.1 200 '), 5_000), answers)
})

t.test('a content that is shorter than its record is no answer, and one that ends early is cut', async (t) => {
  const inner: BlobStore = blobStore.create({}, {}, 'blobs')
  let told = 30_000
  async function* half() {
    yield Buffer.alloc(30_000)
  }
  const blobs: BlobStore = {
    ...inner,
    get: async (...given) => (await inner.get(...given)) && { size: told, bytes: half() },
  }
  const kept = given(BlobStore, 'short', () => blobs)
  const gateway = await running(t, { ...memory(), blobStore: kept }, unhurried)
  const headers = { authorization: `Bearer ${gateway.key}` }
  const body = formOf(Buffer.alloc(200_000, 1))
  const sent = await fetch(`${gateway.base}/files/encrypted/upload`, { method: 'POST', headers, body })
  const { data } = (await sent.json()) as { data: { id: string; size?: number } }
  const content = () =>
    fetch(`${gateway.base}/files/encrypted/${data.id}/content`, { headers, signal: AbortSignal.timeout(3_000) })
  const refused = await content()
  t.equal(refused.status, 503)
  t.match(await refused.json(), { error: 'The content of the file is not whole' })
  told = 1_000_000
  const cut = await content()
  t.equal(cut.status, 200)
  await t.rejects(cut.bytes(), { name: 'TypeError', message: 'terminated' })
})
