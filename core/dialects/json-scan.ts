import { BadRequest } from '../errors.ts'

/** The deepest nesting of containers. Readers are recursive and would overflow the stack on deeper values. */
export const deepestNesting = 128
/** Values and containers in one JSON, unless the caller says otherwise. */
export const mostElements = 100_000

export const malformed = (cause?: unknown) => new BadRequest('Malformed JSON', { cause })
export const tooDeep = () => new BadRequest('JSON is nested too deeply')
export const tooMany = () => new BadRequest('JSON has too many elements')
export const tooWide = () => new BadRequest('A JSON object has too many members')

/** What one JSON text may hold. */
export interface JsonBounds {
  readonly elements: number
  /** Members of one object. */
  readonly members: number
  /** Members of the outermost object. */
  readonly outermost: number
}

export const usualBounds: JsonBounds = { elements: mostElements, members: 4_096, outermost: 256 }
/** Of what a backend answers: its length is bounded alone. */
export const noBounds: JsonBounds = { elements: Infinity, members: Infinity, outermost: Infinity }

/** Where a member of the outermost object stands in the text. */
export interface MemberPlace {
  readonly name: number
  readonly nameEnd: number
  readonly value: number
  valueEnd: number
}

export const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c] as const
const [bracket, bracketEnd, brace, braceEnd] = [0x5b, 0x5d, 0x7b, 0x7d] as const

/** Bytes from which on a value is read in pieces. */
export const longValue = 4 * 1024
/** Bytes from which on a text is decoded by itself. */
const longText = 512
/** Bytes of a string that are looked at one by one before its end is searched natively. */
const nearBytes = 24

/**
 * A part of a long container: a run of short neighbours, or one long value with its key. All but the first begin with
 * the comma before them.
 */
export interface Piece {
  readonly from: number
  readonly to: number
  /** Where the long value begins; -1 for a run. */
  readonly value: number
}

/** A long string, or a long container with its pieces. */
export interface LongValue {
  readonly end: number
  readonly pieces: readonly Piece[]
}

export const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** A container whose end has not come. One object for each depth serves all containers there. */
class Level {
  begin = 0
  /** Members so far; -1 in an array. */
  members = 0
  /** Where the last element begins with its comma, where its colon is, and where the run begins that is not cut off yet. */
  last = 0
  colon = 0
  run = 0
  pieces: Piece[] = []
}

/**
 * One look over the bytes of a JSON text: it counts, bounds and finds places, and builds nothing. It trusts the
 * grammar, which is checked where the value is built. A class, since each body moves it byte by byte.
 */
export class JsonScan {
  readonly bytes: Buffer
  readonly bounds: JsonBounds
  at = 0
  elements = 1
  /** Members of all objects. */
  members = 0
  /** Members of the outermost object; empty where the text is none. */
  readonly outermost: MemberPlace[] = []
  /** Where each long text begins and ends, quotes among it. */
  readonly texts: number[] = []
  /** Long values by where they begin; null where there is none. */
  long: Map<number, LongValue> | null = null
  /** Where the outermost value begins and ends, as far as it is a container or a string. */
  begin = -1
  end = -1
  #depth = 0
  readonly #levels = [new Level()]
  /** Where the string begins that is being read; -1 between strings. */
  #string = -1
  #name = 0
  #nameEnd = 0

  constructor(bytes: Buffer, bounds: JsonBounds) {
    this.bytes = bytes
    this.bounds = bounds
  }

  /** Reads on until it is past `stop`. Throws BadRequest beyond a bound. */
  read(stop: number): void {
    const { bytes } = this
    const until = Math.min(stop, bytes.length)
    while (this.at < until) {
      if (this.#string >= 0) {
        if (!this.#readString(until)) return
        continue
      }
      const byte = bytes[this.at++]
      switch (byte) {
        case quote:
          this.#string = this.at - 1
          if (this.#depth === 0) this.#begins(this.#string)
          break
        case colon:
          this.#member()
          break
        case comma:
          this.#next()
          break
        case brace:
          this.#open(0)
          break
        case bracket:
          this.#open(-1)
          break
        case braceEnd:
        case bracketEnd:
          this.#shut()
          break
        default:
          if (this.end >= 0 && !isSpace(byte)) throw malformed()
      }
    }
  }

  /** Goes to the end of the string; false where that lies behind `until`. */
  #readString(until: number): boolean {
    const { bytes } = this
    let at = this.at
    for (;;) {
      for (const near = Math.min(until, at + nearBytes); at < near; at++) {
        const byte = bytes[at]
        if (byte === backslash) at++
        else if (byte === quote) return this.#stringEnds(at + 1)
      }
      if (at >= until) {
        this.at = at
        return false
      }
      const found = bytes.indexOf(quote, at)
      if (found < 0) throw malformed()
      let slashes = found
      while (slashes > at && bytes[slashes - 1] === backslash) slashes--
      at = found + 1
      if ((found - slashes) % 2 === 0) return this.#stringEnds(at)
    }
  }

  #stringEnds(end: number): true {
    const begin = this.#string
    if (this.#depth === 1) {
      this.#name = begin
      this.#nameEnd = end
    }
    this.#string = -1
    this.at = end
    if (end - begin >= longText && !this.#isKey()) this.texts.push(begin, end)
    this.#ends(begin, end, none)
    return true
  }

  /** Whether the string that has ended is the key of a member. */
  #isKey(): boolean {
    const { members, colon, last } = this.#level()
    return this.#depth > 0 && members >= 0 && colon < last
  }

  #level(): Level {
    return (this.#levels[this.#depth] ??= new Level())
  }

  #begins(at: number): void {
    if (this.begin >= 0) throw malformed()
    this.begin = at
  }

  /** A string or a container has ended, and its container is open again. */
  #ends(begin: number, end: number, pieces: readonly Piece[]): void {
    if (this.#depth === 0) this.end = end
    if (end - begin < longValue) return
    if (this.#isKey()) return
    ;(this.long ??= new Map()).set(begin, { end, pieces })
    if (this.#depth === 0) return
    const level = this.#level()
    if (level.last > level.run) level.pieces.push({ from: level.run, to: level.last, value: -1 })
    level.pieces.push({ from: level.last, to: end, value: begin })
    level.run = end
  }

  #member(): void {
    const { bounds } = this
    if (this.#depth === 0) throw malformed()
    const level = this.#level()
    const isOutermost = this.#depth === 1
    this.members++
    level.colon = this.at - 1
    if (++level.members > (isOutermost ? bounds.outermost : bounds.members)) throw tooWide()
    if (isOutermost)
      this.outermost.push({ name: this.#name, nameEnd: this.#nameEnd, value: this.at, valueEnd: this.at })
  }

  #next(): void {
    if (this.#depth === 0) throw malformed()
    if (++this.elements > this.bounds.elements) throw tooMany()
    const level = this.#level()
    const here = this.at - 1
    if (this.#depth === 1) this.#memberEnds(here)
    level.last = here
    if (here - level.run < longValue) return
    level.pieces.push({ from: level.run, to: here, value: -1 })
    level.run = here
  }

  #open(members: number): void {
    if (++this.elements > this.bounds.elements) throw tooMany()
    if (this.#depth === deepestNesting) throw tooDeep()
    const here = this.at - 1
    if (this.#depth === 0) this.#begins(here)
    this.#depth++
    const level = this.#level()
    level.begin = here
    level.members = members
    level.last = level.run = this.at
    level.colon = 0
  }

  #shut(): void {
    if (this.#depth === 0) throw malformed()
    const { begin, run, pieces } = this.#level()
    const here = this.at - 1
    if (this.#depth === 1) this.#memberEnds(here)
    if (this.at - begin >= longValue) {
      pieces.push({ from: run, to: here, value: -1 })
      this.#level().pieces = []
    }
    this.#depth--
    this.#ends(begin, this.at, pieces)
  }

  /** The last member of the outermost object ends here. */
  #memberEnds(end: number): void {
    const last = this.outermost.at(-1)
    if (last !== undefined && last.valueEnd === last.value) last.valueEnd = end
  }
}

const none: readonly Piece[] = []
