import { crc32 } from 'node:zlib'
import { bufferOf, garbled } from '../../shared/backend.ts'
import type { ItemReader, Streams } from '../shared/event-items.ts'

/** One message of `application/vnd.amazon.eventstream`. */
export interface Frame {
  /** Headers of texts alone; Bedrock sends no others. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Buffer
}

/** Bytes of one frame; Amazon's own limit for a payload, and some room for headers. */
const largest = 17 * 1024 * 1024
/** In bytes: two lengths and their checksum in front of each frame, and the checksum of the frame behind it. */
const prelude = 12
const trailer = 4

/** Bytes of header values by their type; texts and blobs (null) tell their length. */
const sizes: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16]
/** The type of a text among the headers. */
const texts = 7

/** Throws UpstreamFailed when the answer says of itself that it has no frames. */
export const mustBeFrames: Streams = (type, status) => {
  if (!type.startsWith('application/vnd.amazon.eventstream')) throw garbled('The stream is none', status)
  return true
}

/** Reads the items that `read` makes of frames; `read` is true at the last one. Throws UpstreamFailed for a frame with a wrong sum. */
export const unpackedFrames = <T>(status: number, read: (frame: Frame, into: T[]) => boolean): ItemReader<T> => {
  /** Bytes of a frame that is not whole yet, joined only when they are. */
  let parts: Uint8Array[] = []
  let held = 0

  const joined = (): Buffer => {
    if (parts.length > 1) parts = [Buffer.concat(parts, held)]
    return bufferOf(parts[0]!)
  }

  return {
    read(bytes, into) {
      parts.push(bytes)
      held += bytes.length
      while (held >= prelude) {
        const size = lengthOf(parts[0]!.length >= prelude ? bufferOf(parts[0]!) : joined(), status)
        if (held < size) return false
        const whole = joined()
        const frame = frameOf(whole.subarray(0, size), status)
        parts = held > size ? [whole.subarray(size)] : []
        held -= size
        if (read(frame, into)) return true
      }
      return false
    },
    cut() {
      throw garbled('The stream ended without its last event', status)
    },
  }
}

/** The bytes of the whole frame, as its checked beginning tells. */
const lengthOf = (bytes: Buffer, status: number): number => {
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw garbled('A frame begins with a wrong sum', status)
  const size = bytes.readUInt32BE(0)
  const headers = bytes.readUInt32BE(4)
  if (size > largest || size < prelude + headers + trailer) throw garbled('A frame of a wrong length', status)
  return size
}

/** Throws UpstreamFailed when the checksum of the frame is wrong. */
const frameOf = (bytes: Buffer, status: number): Frame => {
  const end = bytes.length - trailer
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw garbled('A frame with a wrong sum', status)
  const from = prelude + bytes.readUInt32BE(4)
  return { headers: headersOf(bytes.subarray(prelude, from), status), payload: bytes.subarray(from, end) }
}

const headersOf = (bytes: Buffer, status: number): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  try {
    for (let at = 0; at < bytes.length;) {
      const named = at + 1 + bytes.readUInt8(at)
      const type = bytes.readUInt8(named)
      const size = sizes[type]
      if (size === undefined) throw garbled('A header of an unknown type', status)
      const from = named + 1 + (size === null ? 2 : 0)
      const to = from + (size ?? bytes.readUInt16BE(named + 1))
      if (to > bytes.length) throw garbled('A header ends behind its frame', status)
      if (type === texts) found.set(bytes.toString('utf8', at + 1, named), bytes.toString('utf8', from, to))
      at = to
    }
  } catch (cause) {
    if (cause instanceof RangeError) throw garbled('A header ends behind its frame', status, cause)
    throw cause
  }
  return found
}
