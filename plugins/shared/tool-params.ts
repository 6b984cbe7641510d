import type { GenericSchema } from 'valibot'

type Params = Readonly<Record<string, unknown>>

/**
 * What of the given parameters a tool's schema is to check, and the first name that the tool does not have.
 * Leaves out optional parameters that are null or empty. A schema that lists no names says itself what it refuses.
 */
export const toldParams = (schema: GenericSchema, given: Params) => {
  const known = entriesOf(schema)
  if (known === null) return { told: given, odd: null }
  const told: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const type = (Object.hasOwn(known, name) ? known[name] : null) ?? null
    // Names that begin with this sign belong to the wire.
    if (type === null && !name.startsWith('$')) return { told, odd: name.slice(0, 100) }
    const absent = (value === null || value === '') && type?.type === 'optional'
    if (!absent) told[name] = value
  }
  return { told, odd: null }
}

type Entries = Readonly<Record<string, { readonly type: string }>>

/** The parameters that a plain object schema lists; null for a schema that says itself what it refuses. */
const entriesOf = (schema: GenericSchema): Entries | null =>
  schema.type === 'object' && 'entries' in schema ? (schema.entries as Entries) : null
