import type { GenericSchema } from 'valibot'
import type { JsonSchema } from '../json-schema.ts'

export type { JsonSchema } from '../json-schema.ts'

/**
 * Sentences for properties, by the end of their path: `usage.input` beats `input`. A path begins with `body`, `query`,
 * `path`, `answer`, `fault` or `schema`, and passes over lists and the names of maps.
 */
export type Sentences = Readonly<Record<string, string>>

/** One of several bodies that an operation takes. */
export interface Variant {
  readonly about: string
  readonly schema: JsonSchema
  readonly example: unknown
}

/** What the reference says of one route beyond what the route itself knows. */
export interface Operation {
  /** Stands behind the summary. */
  readonly about?: string
  /** Examples. They are checked against the schemas, and the clear ones are sent to a gateway. */
  readonly body?: unknown
  readonly form?: Sentences
  readonly path?: Sentences
  readonly query?: Sentences
  readonly answer?: unknown
  /** The JSON of the answer, where the route declares none. */
  readonly shape?: GenericSchema
  /** Other media types of the answer, with what they hold. */
  readonly types?: Sentences
  /** Request headers that the route reads, and response headers of its own. */
  readonly asks?: Sentences
  readonly tells?: Sentences
  readonly words?: Sentences
  /** Statuses beyond those that follow from the route. */
  readonly statuses?: readonly number[]
  /** What answers without a body mean, by their status. */
  readonly empty?: Readonly<Record<number, string>>
  /** Bodies by the names of their schemas, in place of the route's own. */
  readonly variants?: Readonly<Record<string, Variant>>
  /** The values of a path's parameter, where they are known. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  /** Members that OpenAPI has no place for; their names begin with `x-`. */
  readonly more?: JsonSchema
}

/** A chapter of the reference: the words for a family of routes. */
export interface Chapter {
  readonly name: string
  readonly about: string
  readonly words: Sentences
  /** By method and path, the path with the families under their own names. */
  readonly operations: Readonly<Record<string, Operation>>
  /** Schemas that the chapter's operations name. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>
}

/** The words of the whole reference. It is loaded with the first look at the documentation. */
export interface Reference {
  readonly words: Sentences
  /** What the codes of errors mean. */
  readonly codes: Sentences
  readonly chapters: readonly Chapter[]
}

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

const isSchema = (it: unknown): it is JsonSchema => typeof it === 'object' && it !== null && !Array.isArray(it)

/** The schema's own sentence, or that of an alternative: what may be null is wrapped into alternatives. */
const ownWord = (schema: JsonSchema): string | undefined => {
  if (typeof schema['description'] === 'string') return schema['description']
  const within = alternatives.flatMap((name) => (schema[name] ?? []) as readonly JsonSchema[])
  return within.map(ownWord).find((it) => it !== undefined)
}

/** The schema with a sentence at every property. */
export const described = (schema: JsonSchema, path: readonly string[], tables: readonly Sentences[]): JsonSchema => {
  const each = (it: unknown) => (isSchema(it) ? described(it, path, tables) : it)
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

/** The envelope of an answer in an example, without its content. */
export const exampleEnvelope = {
  status: 200,
  error: null,
  message: null,
  env: 'production',
  log: { request_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8' },
  validator: null,
  support_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8',
}
