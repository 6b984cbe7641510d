import * as v from 'valibot'
import type { ShownSetting } from '../../../plugins/surfaces/admin/configuration.ts'
import { type Shape, bareShape } from './config-shape.ts'
import { isShownValue, namedMembers } from './shown-strings.ts'
import { nameIn } from './variables.ts'

/** A setting at its place. */
export interface Leaf {
  readonly path: readonly string[]
  readonly shown: ShownSetting
  /** The value for comparisons, which never leaves the process: it may be a secret. */
  readonly value: unknown
}

/** A part of a configuration. */
interface Part {
  readonly path: readonly string[]
  /** The path in the form of the lists of what is shown; null below a plugin's own settings. */
  readonly place: string | null
  readonly shape: Shape
  /** In effect, with defaults and values of variables. */
  readonly value: unknown
  /** As the file has it; undefined where the file has nothing here. */
  readonly written: unknown
}

/** The shape of a plugin's settings at a path of the configuration; null where none is known. */
export type PluginShapes = (path: readonly string[]) => Shape | null

type Members = Readonly<Record<string, unknown>>

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Members)[key] : undefined

type Place = Pick<Part, 'path' | 'value' | 'written'>

const leaf = ({ path, value, written }: Place, shown: Partial<ShownSetting>): Leaf => {
  const origin = written === undefined ? 'default' : 'written'
  return { path, shown: { origin, content: 'hidden', value: null, variable: null, set: null, ...shown }, value }
}

/** Whether a key is a plain word, as names of settings and of headers are. */
const isPlainKey = (key: string): boolean => /^[A-Za-z][\w-]{0,63}$/.test(key)

const variableLeaf = (place: Place, variable: string): Leaf =>
  leaf(place, { origin: 'variable', variable, set: place.value !== undefined })

/** The variables of a part without a known shape. */
const variablesIn = ({ path, value, written }: Place): readonly Leaf[] => {
  const name = nameIn(written)
  if (name !== null) return [variableLeaf({ path, value, written }, name)]
  if (typeof written !== 'object' || written === null) return []
  return Object.keys(written).flatMap((key) =>
    isPlainKey(key) || Array.isArray(written)
      ? variablesIn({ path: [...path, key], value: memberOf(value, key), written: memberOf(written, key) })
      : [],
  )
}

/** A part without a known shape shows its variables, and that there is something. */
const hidden = (place: Place): readonly Leaf[] => [
  ...variablesIn(place).filter(({ path }) => path.length > place.path.length),
  leaf(place, {}),
]

const below = (place: string | null, key: string): string | null =>
  place === null ? null : place === '' ? key : `${place}.${key}`

const child = ({ path, value, written }: Part, key: string, shape: Shape, place: string | null): Part => ({
  path: [...path, key],
  place,
  shape,
  value: memberOf(value, key),
  written: memberOf(written, key),
})

/** The shape among the alternatives that takes the value. */
const fitting = (shape: Shape, value: unknown): Shape => {
  const bare = bareShape(shape)
  if (bare.type !== 'union') return bare
  const taker = bare.options?.find((option) => v.safeParse(option as Shape, value).success)
  return taker === undefined ? bare : fitting(taker as Shape, value)
}

/** The part of an object that has these keys alone. */
const only = (value: unknown, keys: readonly string[]): Members =>
  Object.fromEntries(keys.map((key) => [key, memberOf(value, key)]))

/** The members that a shape knows, and then the others. */
const splitKeys = (keys: readonly string[], entries: object): readonly [readonly string[], readonly string[]] => [
  keys.filter((key) => Object.hasOwn(entries, key)),
  keys.filter((key) => !Object.hasOwn(entries, key)),
]

/** The members that our own shape does not know, as settings of the plugin that stands here. */
const pluginLeaves = (part: Part, keys: readonly string[], shapes: PluginShapes): readonly Leaf[] => {
  const value = only(part.value, keys)
  const shape = shapes(part.path)
  const { entries = {} } = shape === null ? {} : fitting(shape, value)
  const [known, others] = splitKeys(keys, entries)
  const written = only(part.written, others)
  return [
    ...entryLeaves(part, known, entries, () => null, shapes),
    ...(others.length === 0 ? [] : hidden({ path: part.path, value: only(value, others), written })),
  ]
}

const entryLeaves = (
  part: Part,
  keys: readonly string[],
  entries: Readonly<Record<string, Shape>>,
  placeOf: (key: string) => string | null,
  shapes: PluginShapes,
): readonly Leaf[] =>
  keys.flatMap((key) => {
    const shape = entries[key]
    return shape === undefined ? [] : leavesOf(child(part, key, shape, placeOf(key)), shapes)
  })

const objectLeaves = (part: Part, shapes: PluginShapes): readonly Leaf[] => {
  const { shape, place, value } = part
  const keys = Object.keys(value as object)
  if (keys.length === 0) return [leaf(part, { content: 'empty' })]
  const { entries } = shape
  if (entries !== undefined) {
    const [own, others] = splitKeys(keys, entries)
    return [
      ...entryLeaves(part, own, entries, (key) => below(place, key), shapes),
      ...pluginLeaves(part, others, shapes),
    ]
  }
  const { value: of, key: named } = shape
  const isNamed = (place !== null && namedMembers.has(place)) || (named !== undefined && named.type === 'picklist')
  if (of === undefined || !isNamed) return hidden(part)
  return keys.flatMap((key) => leavesOf(child(part, key, of, below(place, '*')), shapes))
}

/** The settings of a part of a configuration, each with as much of it as operators see. */
const leavesOf = (given: Part, shapes: PluginShapes): readonly Leaf[] => {
  const { value, written, place } = given
  if (value === undefined) return []
  const name = nameIn(written)
  if (name !== null) return [variableLeaf(given, name)]
  const part = { ...given, shape: fitting(given.shape, value) }
  if (Array.isArray(value)) {
    const { item } = part.shape
    if (item === undefined) return hidden(part)
    if (value.length === 0) return [leaf(part, { content: 'empty' })]
    return value.flatMap((_, at) => leavesOf(child(part, String(at), item, below(place, '*')), shapes))
  }
  if (typeof value === 'object' && value !== null) return objectLeaves(part, shapes)
  const isShown = isShownValue(value, given.shape, place)
  return [leaf(part, isShown ? { content: 'value', value: value as ShownSetting['value'] } : {})]
}

/**
 * All settings of a configuration. Numbers, flags, members of lists of words, names and plain addresses are shown, as far
 * as our own shape or that of a plugin of this package tells them apart. Everything else is hidden.
 */
export const shownSettings = (
  shape: v.GenericSchema,
  value: object,
  written: object,
  shapes: PluginShapes,
): readonly Leaf[] => leavesOf({ path: [], place: '', shape: shape as Shape, value, written }, shapes)
