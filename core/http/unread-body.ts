import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../ports/platform.ts'

/** Bytes of a refused body, and ms, in which its sender may still see the answer. */
const mostBytes = 4 * 1024 * 1024
const patienceMs = 1_000

/** Bytes of a chunk that is tiny, and of the frame around it on the wire. */
const [tinyBytes, frameBytes] = [64, 6]
/** Bytes on the wire after which a body may not come in tiny chunks: a little less than one read of the socket brings. */
const tinyFromBytes = 60 * 1024

/**
 * What is left of a body that was not read to its end would hold up its connection for as long as it comes. A little of it
 * is thrown away, since a socket that closes at once takes the answer with it; then the socket goes.
 */
export const leaveUnread = (request: IncomingMessage, clock: Clock): void => {
  if (request.socket.destroyed) return
  // A rest that nobody takes would keep the next request of the connection from being parsed.
  if (request.complete) return void (request.readableEnded || request.resume())
  const late = clock.alarm(patienceMs, () => request.socket.destroy())
  const isTiny = tinyChunks(request)
  const discard = discarding(request.socket)
  request.on('data', (part: Buffer) => {
    if (!isTiny(part)) discard(part)
  })
  request.on('end', () => late.off())
  // An iterator that still waits for its next piece would keep the rest from flowing.
  request.removeAllListeners('readable').resume()
}

const discarding = (socket: Socket) => {
  let size = 0
  return (part: Buffer): void => {
    if ((size += part.length) > mostBytes) socket.destroy()
  }
}

/**
 * The check tells for each part of a body whether most parts are tiny so far. A part is a chunk, or a piece of a chunk that
 * two reads of the socket parted. The parser makes an event of each chunk, so that tiny ones cost a hundred times their bytes: from the
 * first yes on what comes is thrown away unparsed, and the connection is good for nothing else.
 */
export const tinyChunks = (request: IncomingMessage): ((part: Buffer) => boolean) => {
  const { socket } = request
  let [wire, parts, tiny, isUnparsed] = [0, 0, 0, false]
  return ({ length }) => {
    if (isUnparsed) return true
    parts++
    if (length < tinyBytes) tiny++
    wire += length + frameBytes
    if (wire <= tinyFromBytes || 2 * tiny <= parts) return false
    isUnparsed = true
    // No further read of this turn reaches the parser, which is let go when it stands still.
    socket.pause()
    setImmediate(() => socket.removeAllListeners('data').on('data', discarding(socket)).resume())
    return true
  }
}
