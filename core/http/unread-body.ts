import type { IncomingMessage } from 'node:http'
import type { Clock } from '../ports/platform.ts'
import { discarding } from './tiny-chunks.ts'

/** Ms in which the sender of a refused body may still see the answer. */
const patienceMs = 1_000

/**
 * What is left of a body that was not read to its end would hold up its connection for as long as it comes. A little of it
 * is thrown away, since a socket that closes at once takes the answer with it; then the socket goes.
 */
export const leaveUnread = (request: IncomingMessage, clock: Clock): void => {
  // Node goes on to the next request of a connection once a body has come whole.
  if (request.socket.destroyed || request.complete) return
  const late = clock.alarm(patienceMs, () => request.socket.destroy())
  request.on('data', discarding(request.socket))
  request.on('end', () => late.off())
  // An iterator that still waits for its next piece would keep the rest from flowing.
  request.removeAllListeners('readable').resume()
}
