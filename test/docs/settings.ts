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
  min_value: (bound) => `at least ${bound}`,
  max_value: (bound) => `at most ${bound}`,
  gt_value: (bound) => `above ${bound}`,
  min_length: (bound) => (bound === 1 ? 'not empty' : `not shorter than ${bound}`),
  max_length: (bound) => `not longer than ${bound}`,
  regex: (bound) => `as ${bound}`,
  url: () => 'URL',
  not_value: (bound) => `not ${bound}`,
}

const isObject = ({ entries }: Schema) => entries !== undefined

/** Without what says only whether it may be left out. */
const bare = (schema: Schema): Schema => (schema.wrapped ? bare(schema.wrapped) : schema)
const mayBeNull = (schema: Schema): boolean =>
  schema.type === 'nullable' || schema.type === 'nullish' || (schema.wrapped !== undefined && mayBeNull(schema.wrapped))

/** A pipe may begin with another one. */
const actionsOf = ({ pipe = [] }: Pick<Action, 'pipe'>): readonly Action[] =>
  pipe.flatMap((action) => (action.kind === 'schema' ? actionsOf(action) : action.kind === 'validation' ? [action] : []))

const nameOf = (schema: Schema, actions: readonly Action[]): string => {
  if (schema.type === 'picklist') return schema.options!.map((option) => JSON.stringify(option)).join(', ')
  if (schema.type === 'array') return `list of ${typeOf(schema.item!)}`
  if (schema.type === 'record') return `${typeOf(schema.value!)} by name`
  if (schema.type === 'number' && actions.some(({ type }) => type === 'integer')) return 'whole number'
  if (schema.type === 'union') return [...new Set(schema.options!.map((option) => typeOf(option as Schema)))].join(' or ')
  if (schema.type === 'unknown') return 'anything'
  return isObject(schema) ? 'object' : schema.type
}

const typeOf = (schema: Schema): string => {
  const bound = bare(schema)
  const actions = actionsOf(bound)
  const rules = actions.filter(({ type }) => words[type]).map(({ type, requirement }) => words[type]!(requirement))
  return [nameOf(bound, actions), ...new Set(rules)].join(', ') + (mayBeNull(schema) ? ', or null' : '')
}

const defaultOf = (schema: Schema): string => {
  if (schema.wrapped === undefined) return 'required'
  if (schema.default !== undefined) return `\`${JSON.stringify(schema.default)}\``
  return defaultOf(schema.wrapped) === 'required' ? '' : defaultOf(schema.wrapped)
}

/** Every setting below a schema, in its order. Objects that are always there have no row of their own. */
export const rowsOf = (schema: v.GenericSchema, path = ''): readonly Row[] => below(schema as unknown as Schema, path)

const below = (schema: Schema, path: string): readonly Row[] => {
  const bound = bare(schema)
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const row = { path, type: typeOf(schema), byDefault: defaultOf(schema) }
  if (isObject(bound)) {
    const rows = Object.entries(bound.entries!).flatMap(([name, entry]) => below(entry, at(name)))
    const always = path === '' || schema.wrapped === undefined || defaultOf(schema) === '`{}`'
    return always && rows.length > 0 ? rows : [row, ...rows]
  }
  if (bound.type === 'array') return [row, ...(isObject(bare(bound.item!)) ? below(bound.item!, `${path}[]`) : [])]
  if (bound.type !== 'record') return [row]
  const nested = bare(bound.value!)
  if (nested.type === 'union')
    return [row, ...nested.options!.flatMap((option) => below(option as Schema, at(nameIn(bound.key!))))]
  const deeper = isObject(nested) || nested.type === 'record' ? below(bound.value!, at(nameIn(bound.key!))) : []
  // A record within a record is told by its own rows.
  return [row, ...(nested.type === 'record' ? deeper.slice(1) : deeper)]
}

const nameIn = (key: Schema): string => {
  const { type, options } = bare(key)
  return type === 'picklist' ? `<${options!.join(' or ')}>` : '<name>'
}

/** What stands in a table may not end its cell. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
