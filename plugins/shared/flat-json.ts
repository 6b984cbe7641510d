import { parsed } from '../../core/dialects/json.ts'
import { isSpace, malformed, tooWide } from '../../core/dialects/json-scan.ts'
import { BadRequest } from '../../core/errors.ts'
import { gatheredBytes } from '../../core/gathered-bytes.ts'

/** A field that is read whole, or the next piece of the big one, as it stands between its quotes. */
export type FlatPart =
  { readonly name: string; readonly value: unknown } | { readonly name: string; readonly piece: Buffer }

/** Thrown when the fields beside the content have more than `most` bytes. */
export const tooLong = (most: number): BadRequest =>
  new BadRequest(`The fields beside the content may have ${most} bytes at most`, { code: 'request_too_large' })

/** Fields of an object; no reader knows a tenth as many, and each takes many promises. */
const mostFields = 256
/** Levels of a nested value. */
const deepestNesting = 64
const quote = 0x22
const backslash = 0x5c

/**
 * Reads one JSON object as it comes in. The string of the field `big` is given piece by piece and never held; it may
 * hold no escapes, and its end is found by scanning the buffer. All other fields together may take `most` bytes.
 */
export async function* flatJson(
  source: AsyncIterable<Uint8Array>,
  big: string,
  most = 256 * 1024,
): AsyncGenerator<FlatPart> {
  const bytes: Bytes = { parts: source[Symbol.asyncIterator](), held: Buffer.alloc(0), at: 0, small: 0, most }
  try {
    yield* fieldsOf(bytes, big)
  } finally {
    // The source is let go, read to its end or not.
    await bytes.parts.return?.()
  }
}

async function* fieldsOf(bytes: Bytes, big: string): AsyncGenerator<FlatPart> {
  const seen = new Set<string>()
  if ((await markIn(bytes)) !== 0x7b) throw malformed()
  let mark = await markIn(bytes)
  for (let first = true; mark !== 0x7d; first = false) {
    if (!first) {
      if (mark !== 0x2c) throw malformed()
      mark = await markIn(bytes)
    }
    if (mark !== quote) throw malformed()
    const name = String(parsed(`"${await stringIn(bytes)}"`))
    if (seen.has(name)) throw new BadRequest('Malformed JSON', { validator: { [name.slice(0, 100)]: 'Expected once' } })
    seen.add(name)
    if (seen.size > mostFields) throw tooWide()
    if ((await markIn(bytes)) !== 0x3a) throw malformed()
    mark = await markIn(bytes)
    if (name === big && mark === quote) {
      for await (const piece of piecesIn(bytes)) yield { name, piece }
      mark = await markIn(bytes)
    } else if (mark === quote) {
      yield { name, value: parsed(`"${await stringIn(bytes)}"`) }
      mark = await markIn(bytes)
    } else {
      const { text, end } = await plainIn(bytes, mark)
      yield { name, value: parsed(text) }
      mark = end
    }
  }
  await finish(bytes)
}

/** Bytes of a source, one after the other. */
interface Bytes {
  readonly parts: AsyncIterator<Uint8Array>
  /** The part that is being read, and the place in it. */
  held: Buffer
  at: number
  /** Bytes beside the big string so far, and how many there may be. */
  small: number
  readonly most: number
}

/** False at the end of the source. */
const more = async (bytes: Bytes): Promise<boolean> => {
  const { done, value } = await bytes.parts.next()
  if (done) return false
  bytes.held = Buffer.from(value.buffer, value.byteOffset, value.length)
  bytes.at = 0
  return true
}

/** Waits for a byte that is not read yet. */
const filled = async (bytes: Bytes): Promise<void> => {
  while (bytes.at >= bytes.held.length) if (!(await more(bytes))) throw malformed()
}

const count = (read: Bytes, bytes: number): void => {
  const { most } = read
  read.small += bytes
  if (read.small > most) throw tooLong(most)
}

/** The next byte: a promise of it only where it has not come, since each would cost a hundred times the byte. */
const byte = (bytes: Bytes): number | Promise<number> => {
  if (bytes.at >= bytes.held.length) return filled(bytes).then(() => byte(bytes))
  count(bytes, 1)
  return bytes.held[bytes.at++] ?? 0
}

/** The next byte that is no space. */
const markIn = async (bytes: Bytes): Promise<number> => {
  for (;;) {
    const next = byte(bytes)
    const found = typeof next === 'number' ? next : await next
    if (!isSpace(found)) return found
  }
}

/** The mark behind a value: a comma, or the end of the object. */
const endOf = async (bytes: Bytes): Promise<number> => {
  const end = await markIn(bytes)
  if (end !== 0x2c && end !== 0x7d) throw malformed()
  return end
}

/** Up to the closing quote, escapes and all. */
const stringIn = async (bytes: Bytes): Promise<string> => {
  const text = gatheredBytes()
  let escaped = false
  for (;;) {
    await filled(bytes)
    const { held, at: start } = bytes
    let { at } = bytes
    while (at < held.length && (escaped || held[at] !== quote)) {
      escaped = !escaped && held[at] === backslash
      at++
    }
    bytes.at = at
    text.add(held.subarray(start, at))
    count(bytes, at - start)
    if (at < held.length) {
      bytes.at++
      return text.whole().toString('utf8')
    }
  }
}

interface Plain {
  readonly text: string
  /** The mark behind the value. */
  readonly end: number
}

/** Up to the end of a list or an object, and the mark behind it. */
const nestedIn = async (bytes: Bytes, first: number): Promise<Plain> => {
  const whole = [first]
  let depth = 1
  let quoted = false
  let escaped = false
  while (depth > 0) {
    const next = byte(bytes)
    const found = typeof next === 'number' ? next : await next
    whole.push(found)
    if (quoted) {
      if (found === quote && !escaped) quoted = false
      escaped = !escaped && found === backslash
    } else if (found === quote) quoted = true
    else if (found === 0x7b || found === 0x5b) depth++
    else if (found === 0x7d || found === 0x5d) depth--
    if (depth > deepestNesting) throw malformed()
  }
  return { text: Buffer.from(whole).toString('utf8'), end: await endOf(bytes) }
}

/** A number, a word, a list or an object: up to the mark behind it. */
const plainIn = async (bytes: Bytes, first: number): Promise<Plain> => {
  if (first === 0x7b || first === 0x5b) return nestedIn(bytes, first)
  let text = String.fromCharCode(first)
  for (;;) {
    const next = byte(bytes)
    const found = typeof next === 'number' ? next : await next
    if (found === 0x2c || found === 0x7d) return { text, end: found }
    if (isSpace(found)) return { text, end: await endOf(bytes) }
    text += String.fromCharCode(found)
  }
}

async function* piecesIn(bytes: Bytes): AsyncGenerator<Buffer> {
  for (;;) {
    await filled(bytes)
    const { held, at } = bytes
    const end = held.indexOf(quote, at)
    const piece = held.subarray(at, end < 0 ? held.length : end)
    if (piece.includes(backslash)) throw malformed()
    bytes.at = end < 0 ? held.length : end + 1
    if (piece.length > 0) yield piece
    if (end >= 0) return
  }
}

/** Nothing but space may follow. */
const finish = async (bytes: Bytes): Promise<void> => {
  for (;;) {
    for (; bytes.at < bytes.held.length; bytes.at++) if (!isSpace(bytes.held[bytes.at])) throw malformed()
    if (!(await more(bytes))) return
  }
}
