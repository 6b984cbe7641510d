import type { GenericSchema, InferOutput } from 'valibot'
import { Refusal, parameters } from './refusals.ts'

type Params = Readonly<Record<string, unknown>>

/** Throws a Refusal that names the first parameter which the tool doesn't know, or which is not as it should be. */
export const toolParams = <S extends GenericSchema>(schema: S, given: Params): InferOutput<S> => {
  const known = entriesOf(schema)
  if (known === null) return parameters(schema, given)
  const told: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const it = (Object.hasOwn(known, name) ? known[name] : null) ?? null
    // Names that begin with this sign belong to the wire.
    if (it === null && !name.startsWith('$')) throw new Refusal('invalid_parameters', name.slice(0, 100))
    const absent = (value === null || value === '') && it?.type === 'optional'
    if (!absent) told[name] = value
  }
  return parameters(schema, told)
}

type Entries = Readonly<Record<string, { readonly type: string }>>

/** The parameters that a plain object schema lists; null for a schema that says itself what it refuses. */
const entriesOf = (schema: GenericSchema): Entries | null =>
  schema.type === 'object' && 'entries' in schema ? (schema.entries as Entries) : null
