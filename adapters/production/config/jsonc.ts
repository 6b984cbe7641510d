/** A place in a text; both numbers count from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** The text is not JSON, with or without comments. `message` describes the fault at `place`. */
export class NotJson extends Error {
  readonly place: Place

  constructor(message: string, place: Place) {
    super(message)
    this.name = 'NotJson'
    this.place = place
  }
}

/** A value and where its parts stand in the text, so that each fault can name a line. */
export interface Parsed {
  readonly value: unknown
  /** The start of the value at this path of keys, or of its nearest parent. */
  place(path: readonly (string | number)[]): Place
  /** Where the value at this path of keys stands in the text; null where there is none. */
  span(path: readonly (string | number)[]): Span | null
}

/** Characters of a text, the end not included. */
export interface Span {
  readonly from: number
  readonly to: number
}

const placeAt = (text: string, at: number): Place => {
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

/** The largest depth of nested containers. */
const deepestNesting = 200
/** Blanks, a byte order mark, and comments of both kinds. */
const space = /(?:[\s\ufeff]|\/\/[^\n]*|\/\*[^]*?\*\/)*/y
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const literal = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y

/** JSON keeps keys apart that a joined path would mix up, such as `a.b` and `a` with `b`. */
const keyOf = (path: readonly (string | number)[]): string => JSON.stringify(path.map(String))

/** A text that is being read, and what stands where in it, by paths of keys. */
interface Reading {
  readonly text: string
  at: number
  readonly places: Map<string, number>
  readonly spans: Map<string, Span>
}

/** Throws NotJson at the place of the reading. */
const fail = ({ text, at }: Reading, words: string): never => {
  throw new NotJson(words, placeAt(text, at))
}

/** The match at the place of the reading, which goes behind it; null when the pattern does not match there. */
const take = (reading: Reading, pattern: RegExp): string | null => {
  pattern.lastIndex = reading.at
  const found = pattern.exec(reading.text)?.[0] ?? null
  if (found !== null) reading.at += found.length
  return found
}

const skip = (reading: Reading) => void take(reading, space)

const expect = (reading: Reading, mark: string): void => {
  const { text } = reading
  skip(reading)
  if (text[reading.at] !== mark)
    fail(reading, reading.at >= text.length ? `the text ends where ${mark} is expected` : `${mark} is expected`)
  reading.at++
}

/** Members up to the closing mark, separated by commas. A trailing comma is allowed. */
const members = (reading: Reading, close: string, member: (index: number) => void): void => {
  reading.at++
  for (let index = 0; ; index++) {
    skip(reading)
    if (reading.text[reading.at] === close) return void reading.at++
    member(index)
    skip(reading)
    if (reading.text[reading.at] === close) continue
    expect(reading, ',')
  }
}

/** A key that stands twice is refused: JSON.parse would silently take the later value. */
const objectAt = (reading: Reading, path: readonly string[]): object => {
  const entries: [string, unknown][] = []
  const seen = new Set<string>()
  members(reading, '}', () => {
    const begin = reading.at
    const name = take(reading, string) ?? fail(reading, 'a key in double quotes is expected')
    const key = JSON.parse(name) as string
    if (seen.has(key)) {
      reading.at = begin
      fail(reading, `the key ${name} stands twice`)
    }
    seen.add(key)
    expect(reading, ':')
    const inner = [...path, key]
    skip(reading)
    const from = reading.at
    entries.push([key, valueAt(reading, inner)])
    reading.spans.set(keyOf(inner), { from, to: reading.at })
    reading.places.set(keyOf(inner), begin)
  })
  return Object.fromEntries(entries)
}

const valueAt = (reading: Reading, path: readonly string[]): unknown => {
  const { text } = reading
  skip(reading)
  if (path.length > deepestNesting) fail(reading, 'the values stand too deep within each other')
  reading.places.set(keyOf(path), reading.at)
  if (text[reading.at] === '{') return objectAt(reading, path)
  if (text[reading.at] === '[') {
    const items: unknown[] = []
    members(reading, ']', (index) => items.push(valueAt(reading, [...path, String(index)])))
    return items
  }
  const plain = take(reading, string) ?? take(reading, literal)
  return JSON.parse(
    plain ?? fail(reading, reading.at >= text.length ? 'the text ends too early' : 'a value is expected'),
  )
}

/** Reads JSON with comments and trailing commas. Throws NotJson. */
export const parseJsonc = (text: string): Parsed => {
  const reading: Reading = { text, at: 0, places: new Map(), spans: new Map() }
  const value = valueAt(reading, [])
  skip(reading)
  if (reading.at < text.length) fail(reading, 'nothing is expected behind the value')
  return {
    value,
    span: (path) => reading.spans.get(keyOf(path)) ?? null,
    place(path) {
      for (let length = path.length; ; length--) {
        const found = reading.places.get(keyOf(path.slice(0, length)))
        if (found !== undefined) return placeAt(text, found)
        if (length === 0) return { line: 1, column: 1 }
      }
    },
  }
}
