import * as v from 'valibot'

/** What a schema of the routes may be made of, as far as a walk has to know. */
interface Walked {
  readonly type: string
  readonly entries?: Readonly<Record<string, v.GenericSchema>>
  readonly item?: v.GenericSchema
  readonly items?: readonly v.GenericSchema[]
  readonly key?: v.GenericSchema
  readonly value?: v.GenericSchema
  readonly wrapped?: v.GenericSchema
  readonly options?: readonly unknown[]
  readonly literal?: unknown
}

const hexOf = (bytes: number) => '0a'.repeat(bytes)

/** Among these is one for every leaf of every route; a new pattern may need another. */
const leaves: readonly unknown[] = [
  ...[
    'a',
    'chatting',
    '1',
    '30',
    'aa',
    'text/plain',
    '127.0.0.1',
    '2030-01-31',
    'auto',
    'https://example.com/',
    'KEY',
    '$KEY',
  ],
  ...[8, 24, 32, 48, 64, 101, 1088, 1120].map(hexOf),
  'a'.repeat(43),
  'file_01a20254-881f-774b-bb9a-21a31b46e190',
  ...['data:image/png;base64,iVBORw0KGgo=', 'data:video/mp4;base64,AAAA', 'en', 'eng'],
  ...[1, 2, 0, 0.5, 1_000, 1_900_000_000_000, true, null, new Uint8Array()],
]

const fits = (schema: v.GenericSchema, value: unknown): boolean => v.safeParse(schema, value).success

const leafOf = (schema: v.GenericSchema): unknown => {
  const found = leaves.find((leave) => fits(schema, leave))
  if (found === undefined) throw new Error(`The hunt knows no valid ${schema.type}: shape.ts needs another leaf`)
  return found
}

const filledArray = (schema: v.GenericSchema, item: v.GenericSchema): unknown => {
  const one = sampleOf(item)
  const made = [1, 2, 3, 4].map((count) => Array.from({ length: count }, () => one))
  return made.find((child) => fits(schema, child)) ?? made[0]
}

/** A value with every field that the schema names, and one element in each array and record. */
export const sampleOf = (schema: v.GenericSchema): unknown => {
  const { type, entries, item, items, key, value, wrapped, options, literal } = schema as unknown as Walked
  // Of an object that names none, one with a text is what most routes take.
  if (type === 'loose_object' && Object.keys(entries ?? {}).length === 0) return { text: 'a' }
  if (entries !== undefined)
    return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, sampleOf(entry)]))
  if (items !== undefined) return items.map(sampleOf)
  if (item !== undefined) return filledArray(schema, item)
  if (type === 'record') return { [String(sampleOf(key!))]: sampleOf(value!) }
  if (wrapped !== undefined) return sampleOf(wrapped)
  if (type === 'literal') return literal
  if (type === 'picklist') return options![0]
  if (type === 'union' || type === 'variant') return sampleOf(options![0] as v.GenericSchema)
  return leafOf(schema)
}

/** Where something stands in a body. */
export type Path = readonly (string | number)[]

export interface Place {
  readonly path: Path
  readonly value: unknown
}

/** The body itself, and every place in it. */
export const placesOf = (value: unknown, path: Path = []): readonly Place[] => {
  const below =
    Array.isArray(value) || typeof value !== 'object' || value === null
      ? Array.isArray(value)
        ? value.slice(0, 1).map((child, at) => [at, child] as const)
        : []
      : Object.entries(value)
  return [{ path, value }, ...below.flatMap(([name, child]) => placesOf(child, [...path, name]))]
}
