import type { IncomingMessage } from 'node:http'
import type { Clock } from '../ports/platform.ts'

/** Bytes of a refused body, and ms, in which its sender may still see the answer. */
const mostBytes = 4 * 1024 * 1024
const patienceMs = 1_000

/**
 * What is left of a body that was not read to its end would hold up its connection for as long as it comes. A little of it
 * is thrown away, since a socket that closes at once takes the answer with it; then the socket goes.
 */
export const leaveUnread = (request: IncomingMessage, clock: Clock): void => {
  if (request.complete || request.socket.destroyed) return
  const { socket } = request
  let size = 0
  const late = clock.alarm(patienceMs, () => socket.destroy())
  request.on('data', (part: Buffer) => {
    if ((size += part.length) > mostBytes) socket.destroy()
  })
  request.on('end', () => late.off())
  // An iterator that still waits for its next piece would keep the rest from flowing.
  request.removeAllListeners('readable').resume()
}
