import '../../fakes/unwatched.ts'
import { request } from 'node:http'
import t from 'tap'
import blobStore from '../../../adapters/memory/blob-store.ts'
import { memory } from '../../../adapters/memory/index.ts'
import { plugin, use } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { running, unhurried } from '../../environments.ts'
import { formOf } from '../../fakes/uploads.ts'

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
  const kept = use(plugin({ port: BlobStore, name: 'breaking', create: () => blobs }))
  const it = await running(t, { ...memory(), blobStore: kept }, unhurried)
  const headers = { authorization: `Bearer ${it.key}` }
  const body = formOf(Buffer.alloc(200_000, 1))
  const sent = await fetch(`${it.base}/files/encrypted/upload`, { method: 'POST', headers, body })
  const { data } = (await sent.json()) as { data: { id: string } }
  const answer = await fetch(`${it.base}/files/encrypted/${data.id}/content`, {
    headers,
    signal: AbortSignal.timeout(3_000),
  })
  t.equal(answer.status, 200)
  await t.rejects(answer.bytes(), { name: 'TypeError', message: 'terminated' })
  t.equal((await it.call('GET', '/health/live')).status, 200, 'and nothing else ends')
})

t.test('a body of exactly the limit is taken, and one byte more is not', async (t) => {
  const most = 1000
  const it = await running(t, memory(), { ...unhurried, bodies: { chat: most } })
  const text = JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] })
  /** Sends as many bytes, with their length in the head or piece by piece. */
  const send = (length: number, chunked: boolean): Promise<number> =>
    new Promise((done, fail) => {
      const headers = {
        authorization: `Bearer ${it.key}`,
        'content-type': 'application/json',
        ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }),
      }
      const asked = request(`${it.base}/std/chat/completions`, { method: 'POST', headers, agent: false }, (answer) => {
        answer.resume()
        done(answer.statusCode!)
      })
      asked.on('error', fail)
      asked.end(text.padEnd(length))
    })
  for (const chunked of [false, true]) {
    t.equal(await send(most, chunked), 200, `${most} bytes, chunked: ${chunked}`)
    t.equal(await send(most + 1, chunked), 400, `${most + 1} bytes, chunked: ${chunked}`)
  }
})
