import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** What a backend does once. */
export interface Take {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** Whole unless told otherwise; `gone` breaks the socket before a head. Numbers are bytes of the body: `cut` breaks the socket there, `end` ends well there, `stall` says no more. */
  readonly pace?:
    | 'whole'
    | 'bytewise'
    | 'silent'
    | 'gone'
    | { readonly cut: number }
    | { readonly end: number }
    | { readonly stall: number }
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A backend at the socket: it plays what it is given, and remembers what it was asked. */
export interface Recorded {
  readonly url: string
  readonly asked: Asked[]
  /** How many connections are open. */
  open(): Promise<number>
  close(): Promise<void>
}

export const recorded = async (play: (request: Asked) => Take | Promise<Take>): Promise<Recorded> => {
  const requests: Asked[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const taken = { method: request.method!, path: request.url!, headers: request.headers, body: Buffer.concat(parts) }
    requests.push(taken)
    await perform(response, await play(taken))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: requests,
    open: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const perform = async (response: ServerResponse, { status = 200, headers = {}, body, pace = 'whole' }: Take) => {
  if (pace === 'silent') return
  if (pace === 'gone') return void response.destroy()
  const bytes = Buffer.from(body)
  response.writeHead(status, headers)
  response.flushHeaders()
  if (pace === 'whole') return void response.end(bytes)
  if (pace === 'bytewise') {
    // Each write is a chunk of its own, and is read as one, however the network joins them.
    for (let at = 0; at < bytes.length && !response.destroyed; at++) {
      response.write(bytes.subarray(at, at + 1))
      if (at % 64 === 0) await setImmediate()
    }
    return void response.end()
  }
  if ('end' in pace) return void response.end(bytes.subarray(0, pace.end))
  if ('stall' in pace) return void response.write(bytes.subarray(0, pace.stall))
  response.write(bytes.subarray(0, pace.cut), () => setTimeout(() => response.destroy(), 1))
}
