import { BadRequest } from '../errors.ts'
import { LongNumber, type OrderedJson } from '../ports/decide.ts'
import { deepestNesting, malformed, mostElements, tooDeep, tooMany } from './json-scan.ts'

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
export const control = /[\u0000-\u001f]/

/** A text that is being read. */
interface Reading {
  readonly text: string
  at: number
  /**
   * The next backslash at or behind `at`: looked up once for many strings, so that a text without any is not searched
   * again and again.
   */
  slash: number
  /** Whether a key that stands twice is refused; else its last value counts. */
  readonly isStrict: boolean
}

/** Goes to the next character that is no space, and gives its code; NaN at the end. */
const space = (reading: Reading): number => {
  for (;;) {
    const code = reading.text.charCodeAt(reading.at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return code
    reading.at++
  }
}

const find = (text: string, mark: string, from: number): number => {
  const found = text.indexOf(mark, from)
  return found < 0 ? Infinity : found
}

const string = (reading: Reading): string => {
  const { text } = reading
  const start = ++reading.at
  let end = text.indexOf('"', start)
  if (end < 0) throw malformed()
  if (reading.slash < start) reading.slash = find(text, '\\', start)
  if (reading.slash > end) {
    reading.at = end + 1
    const plain = text.slice(start, end)
    if (control.test(plain)) throw malformed()
    return plain
  }
  while (reading.slash < end) {
    const behind = reading.slash + 2
    if (end < behind) end = text.indexOf('"', behind)
    if (end < 0) throw malformed()
    reading.slash = find(text, '\\', behind)
  }
  reading.at = end + 1
  return parsed(text.slice(start - 1, reading.at)) as string
}

const key = (reading: Reading, into: Map<string, OrderedJson>): string => {
  if (space(reading) !== 34) throw malformed()
  const name = string(reading)
  if (reading.isStrict && into.has(name)) twice(name)
  if (space(reading) !== 58) throw malformed()
  reading.at++
  return name
}

const word = (reading: Reading, expected: string, value: null | boolean): null | boolean => {
  if (!reading.text.startsWith(expected, reading.at)) throw malformed()
  reading.at += expected.length
  return value
}

const scalar = (reading: Reading, code: number): OrderedJson => {
  if (code === 34) return string(reading)
  if (code === 116) return word(reading, 'true', true)
  if (code === 102) return word(reading, 'false', false)
  if (code === 110) return word(reading, 'null', null)
  number.lastIndex = reading.at
  const digits = number.exec(reading.text)
  if (!digits) throw malformed()
  reading.at = number.lastIndex
  const value = Number(digits[0])
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || `${value}` === digits[0] ? value : new LongNumber(digits[0])
}

/** A list or an object whose end has not come, with the key whose value comes next. */
interface Open {
  readonly into: OrderedJson[] | Map<string, OrderedJson>
  key: string
}

/** JSON of RFC 8259 whose objects become Maps in the order sent. Throws BadRequest; where it is strict, for a key that stands twice too. */
export const readOrdered = (text: string, most = mostElements, isStrict = true): OrderedJson => {
  const reading: Reading = { text, at: 0, slash: -1, isStrict }
  const open: Open[] = []
  let elements = 0
  for (;;) {
    const code = space(reading)
    let value: OrderedJson
    if (++elements > most) throw tooMany()
    if (code === 123 || code === 91) {
      if (open.length === deepestNesting) throw tooDeep()
      reading.at++
      const into = code === 123 ? new Map<string, OrderedJson>() : []
      if (space(reading) !== code + 2) {
        open.push({ into, key: into instanceof Map ? key(reading, into) : '' })
        continue
      }
      reading.at++
      value = into
    } else {
      value = scalar(reading, code)
    }
    const root = placed(reading, open, value)
    if (root !== undefined) return root
  }
}

/** Puts a whole value where it belongs, and closes whatever ends behind it; undefined while a container is open. */
const placed = (reading: Reading, open: Open[], whole: OrderedJson): OrderedJson | undefined => {
  let value = whole
  for (;;) {
    const within = open.at(-1)
    const next = space(reading)
    if (!within) {
      if (reading.at < reading.text.length) throw malformed()
      return value
    }
    const { into } = within
    const ordered = into instanceof Map
    if (ordered) into.set(within.key, value)
    else into.push(value)
    reading.at++
    if (next === 44) {
      if (ordered) within.key = key(reading, into)
      return undefined
    }
    if (next !== (ordered ? 125 : 93)) throw malformed()
    value = into
    open.pop()
  }
}

/** The JSON parser of Node 24 and 26 takes a name with an escape for another name that it read before (nodejs/node#63785). */
const [, reread] = ['{"misread":0,"\\\\":0}', '{"misread":0,"\\"":0}'].map((text) => JSON.parse(text) as object)
const misreads = !('"' in reread!)

/** Whether a JSON writes a name with an escape: a colon stands behind the rest of the string, from its first backslash on. */
export const hasEscapedName = (text: string): boolean =>
  text.includes('\\') && Array.from(text.matchAll(/(?:\\.[^"\\]*)+(?:"\s*(:?))?/gs), ([, colon]) => colon).includes(':')

/** Maps, however deep, as objects. */
export const plainOf = (value: OrderedJson): unknown => {
  if (Array.isArray(value)) return value.map(plainOf)
  if (value instanceof LongNumber) return Number(value)
  return value instanceof Map ? Object.fromEntries([...value].map(([name, member]) => [name, plainOf(member)])) : value
}

/** The value of a JSON text. Throws BadRequest for what is none. */
export const parsed = (text: string): unknown => {
  if (misreads && hasEscapedName(text)) return plainOf(readOrdered(text, Infinity, false))
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed(cause)
  }
}

/** Throws BadRequest for a key that one object has twice. */
export const twice = (name: string): never => {
  throw new BadRequest('A key stands twice in one JSON object', {
    validator: { [name.slice(0, 100)]: 'Expected once' },
  })
}

const holds = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Members of all objects in a value. */
export const membersIn = (value: unknown): number => {
  if (!holds(value)) return 0
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += holds(item) ? membersIn(item) : 0
  else
    for (const name in value) {
      const member: unknown = value[name as keyof typeof value]
      count += 1 + (holds(member) ? membersIn(member) : 0)
    }
  return count
}

/** JSON text; Maps, however deep, become objects in their own order, and numbers keep every digit. */
export const print = (value: unknown): string => (isOrdered(value) ? write(value) : (JSON.stringify(value) ?? 'null'))

const isOrdered = (value: unknown): boolean => {
  if (!holds(value)) return false
  if (value instanceof Map || value instanceof LongNumber) return true
  return (Array.isArray(value) ? value : Object.values(value)).some(isOrdered)
}

const write = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(write).join()}]`
  if (value instanceof LongNumber) return value.toString()
  if (!holds(value) || (!(value instanceof Map) && 'toJSON' in value)) return JSON.stringify(value) ?? 'null'
  let members = ''
  for (const [name, member] of value instanceof Map ? value : Object.entries(value)) {
    if (member !== undefined) members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${write(member)}`
  }
  return `{${members}}`
}
