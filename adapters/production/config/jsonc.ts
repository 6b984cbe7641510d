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
const space = /(?:[\s\ufeff]|\/\/[^\n]*|\/\*[^]*?\*\/)*/y
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const literal = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y

const keyOf = (path: readonly (string | number)[]): string => JSON.stringify(path.map(String))

/** Reads JSON with comments and trailing commas. Throws NotJson. */
export const parseJsonc = (text: string): Parsed => {
  const places = new Map<string, number>()
  const spans = new Map<string, Span>()
  let at = 0

  const fail = (words: string): never => {
    throw new NotJson(words, placeAt(text, at))
  }
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? null
    if (found !== null) at += found.length
    return found
  }
  const skip = () => void take(space)
  const expect = (mark: string) => {
    skip()
    if (text[at] !== mark) fail(at >= text.length ? `the text ends where ${mark} is expected` : `${mark} is expected`)
    at++
  }

  /** Members up to the closing mark, separated by commas. A trailing comma is allowed. */
  const members = (close: string, member: (index: number) => void): void => {
    at++
    for (let index = 0; ; index++) {
      skip()
      if (text[at] === close) return void at++
      member(index)
      skip()
      if (text[at] === close) continue
      expect(',')
    }
  }

  const object = (path: readonly string[]): object => {
    const entries: [string, unknown][] = []
    const seen = new Set<string>()
    members('}', () => {
      const begin = at
      const name = take(string) ?? fail('a key in double quotes is expected')
      const key = JSON.parse(name) as string
      if (seen.has(key)) {
        at = begin
        fail(`the key ${name} stands twice`)
      }
      seen.add(key)
      expect(':')
      const inner = [...path, key]
      skip()
      const from = at
      entries.push([key, value(inner)])
      spans.set(keyOf(inner), { from, to: at })
      places.set(keyOf(inner), begin)
    })
    return Object.fromEntries(entries)
  }

  const value = (path: readonly string[]): unknown => {
    skip()
    if (path.length > deepestNesting) fail('the values stand too deep within each other')
    places.set(keyOf(path), at)
    if (text[at] === '{') return object(path)
    if (text[at] === '[') {
      const items: unknown[] = []
      members(']', (index) => items.push(value([...path, String(index)])))
      return items
    }
    const plain = take(string) ?? take(literal)
    if (plain === null) fail(at >= text.length ? 'the text ends too early' : 'a value is expected')
    return JSON.parse(plain!)
  }

  const whole = value([])
  skip()
  if (at < text.length) fail('nothing is expected behind the value')
  return {
    value: whole,
    span: (path) => spans.get(keyOf(path)) ?? null,
    place(path) {
      for (let length = path.length; ; length--) {
        const found = places.get(keyOf(path.slice(0, length)))
        if (found !== undefined) return placeAt(text, found)
        if (length === 0) return { line: 1, column: 1 }
      }
    },
  }
}
