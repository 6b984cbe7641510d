type Schema = Readonly<Record<string, unknown>>

/** Where a value departs from a schema, and how. */
export type Misfit = string

const known = new Set([
  ...['$ref', 'type', 'enum', 'const', 'anyOf', 'oneOf', 'properties', 'required', 'additionalProperties', 'items'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'prefixItems', 'propertyNames', 'maxProperties'],
  ...['description', 'title', 'default', 'format', 'examples', 'example'],
])

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

const isOfType = (value: unknown, type: string): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeOf(value) === type

/** What bounds of a schema count, by the ending of their names. */
const sizeOf = (value: unknown): readonly [kind: string, size: number] | null => {
  if (typeof value === 'string') return ['Length', value.length]
  if (Array.isArray(value)) return ['Items', value.length]
  return typeof value === 'object' && value !== null ? ['Properties', Object.keys(value).length] : null
}

/** Whether a bound of the schema holds; one that the schema does not have holds. */
const within = (schema: Schema, least: string, most: string, size: number): boolean =>
  size >= Number(schema[least] ?? -Infinity) && size <= Number(schema[most] ?? Infinity)

const boundsHold = (value: unknown, schema: Schema): boolean => {
  if (typeof value === 'number')
    return value > Number(schema['exclusiveMinimum'] ?? -Infinity) && within(schema, 'minimum', 'maximum', value)
  const counted = sizeOf(value)
  if (counted === null) return true
  const [kind, size] = counted
  return within(schema, `min${kind}`, `max${kind}`, size)
}

/** The misfits of a value, none where it fits. Throws for a word of JSON schema that is not looked at here. */
export const misfits = (value: unknown, schema: Schema, resolve: (ref: string) => Schema, at = ''): readonly Misfit[] => {
  const strange = Object.keys(schema).find((word) => !known.has(word) && !word.startsWith('x-'))
  if (strange !== undefined) throw new Error(`${at}: nobody checks ${strange}`)
  if (typeof schema['$ref'] === 'string') return misfits(value, resolve(schema['$ref']), resolve, at)
  const either = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined
  if (either !== undefined) {
    const all = either.map((each) => misfits(value, each, resolve, at))
    return all.some(({ length }) => length === 0) ? [] : [`${at}: fits no alternative`, ...all.flat()]
  }
  const types = schema['type'] === undefined ? null : [schema['type']].flat().map(String)
  if (types !== null && !types.some((type) => isOfType(value, type)))
    return [`${at}: ${typeOf(value)} instead of ${types.join(' or ')}`]
  if ('const' in schema && schema['const'] !== value) return [`${at}: not ${JSON.stringify(schema['const'])}`]
  if (Array.isArray(schema['enum']) && !schema['enum'].includes(value)) return [`${at}: not of the enumeration`]
  if (!boundsHold(value, schema)) return [`${at}: out of bounds`]
  if (typeof schema['pattern'] === 'string' && typeof value === 'string' && !new RegExp(schema['pattern']).test(value))
    return [`${at}: not of the pattern`]
  if (Array.isArray(value)) return value.flatMap((member, index) => misfits(member, (schema['items'] ?? {}) as Schema, resolve, `${at}[${index}]`))
  return typeOf(value) === 'object' ? ofObject(value as Schema, schema, resolve, at) : []
}

const ofObject = (value: Schema, schema: Schema, resolve: (ref: string) => Schema, at: string): readonly Misfit[] => {
  const { properties = {}, required = [], additionalProperties = {} } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
    readonly additionalProperties?: Schema | boolean
  }
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}.${name}: missing`)
  const others = Object.entries(value).flatMap(([name, member]) => {
    const own = properties[name] ?? additionalProperties
    if (own === false) return [`${at}.${name}: unknown`]
    return own === true ? [] : misfits(member, own, resolve, `${at}.${name}`)
  })
  return [...missing, ...others]
}
