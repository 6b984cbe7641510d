import type { Fields } from '../fields.ts'

/** Names in camel case, one level deep: the vendor takes both spellings of each. */
export const camel = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, it: string) => it.toUpperCase()),
      value,
    ]),
  )

const words = new Set(['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'])

/** The vendor's own kind of schema as JSON schema: types in lower case, and null as a type. */
export const jsonSchema = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(jsonSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const { type, nullable, properties, enum: choices, ...rest } = schema as Fields
  const named = typeof type === 'string' && words.has(type) ? type.toLowerCase() : type
  const inner = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [
      name,
      name === 'default' || name === 'example' ? value : jsonSchema(value),
    ]),
  )
  return {
    ...(named !== undefined && { type: nullable === true ? [named, 'null'] : named }),
    ...(properties !== undefined && { properties: valuesOf(properties) }),
    ...(choices !== undefined && { enum: choices }),
    ...inner,
  }
}

/** Names of properties stay as they are, whatever they look like. */
const valuesOf = (properties: unknown): unknown =>
  typeof properties === 'object' && properties !== null
    ? Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, jsonSchema(value)]))
    : properties
