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
const take = (it: Reading, pattern: RegExp): string | null => {
  pattern.lastIndex = it.at
  const found = pattern.exec(it.text)?.[0] ?? null
  if (found !== null) it.at += found.length
  return found
}

const skip = (it: Reading) => void take(it, space)

const expect = (it: Reading, mark: string): void => {
  const { text } = it
  skip(it)
  if (text[it.at] !== mark)
    fail(it, it.at >= text.length ? `the text ends where ${mark} is expected` : `${mark} is expected`)
  it.at++
}

/** Members up to the closing mark, separated by commas. A trailing comma is allowed. */
const members = (it: Reading, close: string, member: (index: number) => void): void => {
  it.at++
  for (let index = 0; ; index++) {
    skip(it)
    if (it.text[it.at] === close) return void it.at++
    member(index)
    skip(it)
    if (it.text[it.at] === close) continue
    expect(it, ',')
  }
}

/** A key that stands twice is refused: JSON.parse would silently take the later value. */
const objectAt = (it: Reading, path: readonly string[]): object => {
  const entries: [string, unknown][] = []
  const seen = new Set<string>()
  members(it, '}', () => {
    const begin = it.at
    const name = take(it, string) ?? fail(it, 'a key in double quotes is expected')
    const key = JSON.parse(name) as string
    if (seen.has(key)) {
      it.at = begin
      fail(it, `the key ${name} stands twice`)
    }
    seen.add(key)
    expect(it, ':')
    const inner = [...path, key]
    skip(it)
    const from = it.at
    entries.push([key, valueAt(it, inner)])
    it.spans.set(keyOf(inner), { from, to: it.at })
    it.places.set(keyOf(inner), begin)
  })
  return Object.fromEntries(entries)
}

const valueAt = (it: Reading, path: readonly string[]): unknown => {
  const { text } = it
  skip(it)
  if (path.length > deepestNesting) fail(it, 'the values stand too deep within each other')
  it.places.set(keyOf(path), it.at)
  if (text[it.at] === '{') return objectAt(it, path)
  if (text[it.at] === '[') {
    const items: unknown[] = []
    members(it, ']', (index) => items.push(valueAt(it, [...path, String(index)])))
    return items
  }
  const plain = take(it, string) ?? take(it, literal)
  return JSON.parse(plain ?? fail(it, it.at >= text.length ? 'the text ends too early' : 'a value is expected'))
}

/** Reads JSON with comments and trailing commas. Throws NotJson. */
export const parseJsonc = (text: string): Parsed => {
  const it: Reading = { text, at: 0, places: new Map(), spans: new Map() }
  const value = valueAt(it, [])
  skip(it)
  if (it.at < text.length) fail(it, 'nothing is expected behind the value')
  return {
    value,
    span: (path) => it.spans.get(keyOf(path)) ?? null,
    place(path) {
      for (let length = path.length; ; length--) {
        const found = it.places.get(keyOf(path.slice(0, length)))
        if (found !== undefined) return placeAt(text, found)
        if (length === 0) return { line: 1, column: 1 }
      }
    },
  }
}
