import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { turnsOf } from '../dialects/loop-time.ts'
import type { Clock } from '../ports/platform.ts'
import { peerOf, senderOf } from './caller-address.ts'
import { hasShownKey, recount } from './connections.ts'

/** Requests that may wait behind unfinished answers: of one connection, and of all connections of a sender. */
const [mostWaiting, mostOfSender] = [32, 1_024]
/** Requests that begin at once within so many ms, since a turn of the loop reads thousands of connections: of those that have shown a key, and of others. */
const [mostKnown, mostStrange, windowMs] = [64, 8, 5]

/** What Node's parser of a connection calls with each head; a 2 ends the reading, as the head of another protocol does. */
interface HeadReader {
  onIncoming: () => number
}

/** Who is at the other end of a connection. */
const senderAt = (socket: Socket): string => senderOf(peerOf(socket) ?? '')

/** Ends a connection, and the reading of what has come already: each request of it would take an object and an error. */
const end = (socket: Duplex & { readonly parser?: HeadReader | null }): void => {
  if (socket.parser) socket.parser.onIncoming = () => 2
  socket.destroy()
}

/**
 * A request that was sent ahead begins when the answer before it has ended: its handler, and all that it holds, wait. A
 * turn of the loop begins one of the requests that wait on all connections, and senders take turns. Who has shown a key
 * waits for no stranger.
 */
export const inTurn = (listener: RequestListener, clock: Clock): RequestListener => {
  // Apart from long answers, which would wait behind all connections at each of their pieces.
  const [known, strange] = [turnsOf(), turnsOf()]
  let [begun, since] = [0, 0]
  const beginLater: RequestListener = async (request, response) => {
    await (hasShownKey(request) ? known : strange)(senderAt(request.socket))
    if (!request.socket.destroyed) listener(request, response)
  }
  const ofSocket = new WeakMap<Duplex, number>()
  const ofSender = new Map<string, number>()
  const count = (socket: Duplex, sender: string, change: number): boolean => {
    const here = (ofSocket.get(socket) ?? 0) + change
    ofSocket.set(socket, here)
    return recount(ofSender, sender, change) <= mostOfSender && here <= mostWaiting
  }
  return (request, response) => {
    const { socket } = request
    if (response.socket !== null) {
      const now = clock.now()
      // A clock that was set back begins anew, too.
      if (now < since || now - since >= windowMs) [begun, since] = [0, now]
      if (begun >= mostStrange && (begun >= mostKnown || !hasShownKey(request)))
        return void beginLater(request, response)
      begun++
      return listener(request, response)
    }
    if (socket.destroyed) return
    const sender = senderAt(socket)
    if (!ofSocket.has(socket)) socket.once('close', () => count(socket, sender, -(ofSocket.get(socket) ?? 0)))
    if (!count(socket, sender, 1)) return end(socket)
    response.once('socket', () => {
      count(socket, sender, -1)
      void beginLater(request, response)
    })
  }
}
