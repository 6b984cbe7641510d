import { fromHex } from '../wire/bytes.ts'

/** A member of a policy or of a list of releases that is missing, unknown or malformed. */
export class Misshapen extends Error {
  readonly path: string

  constructor(path: string, wanted: string) {
    super(`${path || 'the document'} is ${wanted}`)
    this.name = 'Misshapen'
    this.path = path
  }
}

/** Reads a value at a path. Throws `Misshapen`. */
export type Reader<T> = (value: unknown, path: string) => T

/** A reader for each member of an object. */
type Members = Readonly<Record<string, Reader<unknown>>>
type Read<M extends Members> = { readonly [K in keyof M]: M[K] extends Reader<infer T> ? T : never }

/** An object with these members only. An absent member is read as undefined. */
export const object =
  <M extends Members>(members: M): Reader<Read<M>> =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Misshapen(path, 'no object')
    for (const name of Object.keys(value))
      if (!Object.hasOwn(members, name)) throw new Misshapen(join(path, name), 'unknown')
    const own = (name: string): unknown =>
      Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    return Object.fromEntries(
      Object.entries(members).map(([name, read]) => [name, read(own(name), join(path, name))]),
    ) as Read<M>
  }

/** An object with at least these members. */
export const anObject =
  <M extends Members>(members: M): Reader<Read<M>> =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Misshapen(path, 'no object')
    const known = Object.entries(value).filter(([name]) => Object.hasOwn(members, name))
    return object(members)(Object.fromEntries(known), path)
  }

/** The path of a member, as a message shows it. */
const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** Undefined when the member is absent. Null is no absence, and the reader refuses it. */
export const optional =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (value, path) =>
    value === undefined ? undefined : read(value, path)

/** `least` and `most` are inclusive. */
export const list =
  <T>(read: Reader<T>, least = 0, most = 1024): Reader<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value) || value.length < least || value.length > most)
      throw new Misshapen(path, `no list of ${least} to ${most}`)
    return value.map((item: unknown, at) => read(item, `${path}[${at}]`))
  }

/** `least` and `most` count UTF-16 units, both inclusive. */
export const text =
  (least = 1, most = 1024): Reader<string> =>
  (value, path) => {
    if (typeof value !== 'string' || value.length < least || value.length > most) throw new Misshapen(path, 'no text')
    return value
  }

/** One of these texts exactly. */
export const oneOf =
  <const T extends string>(...names: readonly T[]): Reader<T> =>
  (value, path) => {
    const found = names.find((name) => name === value)
    if (found === undefined) throw new Misshapen(path, `none of ${names.join(', ')}`)
    return found
  }

/** An integer; `least` and `most` are inclusive. */
export const whole =
  (least: number, most: number): Reader<number> =>
  (value, path) => {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
      throw new Misshapen(path, `no whole number from ${least} to ${most}`)
    return value as number
  }

/** Hex of one of these sizes in bytes. Upper case is converted to lower case. */
export const hexOf =
  (...sizes: readonly number[]): Reader<string> =>
  (value, path) => {
    const lower = typeof value === 'string' ? value.toLowerCase() : ''
    if (!sizes.includes(lower.length / 2) || fromHex(lower, lower.length / 2) === null)
      throw new Misshapen(path, `no hex of ${sizes.join(' or ')} bytes`)
    return lower
  }

/** Bytes from hex in either case. */
export const upperHex =
  (size: number): Reader<Uint8Array> =>
  (value, path) =>
    fromHex(hexOf(size)(value, path), size)!

/** A day as YYYY-MM-DD: the first ms after the day, in UTC. */
export const lastDay: Reader<number> = (value, path) => {
  const begin = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(begin) || new Date(begin).toISOString().slice(0, 10) !== value)
    throw new Misshapen(path, 'no day as YYYY-MM-DD')
  return begin + 86_400_000
}
