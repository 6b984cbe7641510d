import * as v from 'valibot'

/** One setting, as a table shows it. */
export interface Row {
  /** Dots between levels, `<name>` for a name that the operator chooses, `[]` for each of a list. */
  readonly path: string
  readonly type: string
  readonly byDefault: string
}

interface Action {
  readonly kind: string
  readonly type: string
  readonly requirement?: unknown
  readonly pipe?: readonly Action[]
}

// As much of a schema as a table needs; valibot has a type for each kind and none for all.
interface Schema {
  readonly type: string
  readonly pipe?: readonly Action[]
  readonly wrapped?: Schema
  readonly default?: unknown
  readonly entries?: Readonly<Record<string, Schema>>
  readonly item?: Schema
  readonly key?: Schema
  readonly value?: Schema
  readonly options?: readonly unknown[]
}

const words: Readonly<Record<string, (requirement: unknown) => string>> = {
  min_value: (it) => `at least ${it}`,
  max_value: (it) => `at most ${it}`,
  gt_value: (it) => `above ${it}`,
  min_length: (it) => (it === 1 ? 'not empty' : `not shorter than ${it}`),
  max_length: (it) => `not longer than ${it}`,
  regex: (it) => `as ${it}`,
  url: () => 'URL',
  not_value: (it) => `not ${it}`,
}

const isObject = ({ entries }: Schema) => entries !== undefined

/** Without what says only whether it may be left out. */
const bare = (it: Schema): Schema => (it.wrapped ? bare(it.wrapped) : it)
const mayBeNull = (it: Schema): boolean =>
  it.type === 'nullable' || it.type === 'nullish' || (it.wrapped !== undefined && mayBeNull(it.wrapped))

/** A pipe may begin with another one. */
const actionsOf = ({ pipe = [] }: Pick<Action, 'pipe'>): readonly Action[] =>
  pipe.flatMap((it) => (it.kind === 'schema' ? actionsOf(it) : it.kind === 'validation' ? [it] : []))

const nameOf = (it: Schema, actions: readonly Action[]): string => {
  if (it.type === 'picklist') return it.options!.map((option) => JSON.stringify(option)).join(', ')
  if (it.type === 'array') return `list of ${typeOf(it.item!)}`
  if (it.type === 'record') return `${typeOf(it.value!)} by name`
  if (it.type === 'number' && actions.some(({ type }) => type === 'integer')) return 'whole number'
  if (it.type === 'union') return [...new Set(it.options!.map((option) => typeOf(option as Schema)))].join(' or ')
  if (it.type === 'unknown') return 'anything'
  return isObject(it) ? 'object' : it.type
}

const typeOf = (schema: Schema): string => {
  const it = bare(schema)
  const actions = actionsOf(it)
  const rules = actions.filter(({ type }) => words[type]).map(({ type, requirement }) => words[type]!(requirement))
  return [nameOf(it, actions), ...new Set(rules)].join(', ') + (mayBeNull(schema) ? ', or null' : '')
}

const defaultOf = (it: Schema): string => {
  if (it.wrapped === undefined) return 'required'
  if (it.default !== undefined) return `\`${JSON.stringify(it.default)}\``
  return defaultOf(it.wrapped) === 'required' ? '' : defaultOf(it.wrapped)
}

/** Every setting below a schema, in its order. Objects that are always there have no row of their own. */
export const rowsOf = (schema: v.GenericSchema, path = ''): readonly Row[] => below(schema as unknown as Schema, path)

const below = (schema: Schema, path: string): readonly Row[] => {
  const it = bare(schema)
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const row = { path, type: typeOf(schema), byDefault: defaultOf(schema) }
  if (isObject(it)) {
    const rows = Object.entries(it.entries!).flatMap(([name, entry]) => below(entry, at(name)))
    const always = path === '' || schema.wrapped === undefined || defaultOf(schema) === '`{}`'
    return always && rows.length > 0 ? rows : [row, ...rows]
  }
  if (it.type === 'array') return [row, ...(isObject(bare(it.item!)) ? below(it.item!, `${path}[]`) : [])]
  if (it.type !== 'record') return [row]
  const nested = bare(it.value!)
  if (nested.type === 'union')
    return [row, ...nested.options!.flatMap((option) => below(option as Schema, at(nameIn(it.key!))))]
  const deeper = isObject(nested) || nested.type === 'record' ? below(it.value!, at(nameIn(it.key!))) : []
  // A record within a record is told by its own rows.
  return [row, ...(nested.type === 'record' ? deeper.slice(1) : deeper)]
}

const nameIn = (key: Schema): string => {
  const { type, options } = bare(key)
  return type === 'picklist' ? `<${options!.join(' or ')}>` : '<name>'
}

/** What stands in a table may not end its cell. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
