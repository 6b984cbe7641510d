import { BadRequest } from '../../../../core/errors.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** Members of one object of the dialect, more than any has. */
const mostMembers = 256

/** Names in camel case, one level deep: the vendor takes both spellings of each. Throws BadRequest for too many members. */
export const camel = (fields: JsonObject): JsonObject => {
  let [count, isSpelled] = [0, true]
  for (const name in fields) {
    if (++count > mostMembers)
      throw new BadRequest('An object has too many members', { validator: { body: `Expected at most ${mostMembers}` } })
    if (name.includes('_')) isSpelled = false
  }
  if (isSpelled) return fields
  const spelled: Record<string, unknown> = Object.create(null)
  for (const name in fields) {
    spelled[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())] = fields[name]
  }
  return spelled
}

const words = new Set(['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'])

/** Members that the vendor's clients write as texts, since they are 64 bits long. */
const counts = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])

const memberOf = (name: string, value: unknown): unknown => {
  if (name === 'default' || name === 'example') return value
  return counts.has(name) && typeof value === 'string' ? Number(value) : jsonSchema(value)
}

/** The vendor's own kind of schema as JSON schema: types in lower case, and null as a type. */
export const jsonSchema = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(jsonSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const { type, nullable, properties, enum: choices, ...rest } = schema as Record<string, unknown>
  const isNullable = nullable === true
  if (isNullable && Array.isArray(rest['anyOf'])) rest['anyOf'] = [...rest['anyOf'], { type: 'null' }]
  const named = typeof type === 'string' && words.has(type) ? type.toLowerCase() : type
  const inner = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, memberOf(name, value)]))
  return {
    ...(named !== undefined && { type: isNullable ? [named, 'null'] : named }),
    ...(properties !== undefined && { properties: valuesOf(properties) }),
    ...(choices !== undefined && { enum: isNullable && Array.isArray(choices) ? [...choices, null] : choices }),
    ...inner,
  }
}

/** Names of properties stay as they are, whatever they look like. */
const valuesOf = (properties: unknown): unknown =>
  typeof properties === 'object' && properties !== null
    ? Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, jsonSchema(value)]))
    : properties
