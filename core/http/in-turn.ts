import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'

/** Requests of one connection that may wait behind an unfinished answer. */
const mostWaiting = 32

/** A request that was sent ahead begins when the answer before it has ended: its handler, and all that it holds, wait. */
export const inTurn = (listener: RequestListener): RequestListener => {
  const waiting = new WeakMap<Duplex, number>()
  const count = ({ socket }: IncomingMessage, change: 1 | -1): number => {
    const now = (waiting.get(socket) ?? 0) + change
    waiting.set(socket, now)
    return now
  }
  return (request, response) => {
    if (response.socket !== null) return listener(request, response)
    if (request.socket.destroyed) return
    if (count(request, 1) > mostWaiting) return void request.socket.destroy()
    response.once('socket', () => {
      count(request, -1)
      listener(request, response)
    })
  }
}
