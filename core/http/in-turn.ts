import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { turnsOf } from '../dialects/loop-time.ts'
import type { Clock } from '../ports/platform.ts'
import { hasShownKey } from './connections.ts'

/** Requests that may wait behind an unfinished answer: of one connection, and of all. */
const [mostWaiting, mostOfAll] = [32, 1_024]
/** Requests that begin at once within so many ms: of connections that have shown a key, and of all others. */
const [mostKnown, mostStrange, windowMs] = [64, 8, 5]

/** Callers of one kind, of whose requests few begin at once: a turn of the loop reads thousands of connections. */
interface Crowd {
  readonly most: number
  /** Requests that began since then. */
  begun: number
  since: number
  nextTurn(owner?: string): Promise<void>
}

/** What Node's parser of a connection calls with each head; a 2 ends the reading, as the head of another protocol does. */
interface HeadReader {
  onIncoming: () => number
}

/** Ends a connection, and the reading of what has come already: each request of it would take an object and an error. */
const end = (socket: Duplex & { readonly parser?: HeadReader | null }): void => {
  if (socket.parser) socket.parser.onIncoming = () => 2
  socket.destroy()
}

// Apart from long answers, which would wait behind all connections at each of their pieces.
const crowdOf = (most: number): Crowd => ({ most, begun: 0, since: 0, nextTurn: turnsOf() })

/**
 * A request that was sent ahead begins when the answer before it has ended: its handler, and all that it holds, wait. A
 * turn of the loop begins one of the requests that wait on all connections, and addresses take turns. Who has shown a key
 * waits for no stranger.
 */
export const inTurn = (listener: RequestListener, clock: Clock): RequestListener => {
  const [known, strange] = [crowdOf(mostKnown), crowdOf(mostStrange)]
  const crowdFor = (request: IncomingMessage): Crowd => (hasShownKey(request) ? known : strange)
  const beginLater: RequestListener = async (request, response) => {
    await crowdFor(request).nextTurn(request.socket.remoteAddress)
    if (!request.socket.destroyed) listener(request, response)
  }
  const waiting = new WeakMap<Duplex, number>()
  let all = 0
  const count = (socket: Duplex, change: number): number => {
    const now = (waiting.get(socket) ?? 0) + change
    waiting.set(socket, now)
    all += change
    return now
  }
  return (request, response) => {
    const { socket } = request
    if (response.socket !== null) {
      const crowd = crowdFor(request)
      const now = clock.now()
      if (now - crowd.since >= windowMs) Object.assign(crowd, { begun: 0, since: now })
      if (++crowd.begun <= crowd.most) listener(request, response)
      else void beginLater(request, response)
      return
    }
    if (socket.destroyed) return
    if (!waiting.has(socket)) socket.once('close', () => count(socket, -(waiting.get(socket) ?? 0)))
    if (count(socket, 1) > mostWaiting || all > mostOfAll) return end(socket)
    response.once('socket', () => {
      count(socket, -1)
      void beginLater(request, response)
    })
  }
}
