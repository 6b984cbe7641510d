import { isUtf8 } from 'node:buffer'
import { textOf } from '../../../shared/repeated-chunks.ts'

/** What differs between events in a row. */
type Hole = 'text' | 'number' | 'padding'

/** An event as bytes around its holes, in strings of Latin-1. */
interface Pieces {
  readonly around: readonly string[]
  readonly holes: readonly Hole[]
}

/** How the next events come, and how they go; null where they go on as they came. */
interface Shape {
  readonly came: Pieces
  /** The place of the text among the holes. */
  readonly text: number
  readonly goes: Written | null
}

interface Written {
  readonly around: readonly string[]
  /** By hole: the place of what fills it among the holes of the event that came; -1 for a number of the writer's own. */
  readonly places: readonly number[]
}

/** Events in a row that no later event resembled, after which a stream is only read. */
const mostStrange = 4

/**
 * Events of one stream mostly differ in a text alone. What goes out for one event is learned from it, tried on the next one,
 * and then put together for all that follow: reading and writing them anew costs many times as much.
 */
export class RepeatedEvents {
  /** The words of the event that matched last. */
  words = ''
  /** Nothing was learned of many events in a row. */
  isHopeless = false
  /** The event that matched last, where it goes on as it came. */
  #came = ''
  #shape: Shape | null = null
  #isTried = false
  #strange = 0
  readonly #filling: string[] = []

  /** Where the event that begins at this place of the bytes ends, if it repeats the last one; else -1. */
  next(bytes: string, at: number): number {
    return this.#isTried ? this.#match(bytes, at) : -1
  }

  /** What goes out for the event that matched last; the writer may number its events. */
  out(number: number | true): string {
    const goes = this.#shape?.goes
    return goes == null ? this.#came : filled(goes, this.#filling, String(number))
  }

  #match(bytes: string, at: number): number {
    if (this.#shape === null) return -1
    const { came, text, goes } = this.#shape
    const filling = this.#filling
    const end = fill(filling, came, bytes, at)
    if (end < 0) return -1
    const inside = filling[text]!
    const words = plainText.test(inside) ? inside : goes === null || !inside.includes('\\') ? wordsOf(inside) : null
    if (words === null || words === '') return -1
    this.words = words
    if (goes === null) this.#came = at === 0 && end === bytes.length ? bytes : bytes.slice(at, end)
    return end
  }

  /** Learns from an event that was read and written; `words` is the one text that the event says, null where it says more. */
  learn(event: string, words: string | null, out: string): void {
    if (this.#match(event, 0) === event.length && this.out(numberIn(out)) === out) {
      this.#isTried = true
      this.#strange = 0
    } else if (words === null || plainText.test(words) || !this.#resembles(event)) {
      this.forget()
      if (words === null || !plainText.test(words)) return
      this.#shape = shapeOf(event, words, out)
      this.isHopeless = ++this.#strange > mostStrange
    }
  }

  /** Whether an event is as the last one but for a text with escapes, which each dialect writes in its own way. */
  #resembles(event: string): boolean {
    return this.#shape !== null && fill(this.#filling, this.#shape.came, event, 0) === event.length
  }

  /** The next event must be read. */
  forget(): void {
    this.#shape = null
    this.#isTried = false
  }
}

const shapeOf = (event: string, words: string, out: string): Shape | null => {
  const came = piecesOf(event, words)
  if (came === null) return null
  const text = came.holes.indexOf('text')
  if (out === event) return { came, text, goes: null }
  const written = piecesOf(out, words)
  // The caller's dialect may leave out what the backend's has, and has nothing of its own that differs but a number.
  const isKnown = (hole: Hole): boolean => came.holes.includes(hole) !== (hole === 'number')
  if (written === null || !written.holes.every(isKnown)) return null
  return { came, text, goes: { around: written.around, places: written.holes.map((hole) => came.holes.indexOf(hole)) } }
}

/** Members whose values differ in events that are alike otherwise. */
const varied = [
  ['number', /"sequence_number":\s*(\d+)/dg],
  ['padding', /"obfuscation":\s*"([\w+/=]*)"/dg],
] as const

/** The number that an event bears; true where it bears none. */
const numberIn = (event: string): number | true => {
  const digits = /"sequence_number":\s*(\d+)/.exec(event)?.[1]
  return digits === undefined || Number(digits)
}

/** The event around its text and its varied members; null where the place of one of them is not certain. */
const piecesOf = (event: string, words: string): Pieces | null => {
  const text = `"${words}"`
  const at = event.indexOf(text)
  if (at < 0 || event.lastIndexOf(text) !== at) return null
  const places: { readonly hole: Hole; readonly from: number; readonly to: number }[] = [
    { hole: 'text', from: at + 1, to: at + 1 + words.length },
  ]
  for (const [hole, pattern] of varied) {
    const [found, more] = event.matchAll(pattern)
    if (more !== undefined) return null
    const [from, to] = found?.indices?.[1] ?? []
    if (from !== undefined && to !== undefined) places.push({ hole, from, to })
  }
  places.sort((one, other) => one.from - other.from)
  const around = places.map(({ from }, place) => event.slice(places[place - 1]?.to ?? 0, from))
  return { around: [...around, event.slice(places.at(-1)?.to)], holes: places.map(({ hole }) => hole) }
}

/** Reads what fills the holes of an event; gives its end, or -1 where the bytes are another event. */
const fill = (filling: string[], { around, holes }: Pieces, bytes: string, from: number): number => {
  let at = from
  for (let place = 0; place < holes.length; place++) {
    const before = around[place]!
    if (!bytes.startsWith(before, at)) return -1
    at += before.length
    const end = holes[place] === 'number' ? endOfDigits(bytes, at) : endOfText(bytes, at)
    if (end < 0) return -1
    filling[place] = bytes.slice(at, end)
    at = end
  }
  const last = around[holes.length]!
  return bytes.startsWith(last, at) ? at + last.length : -1
}

const filled = ({ around, places }: Written, filling: readonly string[], number: string): string => {
  let out = around[0]!
  for (let hole = 0; hole < places.length; hole++) {
    const place = places[hole]!
    out += (place < 0 ? number : filling[place]!) + around[hole + 1]!
  }
  return out
}

const endOfDigits = (bytes: string, from: number): number => {
  let at = from
  for (let code = bytes.charCodeAt(at); code >= 48 && code <= 57; code = bytes.charCodeAt(at)) at++
  return at === from ? -1 : at
}

const backslash = 92

/** The place of the quote that ends a string of JSON. */
const endOfText = (bytes: string, from: number): number => {
  for (let quote = bytes.indexOf('"', from); quote >= 0; quote = bytes.indexOf('"', quote + 1)) {
    let escape = quote
    while (escape > from && bytes.charCodeAt(escape - 1) === backslash) escape--
    if ((quote - escape) % 2 === 0) return quote
  }
  return -1
}

/** A text that is its own JSON. */
const plainText = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/

/** What the inside of a string of JSON says; null where it is none. */
const wordsOf = (inside: string): string | null => {
  const bytes = Buffer.from(inside, 'latin1')
  if (!isUtf8(bytes)) return null
  return textOf(bytes.toString('utf8'))
}

// eslint-disable-next-line no-control-regex
const ascii = /^[\x00-\x7f]*$/
/** Characters from which on Node counts bytes faster than a pattern is tried. */
const longText = 16 * 1024

const isAscii = (text: string): boolean =>
  text.length > longText ? Buffer.byteLength(text) === text.length : ascii.test(text)

/** The bytes of a text as a string of Latin-1. */
export const latinOf = (text: string): string => (isAscii(text) ? text : Buffer.from(text).toString('latin1'))
