import type { JsonSchema, Sentences } from '../../../core/ports/chapter.ts'

/** The sentence of the longest known end of the path, from the first table that has any; undefined where none has. */
export const sentenceFor = (path: readonly string[], tables: readonly Sentences[]): string | undefined => {
  for (const words of tables) {
    for (let from = 0; from < path.length; from++) {
      const key = path.slice(from).join('.')
      if (Object.hasOwn(words, key)) return words[key]
    }
  }
  return undefined
}

const alternatives = ['anyOf', 'oneOf', 'allOf'] as const

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The schema's own sentence, or that of an alternative: what may be null is wrapped into alternatives. */
const ownWord = (schema: JsonSchema): string | undefined => {
  if (typeof schema['description'] === 'string') return schema['description']
  const within = alternatives.flatMap((name) => (schema[name] ?? []) as readonly JsonSchema[])
  return within.map(ownWord).find((word) => word !== undefined)
}

/** The schema with a sentence at every property. */
export const described = (schema: JsonSchema, path: readonly string[], tables: readonly Sentences[]): JsonSchema => {
  const each = (value: unknown) => (isSchema(value) ? described(value, path, tables) : value)
  const { properties, items, additionalProperties } = schema
  return {
    ...schema,
    ...(isSchema(properties) && { properties: propertiesOf(properties, path, tables) }),
    ...(isSchema(items) && { items: each(items) }),
    ...(isSchema(additionalProperties) && { additionalProperties: each(additionalProperties) }),
    ...Object.fromEntries(
      alternatives.flatMap((name) => (Array.isArray(schema[name]) ? [[name, schema[name].map(each)]] : [])),
    ),
  }
}

const propertiesOf = (properties: JsonSchema, path: readonly string[], tables: readonly Sentences[]): JsonSchema =>
  Object.fromEntries(
    Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, schema]) => {
      const at = [...path, name]
      const description = ownWord(schema) ?? sentenceFor(at, tables)
      return [name, { ...described(schema, at, tables), ...(description !== undefined && { description }) }]
    }),
  )
