import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Bytes of a frame's payload that are unmasked in one piece. Masks have four bytes: each piece has the mask of its frame. */
export const pieceBytes = 64 * 1024

/** A frame whose payload comes. */
interface Frame {
  readonly first: number
  readonly mask: Buffer
  /** Whether a piece of the frame has begun. */
  isBegun: boolean
}

const [finalBit, maskBit, lengthBits, longest] = [0x80, 0x80, 0x7f, 127]
/** The last opcode of data. */
const lastData = 0x2

/** Bytes of a frame's head, as far as its first two bytes tell. */
const headLength = (head: Buffer): number => {
  const [, second] = head
  if (second === undefined) return 2
  const length = second & lengthBits
  return 2 + (length === longest ? 8 : length === longest - 1 ? 2 : 0) + (second & maskBit ? 4 : 0)
}

const payloadLength = (head: Buffer): number => {
  const length = head.readUInt8(1) & lengthBits
  if (length < longest - 1) return length
  return length === longest ? Number(head.readBigUInt64BE(2)) : head.readUInt16BE(2)
}

/** The head of a piece: an opcode of data at the first one, and the end of the frame at the last one. */
const headOf = ({ first, mask, isBegun }: Frame, size: number, isLast: boolean): Buffer => {
  const head = Buffer.alloc(10)
  head[0] = (isBegun ? 0 : first & ~finalBit) | (isLast ? first & finalBit : 0)
  head[1] = maskBit | longest
  head.writeBigUInt64BE(BigInt(size), 2)
  return Buffer.concat([head, mask])
}

/**
 * Cuts frames of data that are longer than a piece into frames of the same message, as they come (RFC 6455, 5.4). All
 * others pass, and so do those beyond `most`, which are refused by their heads. `begun` gets the bytes of each frame of
 * data before they come.
 */
export const frameCutter = (most: number, begun: (bytes: number) => void) => {
  let head = Buffer.alloc(0)
  let frame: Frame | null = null
  /** Bytes that are to come of the frame's payload, and of its piece. */
  let [left, due] = [0, 0]

  const begin = function* (): Generator<Buffer> {
    left = payloadLength(head)
    const [first = 0, second = 0] = head
    const isTaken = left <= most && (first & 0xf) <= lastData && (second & maskBit) !== 0
    const isCut = isTaken && left > pieceBytes
    frame = isCut ? { first, mask: head.subarray(-4), isBegun: false } : null
    if (!isCut) {
      due = left
      yield head
    }
    head = Buffer.alloc(0)
    if (isTaken) begun(left)
  }

  return function* (part: Buffer): Generator<Buffer> {
    for (let at = 0; at < part.length;) {
      if (left === 0) {
        const more = part.subarray(at, at + headLength(head) - head.length)
        head = Buffer.concat([head, more])
        at += more.length
        if (head.length === headLength(head)) yield* begin()
        continue
      }
      if (due === 0 && frame !== null) {
        due = Math.min(left, pieceBytes)
        yield headOf(frame, due, due === left)
        frame.isBegun = true
      }
      const payload = part.subarray(at, at + due)
      at += payload.length
      left -= payload.length
      due -= payload.length
      yield payload
    }
  }
}

/**
 * The connection with its frames cut, since a long frame is unmasked at once where it ends, and nothing else runs
 * meanwhile. `head` came behind the request. The event `frame` tells the bytes of a frame of data before they come.
 */
export const inShortFrames = (socket: Socket, head: Buffer, most: number): Duplex => {
  const cut = frameCutter(most, (bytes) => wire.emit('frame', bytes))
  const wire: Duplex = new Duplex({
    read: () => void socket.resume(),
    write: (part, encoding, done) => void socket.write(part, encoding, done),
    final: (done) => void socket.end(done),
    destroy(fault, done) {
      socket.destroy()
      done(fault)
    },
  })
  if (head.length > 0) socket.unshift(head)
  socket.on('data', (part: Buffer) => {
    let isFull = false
    for (const piece of cut(part)) isFull = !wire.push(piece)
    if (isFull) socket.pause()
  })
  socket.on('end', () => wire.push(null))
  socket.on('error', (fault) => wire.destroy(fault))
  socket.on('close', () => wire.destroy())
  return wire
}
