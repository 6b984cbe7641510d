import { BadRequest } from '../errors.ts'
import type { OrderedJson } from '../ports/upstream.ts'

/** The deepest nesting of containers. The parser refuses deeper values, since recursive readers would overflow the stack. */
const deepestNesting = 128
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const control = /[\u0000-\u001f]/

/** Values and containers in one JSON, unless the caller says otherwise. */
export const mostElements = 100_000

const malformed = (cause?: unknown) => new BadRequest('Malformed JSON', { cause })
const tooDeep = () => new BadRequest('JSON is nested too deeply')
const tooMany = () => new BadRequest('JSON has too many elements')

/** JSON of RFC 8259 whose objects become Maps in the order sent. Throws BadRequest, also for a key that stands twice in one object. */
export const readOrdered = (text: string, most = mostElements): OrderedJson => {
  let elements = 0
  const open: (OrderedJson[] | Map<string, OrderedJson>)[] = []
  const keys: string[] = []
  let at = 0
  // The next backslash at or behind `at`: looked up once for many strings, so that a text without any is not searched again and again.
  let slash = -1

  const space = (): number => {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return code
      at++
    }
  }

  const string = (): string => {
    const start = ++at
    let end = text.indexOf('"', start)
    if (end < 0) throw malformed()
    if (slash < start) slash = find('\\', start)
    if (slash > end) {
      at = end + 1
      const plain = text.slice(start, end)
      if (control.test(plain)) throw malformed()
      return plain
    }
    while (slash < end) {
      const behind = slash + 2
      if (end < behind) end = text.indexOf('"', behind)
      if (end < 0) throw malformed()
      slash = find('\\', behind)
    }
    at = end + 1
    return parsed(text.slice(start - 1, at)) as string
  }

  const find = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from)
    return found < 0 ? Infinity : found
  }

  const key = (into: Map<string, OrderedJson>): string => {
    if (space() !== 34) throw malformed()
    const name = string()
    if (into.has(name)) twice(name)
    if (space() !== 58) throw malformed()
    at++
    return name
  }

  const word = (it: string, value: null | boolean): null | boolean => {
    if (!text.startsWith(it, at)) throw malformed()
    at += it.length
    return value
  }

  const scalar = (code: number): null | boolean | number | string => {
    if (code === 34) return string()
    if (code === 116) return word('true', true)
    if (code === 102) return word('false', false)
    if (code === 110) return word('null', null)
    number.lastIndex = at
    const digits = number.exec(text)
    if (!digits) throw malformed()
    at = number.lastIndex
    return Number(digits[0])
  }

  for (;;) {
    const code = space()
    let value: OrderedJson
    if (++elements > most) throw tooMany()
    if (code === 123 || code === 91) {
      if (open.length === deepestNesting) throw tooDeep()
      at++
      const made = code === 123 ? new Map<string, OrderedJson>() : []
      if (space() !== code + 2) {
        open.push(made)
        keys.push(made instanceof Map ? key(made) : '')
        continue
      }
      at++
      value = made
    } else {
      value = scalar(code)
    }
    // The value is whole: put it where it belongs, and close whatever ends behind it.
    for (;;) {
      const into = open.at(-1)
      const next = space()
      if (!into) {
        if (at < text.length) throw malformed()
        return value
      }
      const ordered = into instanceof Map
      if (ordered) into.set(keys.at(-1)!, value)
      else into.push(value)
      at++
      if (next === 44) {
        if (ordered) keys[keys.length - 1] = key(into)
        break
      }
      if (next !== (ordered ? 125 : 93)) throw malformed()
      value = into
      open.pop()
      keys.pop()
    }
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed(cause)
  }
}

/** `JSON.parse` with the faults and the depth of `readOrdered`; of equal keys the last one counts. */
export const readPlain = (text: string, most = mostElements): unknown => {
  if (text.length > shortLength) survey(text, most)
  const value = parsed(text)
  if (holds(value)) measure(value, deepestNesting)
  return value
}

/** Throws BadRequest for a key that one object has twice. */
export const twice = (name: string): never => {
  throw new BadRequest('A key stands twice in one JSON object', {
    validator: { [name.slice(0, 100)]: 'Expected once' },
  })
}

/** Text of this length can't have enough brackets and commas to cost much. */
const shortLength = 16_384

/** Throws for brackets that are nested too deep and for too many values, before anything is made of them. */
const survey = (text: string, most: number): void => {
  const mark = /["[\]{},]/g
  let depth = 0
  let elements = 1
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const [it] = found
    if (it === '"') mark.lastIndex = endOfString(text, found.index)
    else if (it === ']' || it === '}') depth--
    else {
      if (++elements > most) throw tooMany()
      if (it !== ',' && ++depth > deepestNesting) throw tooDeep()
    }
  }
}

/** Behind the quote that ends the string which begins there. */
export const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text[before - 1] === '\\') before -= 1
    if ((quote - before) % 2 === 0) return quote + 1
  }
  return text.length
}

/** Throws when something in it is nested more than `left` deep, and goes no deeper itself. */
const measure = (value: object, left: number): void => {
  if (left === 0) throw tooDeep()
  if (Array.isArray(value)) {
    for (const it of value) if (holds(it)) measure(it, left - 1)
  } else {
    for (const name in value) {
      const it: unknown = value[name as keyof typeof value]
      if (holds(it)) measure(it, left - 1)
    }
  }
}

const holds = (value: unknown): value is object => typeof value === 'object' && value !== null

/** JSON text; Maps, however deep, become objects in their own order, and numbers keep every digit. */
export const print = (value: unknown): string => (holdsMap(value) ? write(value) : (JSON.stringify(value) ?? 'null'))

const holdsMap = (value: unknown): boolean => {
  if (!holds(value)) return false
  return value instanceof Map || (Array.isArray(value) ? value : Object.values(value)).some(holdsMap)
}

const write = (value: unknown): string => {
  if (!holds(value) || 'toJSON' in value) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(write).join()}]`
  const fields: string[] = []
  for (const [name, it] of value instanceof Map ? value : Object.entries(value)) {
    if (it !== undefined) fields.push(`${JSON.stringify(name)}:${write(it)}`)
  }
  return `{${fields.join()}}`
}
