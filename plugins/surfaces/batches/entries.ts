import { BadRequest } from '../../../core/errors.ts'
import { type GatheredBytes, gatheredBytes } from '../../../core/gathered-bytes.ts'

type Source = AsyncIterable<Uint8Array>

/** What is thrown for an entry that has too many bytes. */
type TooLong = () => Error

const newline = 0x0a

/** What came of one entry so far. An entry within one piece is not copied. */
const pending = (most: number, tooLong: TooLong) => {
  let held: GatheredBytes | null = null
  const check = (part: Uint8Array) => {
    if ((held?.length ?? 0) + part.length > most) throw tooLong()
  }
  return {
    hold(part: Uint8Array): void {
      check(part)
      ;(held ??= gatheredBytes()).add(part)
    },
    whole(last: Uint8Array): Buffer {
      check(last)
      if (held === null) return Buffer.from(last.buffer, last.byteOffset, last.length)
      held.add(last)
      const whole = held.whole()
      held = null
      return whole
    },
  }
}

/** The lines of a text as it comes in, without the empty ones. No more than one line of `most` bytes is held. */
export async function* linesOf(source: Source, most: number, tooLong: TooLong): AsyncGenerator<Buffer> {
  const { hold, whole } = pending(most, tooLong)
  for await (const piece of source) {
    let from = 0
    for (let end = piece.indexOf(newline); end >= 0; from = end + 1, end = piece.indexOf(newline, from)) {
      const line = whole(piece.subarray(from, end))
      if (!isBlank(line)) yield line
    }
    if (from < piece.length) hold(piece.subarray(from))
  }
  const last = whole(new Uint8Array(0))
  if (!isBlank(last)) yield last
}

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === newline || byte === 0x0d

const isBlank = (line: Uint8Array): boolean => line.every(isSpace)

const malformed = () => new BadRequest('Expected an object with the list requests alone')

/** What stands around the objects, without spaces. */
const [opening, closing] = ['{"requests":[', ']}']

/** What may come next between two objects: either or the end of the list, a comma or the end, or an object alone. */
type Due = 'any' | 'comma' | 'object'

/** Follows `{"requests": [...]}` byte by byte, and tells where one of its objects begins and ends. Throws BadRequest. */
const follower = () => {
  let [around, depth, due] = ['', 0, 'any' as Due]
  let [isText, isEscaped, isBehind] = [false, false, false]
  const inside = (byte: number): 'end' | null => {
    if (isEscaped) isEscaped = false
    else if (byte === 0x5c) isEscaped = isText
    else if (byte === 0x22) isText = !isText
    else if (isText) return null
    else if (byte === 0x7b || byte === 0x5b) depth++
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) {
      due = 'comma'
      return 'end'
    }
    return null
  }
  const beside = (byte: number): void => {
    around += String.fromCharCode(byte)
    if (!(isBehind ? closing : opening).startsWith(around)) throw malformed()
  }
  const between = (byte: number): 'begin' | null => {
    if (byte === 0x7b && due !== 'comma') {
      depth = 1
      return 'begin'
    }
    if (byte === 0x2c && due === 'comma') due = 'object'
    else if (byte === 0x5d && due !== 'object') {
      isBehind = true
      around = ']'
    } else throw malformed()
    return null
  }
  return {
    isInside: () => depth > 0,
    isWhole: () => isBehind && around === closing,
    next(byte: number): 'begin' | 'end' | null {
      if (depth > 0) return inside(byte)
      if (isSpace(byte)) return null
      if (!isBehind && around === opening) return between(byte)
      beside(byte)
      return null
    },
  }
}

/** The objects of `{"requests": [...]}` as it comes in. No more than one of them is held. */
export async function* requestsOf(source: Source, most: number, tooLong: TooLong): AsyncGenerator<Buffer> {
  const following = follower()
  const { hold, whole } = pending(most, tooLong)
  for await (const piece of source) {
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const place = following.next(piece[at]!)
      if (place === 'begin') from = at
      if (place === 'end') yield whole(piece.subarray(from, at + 1))
    }
    if (following.isInside()) hold(piece.subarray(from))
  }
  if (!following.isWhole()) throw malformed()
}
