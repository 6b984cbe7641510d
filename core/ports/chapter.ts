import type { GenericSchema } from 'valibot'

/** A JSON schema as plain JSON. Readers of a tool's schema share one object, so they must not change it. */
export type JsonSchema = Readonly<Record<string, unknown>>

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
