import { schemaOf } from './json-schema.ts'
import type { Tool } from '../../../core/ports/tool.ts'

/** The JSON schema of each tool, made with the first look at it. */
const printed = new WeakMap<Tool, Readonly<Record<string, unknown>>>()

/** The parameters of a tool as JSON schema. A plain object takes no other names. */
export const parametersOf = (tool: Tool): Readonly<Record<string, unknown>> => {
  const known = printed.get(tool)
  if (known !== undefined) return known
  const schema = schemaOf(tool.params)
  const whole = tool.params.type === 'object' ? { ...schema, additionalProperties: false } : schema
  printed.set(tool, whole)
  return whole
}
