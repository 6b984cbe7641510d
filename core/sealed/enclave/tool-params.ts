import type { GenericSchema, InferOutput } from 'valibot'
import { Refusal, parameters } from './refusals.ts'

type Params = Readonly<Record<string, unknown>>

/** Throws a Refusal that names the first parameter that is unknown or invalid. */
export const toolParams = <S extends GenericSchema>(schema: S, given: Params): InferOutput<S> => {
  const known = entriesOf(schema)
  if (known === null) return parameters(schema, given)
  const told: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const it = (Object.hasOwn(known, name) ? known[name] : null) ?? null
    // Names with `$` belong to the wire format.
    if (it === null && !name.startsWith('$')) throw new Refusal('invalid_parameters', name.slice(0, 100))
    const absent = (value === null || value === '') && it?.type === 'optional'
    if (!absent) told[name] = value
  }
  return parameters(schema, told)
}

type Entries = Readonly<Record<string, { readonly type: string }>>

/** The parameters of a plain object schema; null when the schema refuses unknown fields itself. */
const entriesOf = (schema: GenericSchema): Entries | null =>
  schema.type === 'object' && 'entries' in schema ? (schema.entries as Entries) : null
