import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import type { RepeatedHeaders } from './line.ts'

/** Names that a header may have. */
const token = /^[!#$%&'*+.^`|~\w-]+$/
const repeatable: readonly string[] = ['string', 'number', 'boolean']

/** A header carries plain ASCII as it is, and everything else as base64 between marks. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`

const memberOf = (args: unknown, name: string): unknown =>
  args instanceof Map ? args.get(name) : isJsonObject(args) ? args[name] : undefined

/** The arguments that the latest revision repeats in headers, as the schema of their tool wants. */
export const paramHeaders = (schema: unknown, args: unknown): RepeatedHeaders => {
  const headers: Record<string, string> = {}
  const add = (schema: unknown, args: unknown): void => {
    const properties = isJsonObject(schema) ? schema['properties'] : undefined
    if (!isJsonObject(properties)) return
    for (const member in properties) {
      const [about, value] = [properties[member], memberOf(args, member)]
      if (value === undefined || !isJsonObject(about)) continue
      const name = about['x-mcp-header']
      if (typeof name === 'string' && token.test(name) && repeatable.includes(typeof value))
        headers[`mcp-param-${name.toLowerCase()}`] = headerValue(String(value))
      add(about, value)
    }
  }
  add(schema, args)
  return headers
}
