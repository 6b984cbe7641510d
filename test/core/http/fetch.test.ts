import t from 'tap'
import { fetchOf } from '../../../core/http/fetch.ts'
import { turnsDuring } from '../../turns-during.ts'

const part = new Uint8Array(64 * 1024).fill(97)
const parts = 64

const longBody = (): ReadableStream<Uint8Array> => {
  let left = parts
  return new ReadableStream({
    pull: (controller) => (left-- > 0 ? controller.enqueue(part) : controller.close()),
  })
}

t.test('each long part of a body within the process takes a turn of the loop', async (t) => {
  const fetch = fetchOf(async (request, response) => {
    let length = 0
    for await (const { length: more } of request) length += more
    response.end(String(length))
  })
  const ask = (body: BodyInit) =>
    fetch(new Request('http://gateway/', { method: 'POST', body, duplex: 'half' } as RequestInit))
  let told = ''
  const turns = await turnsDuring(async () => {
    told = await (await ask(longBody())).text()
  })
  t.equal(told, String(parts * part.length))
  t.ok(turns >= parts, `${turns} turns`)
  const few = await turnsDuring(async () => (await ask('a'.repeat(1_000))).text())
  t.ok(few < parts / 2, `${few} turns of a short body`)
})
