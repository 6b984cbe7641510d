import { prose, escapeHtml } from './page.ts'
import type { JsonSchema } from './reference.ts'

const alternativesOf = (schema: JsonSchema): readonly JsonSchema[] =>
  ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] ?? []) as readonly JsonSchema[])

const code = (value: unknown): string =>
  `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`

const nameOf = (ref: unknown): string => String(ref).slice(String(ref).lastIndexOf('/') + 1)

/** The type in words: `string or null`, `array of integer`, the values of an enumeration. */
const typeOf = (schema: JsonSchema): string => {
  if (schema['$ref'] !== undefined) return code(nameOf(schema['$ref']))
  if (schema['const'] !== undefined) return code(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map(code).join(', ')
  const within = [...new Set(alternativesOf(schema).map(typeOf))]
  if (within.length > 0) return within.join(' or ')
  if (schema['type'] === 'array') return `array of ${typeOf((schema['items'] ?? {}) as JsonSchema)}`
  return escapeHtml([schema['type'] ?? 'any'].flat().join(' or '))
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

interface Object {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

/** Every object that a value of the schema may be or hold. */
const objectsIn = (schema: JsonSchema): readonly Object[] => {
  const { properties, items, additionalProperties } = schema as Object & Readonly<Record<string, JsonSchema>>
  const deeper = [...alternativesOf(schema), items, additionalProperties].filter((it) => typeof it === 'object')
  return [...(properties === undefined ? [] : [schema as Object]), ...deeper.flatMap(objectsIn)]
}

/** A property that has one value alone tells alternatives apart. */
const labelOf = ({ properties = {} }: Object): string => {
  const [name, { const: value = undefined } = {}] =
    Object.entries(properties).find(([, it]) => it['const'] !== undefined) ?? []
  return name === undefined ? '' : `<li class="when">where ${code(name)} is ${code(value)}</li>`
}

/** The properties of a schema as a list, nested as they are; empty where it has none. */
export const fieldsOf = (schema: JsonSchema): string => {
  const objects = objectsIn(schema)
  const items = objects.map((it) => (objects.length > 1 ? labelOf(it) : '') + propertiesOf(it)).join('')
  return items === '' ? '' : `<ul class="fields">${items}</ul>`
}

const propertiesOf = ({ properties = {}, required = [] }: Object): string =>
  Object.entries(properties)
    .map(([name, schema]) => fieldOf(name, schema, required.includes(name)) + '')
    .join('')

/** One property, or one parameter, with what is below it. */
export const fieldOf = (
  name: string,
  schema: JsonSchema,
  isRequired: boolean,
  words = schema['description'],
): string => {
  const facts = [typeOf(schema), ...boundsOf(schema), ...(isRequired ? ['<b>required</b>'] : [])].join(' · ')
  const meaning = typeof words === 'string' ? `<p>${prose(words)}</p>` : ''
  return `<li><code class="name">${escapeHtml(name)}</code> <span class="dim">${facts}</span>${meaning}${fieldsOf(schema)}</li>`
}
