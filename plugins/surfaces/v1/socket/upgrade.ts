import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HttpAlone } from '../../../../core/errors.ts'
import type { Reply } from '../../../../core/http/reply.ts'

/** A connection that leaves HTTP, with the bytes that came behind the head of its request. */
export interface Handed {
  readonly request: IncomingMessage
  readonly socket: Socket
  readonly head: Buffer
}

/** A request that asks for a WebSocket. Some clients try one first, and come by plain HTTP at once when the answer is 426. */
const asksWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && /\bwebsocket\b/i.test(headers.upgrade ?? '')

/** Of an answer that refuses the upgrade; the connection ends with it. */
const overHttp = { upgrade: 'HTTP/1.1', connection: 'upgrade, close' } as const

/** What came behind the head of each request that may leave HTTP. */
const heads = new WeakMap<IncomingMessage, Buffer>()

/** Gives the socket of the request away, and lasts until it has closed. Throws HttpAlone where no server handed it over. */
export const leavingHttp = (take: (handed: Handed) => void): Reply => ({
  kind: 'own',
  status: 101,
  async answer(request, _response, headers) {
    const head = heads.get(request)
    if (head === undefined) {
      Object.assign(headers, overHttp)
      throw new HttpAlone()
    }
    const { socket } = request
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
    take({ request, socket, head })
    return { closed }
  },
})

/**
 * Once a server listens for upgrades, Node 20 and 22 take each request with one out of HTTP; newer ones ask first. A WebSocket goes
 * through the listener with a response of its own; any other request goes on as if it had asked for no upgrade.
 */
export const handUpgrades = (server: Server, listener: RequestListener): void => {
  Object.assign(server, { shouldUpgradeCallback: asksWebSocket })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // The answer to an earlier request of the connection is not written yet.
    if ((socket as { readonly _httpMessage?: object | null })._httpMessage) return void socket.destroy()
    if (!asksWebSocket(request)) return backToHttp(server, request, socket, head)
    heads.set(request, head)
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.destroySoon())
    socket.on('error', () => socket.destroy())
    listener(request, response)
  })
}

const backToHttp = (server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void => {
  const { rawHeaders, method, url, httpVersion } = request
  const lines = rawHeaders.flatMap((name, at) =>
    at % 2 === 1 || /^upgrade$/i.test(name) ? [] : [`${name}: ${rawHeaders[at + 1]}`],
  )
  const text = [`${method} ${url} HTTP/${httpVersion}`, ...lines, '', ''].join('\r\n')
  socket.unshift(Buffer.concat([Buffer.from(text, 'latin1'), head]))
  server.emit('connection', socket)
}
