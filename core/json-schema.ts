import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

/** A JSON schema as plain JSON. Readers of a tool's schema share one object, so they must not change it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What a schema takes, as JSON schema; checks that JSON schema has no word for are left out. */
export const schemaOf = (schema: GenericSchema): JsonSchema => {
  const { $schema: _, ...rest } = toJsonSchema(schema as never, { errorMode: 'ignore', typeMode: 'input' }) as Record<
    string,
    unknown
  >
  return rest
}
