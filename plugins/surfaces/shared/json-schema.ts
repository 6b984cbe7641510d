import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import type { JsonSchema } from '../../../core/ports/chapter.ts'

/** What a schema takes, as JSON schema; checks that JSON schema has no word for are left out. */
export const schemaOf = (schema: GenericSchema): JsonSchema => {
  const { $schema: _, ...rest } = toJsonSchema(schema as never, { errorMode: 'ignore', typeMode: 'input' }) as Record<
    string,
    unknown
  >
  return rest
}
