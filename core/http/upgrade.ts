import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HttpAlone } from '../errors.ts'
import type { Upgrading } from './reply.ts'
import type { AnyRoute } from './route.ts'

/** A request that asks for a WebSocket. Some clients try one first, and come by plain HTTP at once when the answer is 426. */
const asksWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && /\bwebsocket\b/i.test(headers.upgrade ?? '')

/** Of an answer that refuses the upgrade; the connection ends with it. */
const overHttp = { upgrade: 'HTTP/1.1', connection: 'upgrade, close' } as const

/** Whether a route takes WebSockets: the server then listens for upgrades. */
export const takesUpgrades = (routes: readonly AnyRoute[]): boolean =>
  routes.some(({ webSocket }) => webSocket === true)

/** What came behind the head of each request that may leave HTTP. */
const heads = new WeakMap<IncomingMessage, Buffer>()

/** Gives the socket of the request away, and resolves when it has closed. Throws HttpAlone where no server handed it over. */
export const leaveHttp = (
  request: IncomingMessage,
  take: Upgrading,
  headers: Record<string, unknown>,
): Promise<void> => {
  const head = heads.get(request)
  if (head === undefined) {
    Object.assign(headers, overHttp)
    throw new HttpAlone()
  }
  const { socket } = request
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
  take({ request, socket, head })
  return closed
}

/**
 * Node takes every request with an upgrade out of HTTP once a server listens for one. A WebSocket goes through the
 * listener with a response of its own; any other request goes on as if it had asked for no upgrade.
 */
export const handUpgrades = (server: Server, listener: RequestListener): void =>
  void server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
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

const backToHttp = (server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void => {
  const { rawHeaders, method, url, httpVersion } = request
  const lines = rawHeaders.flatMap((name, at) =>
    at % 2 === 1 || /^upgrade$/i.test(name) ? [] : [`${name}: ${rawHeaders[at + 1]}`],
  )
  const text = [`${method} ${url} HTTP/${httpVersion}`, ...lines, '', ''].join('\r\n')
  socket.unshift(Buffer.concat([Buffer.from(text, 'latin1'), head]))
  server.emit('connection', socket)
}
