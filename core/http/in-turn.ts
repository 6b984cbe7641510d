import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { turnsOf } from '../dialects/loop-time.ts'

/** Apart from long answers, which would wait behind all connections at each of their pieces. */
const nextTurn = turnsOf()

/** Requests of one connection that may wait behind an unfinished answer. */
const mostWaiting = 32

/** What Node's parser of a connection calls with each head; a 2 ends the reading, as the head of another protocol does. */
interface HeadReader {
  onIncoming: () => number
}

/** Ends a connection, and the reading of what has come already: each request of it would take an object and an error. */
const end = (socket: Duplex & { readonly parser?: HeadReader | null }): void => {
  if (socket.parser) socket.parser.onIncoming = () => 2
  socket.destroy()
}

/**
 * A request that was sent ahead begins when the answer before it has ended: its handler, and all that it holds, wait. A
 * turn of the loop begins one of the requests that wait on all connections.
 */
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
    if (count(request, 1) > mostWaiting) return end(request.socket)
    response.once('socket', async () => {
      await nextTurn()
      count(request, -1)
      if (!request.socket.destroyed) listener(request, response)
    })
  }
}
