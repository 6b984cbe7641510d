import { BadRequest } from '../errors.ts'

/** A field that is read whole, or the next piece of the big one, as it stands between its quotes. */
export type FlatPart =
  { readonly name: string; readonly value: unknown } | { readonly name: string; readonly piece: Buffer }

const quote = 0x22
const backslash = 0x5c
/** Levels of a nested value. */
const deepestNesting = 64
const spaces = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * Reads one JSON object as it comes in. The string of the field `big` is given piece by piece and never held; it may
 * hold no escapes, and its end is found by scanning the buffer. All other fields together may take `most` bytes.
 */
export async function* flatJson(
  source: AsyncIterable<Uint8Array>,
  big: string,
  most = 256 * 1024,
): AsyncGenerator<FlatPart> {
  const reader = reading(source, most)
  try {
    yield* fieldsOf(reader, big)
  } finally {
    await reader.close()
  }
}

async function* fieldsOf(reader: ReturnType<typeof reading>, big: string): AsyncGenerator<FlatPart> {
  const seen = new Set<string>()
  if ((await reader.next()) !== 0x7b) throw malformed()
  let mark = await reader.next()
  for (let first = true; mark !== 0x7d; first = false) {
    if (!first) {
      if (mark !== 0x2c) throw malformed()
      mark = await reader.next()
    }
    if (mark !== quote) throw malformed()
    const name = String(parsed(`"${await reader.string()}"`))
    if (seen.has(name)) throw new BadRequest('Malformed JSON', { validator: { [name.slice(0, 100)]: 'Expected once' } })
    seen.add(name)
    if ((await reader.next()) !== 0x3a) throw malformed()
    mark = await reader.next()
    if (name === big && mark === quote) {
      for await (const piece of reader.pieces()) yield { name, piece }
      mark = await reader.next()
    } else if (mark === quote) {
      yield { name, value: parsed(`"${await reader.string()}"`) }
      mark = await reader.next()
    } else {
      const { text, end } = await reader.plain(mark)
      yield { name, value: parsed(text) }
      mark = end
    }
  }
  await reader.end()
}

const malformed = (cause?: unknown) => new BadRequest('Malformed JSON', { cause })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw malformed(cause)
  }
}

const reading = (source: AsyncIterable<Uint8Array>, most: number) => {
  const parts = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  let at = 0
  let small = 0

  /** False at the end of the source. */
  const more = async (): Promise<boolean> => {
    const { done, value } = await parts.next()
    if (done) return false
    held = Buffer.from(value.buffer, value.byteOffset, value.length)
    at = 0
    return true
  }

  const byte = async (): Promise<number> => {
    while (at >= held.length) if (!(await more())) throw malformed()
    if (++small > most) throw new BadRequest(`The fields beside the content may have ${most} bytes at most`)
    return held[at++]!
  }

  const next = async (): Promise<number> => {
    for (;;) {
      const it = await byte()
      if (!spaces.has(it)) return it
    }
  }

  /** Up to the end of a list or an object, and the mark behind it. */
  const nested = async (first: number): Promise<{ text: string; end: number }> => {
    const whole = [first]
    let depth = 1
    let quoted = false
    let escaped = false
    while (depth > 0) {
      const it = await byte()
      whole.push(it)
      if (quoted) {
        if (it === quote && !escaped) quoted = false
        escaped = !escaped && it === backslash
      } else if (it === quote) quoted = true
      else if (it === 0x7b || it === 0x5b) depth++
      else if (it === 0x7d || it === 0x5d) depth--
      if (depth > deepestNesting) throw malformed()
    }
    const end = await next()
    if (end !== 0x2c && end !== 0x7d) throw malformed()
    return { text: Buffer.from(whole).toString('utf8'), end }
  }

  return {
    next,

    /** Up to the closing quote, escapes and all. */
    async string(): Promise<string> {
      const text: Buffer[] = []
      let escaped = false
      for (;;) {
        while (at >= held.length) if (!(await more())) throw malformed()
        const start = at
        while (at < held.length && (escaped || held[at] !== quote)) {
          escaped = !escaped && held[at] === backslash
          at++
        }
        text.push(held.subarray(start, at))
        small += at - start
        if (small > most) throw new BadRequest(`The fields beside the content may have ${most} bytes at most`)
        if (at < held.length) {
          at++
          return Buffer.concat(text).toString('utf8')
        }
      }
    },

    /** A number, a word, a list or an object: up to the mark behind it. */
    async plain(first: number): Promise<{ text: string; end: number }> {
      if (first === 0x7b || first === 0x5b) return nested(first)
      let text = String.fromCharCode(first)
      for (;;) {
        const it = await byte()
        if (it === 0x2c || it === 0x7d) return { text, end: it }
        if (spaces.has(it)) {
          const end = await next()
          if (end !== 0x2c && end !== 0x7d) throw malformed()
          return { text, end }
        }
        text += String.fromCharCode(it)
      }
    },

    async *pieces(): AsyncGenerator<Buffer> {
      for (;;) {
        while (at >= held.length) if (!(await more())) throw malformed()
        const end = held.indexOf(quote, at)
        const piece = held.subarray(at, end < 0 ? held.length : end)
        if (piece.includes(backslash)) throw malformed()
        at = end < 0 ? held.length : end + 1
        if (piece.length > 0) yield piece
        if (end >= 0) return
      }
    },

    /** Lets go of the source, read to its end or not. */
    async close(): Promise<void> {
      await parts.return?.()
    },

    /** Nothing but space may follow. */
    async end(): Promise<void> {
      for (;;) {
        while (at < held.length) if (!spaces.has(held[at++]!)) throw malformed()
        if (!(await more())) return
      }
    },
  }
}
