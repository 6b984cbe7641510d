import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { things } from '../plugins/surfaces/batches/rows.ts'
import { unhurried } from './environments.ts'
import { batchHouse, manyLines } from './fakes/batch-house.ts'

/** The largest growth of what lives in memory, while the work goes on. */
const watched = async (work: () => Promise<unknown>) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const base = held()
  let most = base
  const looking = setInterval(() => (most = Math.max(most, held())), 2_000)
  await work()
  clearInterval(looking)
  return most - base
}

/** Half of the bytes of a million lines: what is on the way may be held, which is more on a busy machine, and no file. */
const held = 48 * 1024 * 1024

t.test('a million lines pass in pieces, on their way to the vendor and back', { timeout: 300_000 }, async (t) => {
  const house = await batchHouse(t, {
    limits: { ...unhurried.limits, key: { ...unhurried.limits!.key, bytesPerMinute: null } },
  })
  const lines = 1_000_000
  let came = 0
  house.vendor.instead = (request, response) => {
    if (request.method !== 'POST') return false
    request.on('data', (part: Buffer) => (came += part.length))
    request.on('end', () => response.writeHead(200).end('{"id":"file-many"}'))
    return true
  }
  const headers = { authorization: `Bearer ${house.key}`, 'content-type': 'multipart/form-data; boundary=b' }
  const up = await watched(async () => {
    const sending = httpRequest(`${house.base}/v1/files`, { method: 'POST', headers })
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>
    await pipeline(Readable.from(manyLines(lines)), sending)
    const [answer] = await answered
    t.equal(answer.statusCode, 200, await text(answer))
  })
  t.ok(came > 90 * lines, `${came} bytes at the vendor`)
  // The client and the vendor run in this process too, and what is on the way between them counts.
  t.ok(up < held, `${Math.round(up / 1024)} KiB on the way in`)
  const result =
    '{"custom_id":"1","response":{"status_code":200,"body":{"usage":{"prompt_tokens":10,"completion_tokens":0}}}}\n'
  const piece = Buffer.from(result.repeat(500))
  house.vendor.instead = (_, response) => {
    void pipeline(Readable.from(Array.from({ length: lines / 500 }, () => piece)), response.writeHead(200)).catch(() => undefined) // prettier-ignore
    return true
  }
  await house.rows().create(things, 'file-results', { ...(await house.rows().get(things, 'file-many'))!, booked: 0 })
  let read = 0
  const down = await watched(async () => {
    const answer = await fetch(`${house.base}/v1/files/file-results/content`, { headers })
    for await (const part of answer.body!) read += part.length
  })
  t.equal(read, piece.length * (lines / 500))
  t.ok(down < held, `${Math.round(down / 1024)} KiB on the way back`)
  t.match(await house.usage('vectors', lines), { requests: lines, input: 10 * lines, cost: (5 * lines) / 1_000 })
})
