import { prose, escapeHtml } from './page.ts'
import type { JsonSchema } from '../../../core/ports/chapter.ts'

const alternativesOf = (schema: JsonSchema): readonly JsonSchema[] =>
  ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] ?? []) as readonly JsonSchema[])

const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``

const nameOf = (ref: unknown): string => String(ref).slice(String(ref).lastIndexOf('/') + 1)

/** The type in words, values in backticks: `string or null`, `array of integer`, the values of an enumeration. */
const typeOf = (schema: JsonSchema): string => {
  if (schema['$ref'] !== undefined) return code(nameOf(schema['$ref']))
  if (schema['const'] !== undefined) return code(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map(code).join(', ')
  const within = [...new Set(alternativesOf(schema).map(typeOf))]
  if (within.length > 0) return within.join(' or ')
  if (schema['type'] === 'array') return `array of ${typeOf((schema['items'] ?? {}) as JsonSchema)}`
  return [schema['type'] ?? 'any'].flat().join(' or ')
}

const bounds: Readonly<Record<string, string>> = {
  minimum: 'from',
  maximum: 'to',
  minLength: 'at least',
  maxLength: 'at most',
  minItems: 'at least',
  maxItems: 'at most',
}

const units: Readonly<Record<string, string>> = {
  minLength: ' characters',
  maxLength: ' characters',
  minItems: ' items',
  maxItems: ' items',
}

const boundsOf = (schema: JsonSchema): readonly string[] => [
  ...Object.entries(bounds).flatMap(([name, words]) =>
    schema[name] === undefined ? [] : [`${words} ${String(schema[name])}${units[name] ?? ''}`],
  ),
  ...(schema['default'] === undefined || schema['default'] === null ? [] : [`default ${code(schema['default'])}`]),
  ...alternativesOf(schema).flatMap(boundsOf),
]

interface Properties {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

/** One property or one parameter, in words that both forms of the pages print. */
export interface Field {
  readonly name: string
  /** Its type and its bounds; values stand in backticks. */
  readonly facts: readonly string[]
  readonly isRequired: boolean
  readonly words: string
  readonly groups: readonly FieldGroup[]
}

/** The fields of one object; `label` tells alternatives apart. */
export interface FieldGroup {
  readonly label: string
  readonly fields: readonly Field[]
}

/** Every object that a value of the schema may be or hold. */
const objectsIn = (schema: JsonSchema): readonly Properties[] => {
  const { properties, items, additionalProperties } = schema as Properties & Readonly<Record<string, JsonSchema>>
  const deeper = [...alternativesOf(schema), items, additionalProperties].filter((value) => typeof value === 'object')
  return [...(properties === undefined ? [] : [schema as Properties]), ...deeper.flatMap(objectsIn)]
}

/** A property that has one value alone tells alternatives apart. */
const labelOf = ({ properties = {} }: Properties): string => {
  const [name, { const: value = undefined } = {}] =
    Object.entries(properties).find(([, property]) => property['const'] !== undefined) ?? []
  return name === undefined ? '' : `where ${code(name)} is ${code(value)}`
}

/** The properties of a schema, nested as they are. */
export const groupsOf = (schema: JsonSchema): readonly FieldGroup[] => {
  const objects = objectsIn(schema)
  return objects.map((object) => ({
    label: objects.length > 1 ? labelOf(object) : '',
    fields: Object.entries(object.properties ?? {}).map(([name, property]) =>
      fieldFrom(name, property, object.required?.includes(name) ?? false),
    ),
  }))
}

/** One property, or one parameter, with what is below it. */
export const fieldFrom = (
  name: string,
  schema: JsonSchema,
  isRequired: boolean,
  words = schema['description'],
): Field => ({
  name,
  facts: [typeOf(schema), ...boundsOf(schema)],
  isRequired,
  words: typeof words === 'string' ? words : '',
  groups: groupsOf(schema),
})

/** The properties of a schema as a list; empty where it has none. */
export const fieldsOf = (schema: JsonSchema): string => listOf(groupsOf(schema))

const listOf = (groups: readonly FieldGroup[]): string => {
  const items = groups.map(({ label, fields }) => {
    const head = label === '' ? '' : `<li class="when">${prose(label)}</li>`
    return head + fields.map(itemOf).join('')
  })
  return items.join('') === '' ? '' : `<ul class="fields">${items.join('')}</ul>`
}

/** A field as an item of a list, with the fields below it. */
export const itemOf = ({ name, facts, isRequired, words, groups }: Field): string => {
  const told = [...facts.map(prose), ...(isRequired ? ['<b>required</b>'] : [])].join(' · ')
  const meaning = words === '' ? '' : `<p>${prose(words)}</p>`
  return `<li><code class="name">${escapeHtml(name)}</code> <span class="dim">${told}</span>${meaning}${listOf(groups)}</li>`
}
