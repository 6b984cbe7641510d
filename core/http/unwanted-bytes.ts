import type { IncomingMessage, RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../ports/platform.ts'

/** Bytes of a chunk that is tiny, and of the frame around it on the wire. */
const [tinyBytes, frameBytes] = [64, 6]
/** Bytes on the wire after which a body may not come in tiny chunks: a little less than one read of the socket brings. */
const tinyFromBytes = 60 * 1024
/** Bytes of a chunk that waits for its neighbours, and of the neighbours that go on together. */
const [shortBytes, togetherBytes] = [1024, 16 * 1024]

const refused = new WeakSet<IncomingMessage>()

/** Whether a body came in chunks that are mostly tiny; what comes behind them is thrown away. */
export const isInTinyChunks = (request: IncomingMessage): boolean => refused.has(request)

/**
 * Puts the short chunks of a turn of the loop together before anyone sees them. The parser makes an event of each chunk,
 * for which a reader would pay as much again or more. A message is refused once 60 KiB came in mostly tiny chunks; what
 * comes then is thrown away, and the connection is good for nothing else.
 */
export const joinChunks = (request: IncomingMessage, refuse: () => void): void => {
  const push = request.push.bind(request)
  let [together, used] = [Buffer.alloc(0), 0]
  let [wire, chunks, tiny] = [0, 0, 0]
  let isAwaited = false

  const flush = (): boolean => {
    if (used === 0) return true
    const joined = together.subarray(0, used)
    ;[together, used] = [together.subarray(used), 0]
    return push(joined)
  }
  const flushSoon = (): void => {
    isAwaited = false
    flush()
  }
  const isTiny = (length: number): boolean => {
    chunks++
    if (length < tinyBytes) tiny++
    wire += length + frameBytes
    return wire > tinyFromBytes && 2 * tiny > chunks
  }
  const join = (chunk: Buffer): boolean => {
    if (used + chunk.length > together.length) {
      flush()
      together = Buffer.allocUnsafeSlow(togetherBytes)
    }
    together.set(chunk, used)
    used += chunk.length
    if (!isAwaited) setImmediate(flushSoon)
    isAwaited = true
    return request.readableLength + used < request.readableHighWaterMark
  }

  request.push = (chunk: Buffer | null): boolean => {
    if (refused.has(request)) return chunk === null ? push(null) : true
    if (chunk === null) {
      flush()
      return push(null)
    }
    if (isTiny(chunk.length)) {
      refused.add(request)
      refuse()
      // The reader of the body sees the refusal with its next part.
      flush()
      return push(chunk)
    }
    if (chunk.length < shortBytes) return join(chunk)
    flush()
    return push(chunk)
  }
}

/** The listener behind requests whose chunks are put together, also while they wait for their turn. */
export const joined =
  (listener: RequestListener, clock: Clock): RequestListener =>
  (request, response) => {
    if (request.headers['transfer-encoding'] !== undefined) joinChunks(request, () => letGo(request, clock))
    listener(request, response)
  }

/** Ms between two reads of what is thrown away: its sender waits for the answer, and costs nothing meanwhile. */
const restMs = 10

/** No further read of this turn reaches the parser, which is let go when it stands still. */
const letGo = (request: IncomingMessage, clock: Clock): void => {
  const { socket } = request
  // A reader that waits for the body would have the socket read on.
  request._read = () => {}
  const discard = discarding(socket)
  const rest = (part: Buffer) => {
    socket.pause()
    discard(part)
    clock.alarm(restMs, () => socket.resume())
  }
  socket.pause()
  setImmediate(() => socket.removeAllListeners('data').on('data', rest).resume())
}

/** Bytes of a refused body in which its sender may still see the answer. */
const mostBytes = 4 * 1024 * 1024

/** Throws away what comes, and ends the connection when that is too much. */
const discarding = (socket: Socket): ((part: Buffer) => void) => {
  let size = 0
  return (part) => {
    if ((size += part.length) > mostBytes) socket.destroy()
  }
}

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
  request.on('end', () => late.off())
  // A reader that still waits for its next piece, or leaves late, would keep the rest from flowing.
  request.pause = () => request
  request.removeAllListeners('readable').removeAllListeners('data').on('data', discarding(request.socket)).resume()
}
