import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { parentPort, workerData } from 'node:worker_threads'

/** What a backend in a thread of its own sends: a part as often as the chat's only message says, and then the end. */
export interface Burst {
  readonly part: string
  readonly end: string
  /** Bytes of the parts that the gateway took, or that its socket holds. */
  readonly sent: Int32Array
}

const { part, end, sent } = workerData as Burst
const bytes = Buffer.from(part)

const server = createServer(async (request, response) => {
  const { messages } = JSON.parse((await buffer(request)).toString()) as { messages: { content: string }[] }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let left = Number(messages[0]!.content); left > 0 && !response.destroyed; left--) {
    sent[0]! += bytes.length
    if (!response.write(bytes)) await once(response, 'drain').catch(() => undefined)
  }
  response.end(end)
})
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
