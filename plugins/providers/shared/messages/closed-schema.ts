/** Members that hold schemas by names of the caller. */
const schemasByName: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
/** Members that hold values. */
const values: ReadonlySet<string> = new Set(['enum', 'const'])

const bounds = /^(?:(?:exclusiveM|m)(?:in|ax)imum|multipleOf|(?:min|max)Length|maxItems|uniqueItems)$/
/** Whether a member bounds values in a way that Anthropic's models refuse. */
const isBound = (name: string, member: unknown): boolean =>
  bounds.test(name) || (name === 'minItems' && Number(member) > 1)

/** A schema as Anthropic's models take it: objects are closed, and bounds of values stand as words in the description. */
export const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept: Record<string, unknown> = {}
  const bound: string[] = []
  for (const [name, member] of Object.entries(schema)) {
    if (isBound(name, member)) bound.push(`${name}: ${member}`)
    else kept[name] = closedMember(name, member)
  }
  if (bound.length > 0)
    kept['description'] = [kept['description'], `{${bound.join(', ')}}`].filter(Boolean).join('\n\n')
  return kept['type'] === 'object' && 'properties' in kept ? { additionalProperties: false, ...kept } : kept
}

const closedMember = (name: string, member: unknown): unknown => {
  if (values.has(name)) return member
  if (!schemasByName.has(name) || typeof member !== 'object' || member === null) return closed(member)
  return Object.fromEntries(Object.entries(member).map(([property, schema]) => [property, closed(schema)]))
}
