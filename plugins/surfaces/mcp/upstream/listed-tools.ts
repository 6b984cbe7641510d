import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import { hash } from 'node:crypto'
import type { ServedTool } from '../served-tools.ts'
import { cutText } from '../../../shared/cut-text.ts'

/** Tools of one server, characters of a description, and of a schema as JSON. */
export const mostTools = 500
const mostDescription = 1_024
const mostSchema = 16 * 1024

/** Names that every client takes. */
const soundName = /^[A-Za-z0-9_.-]{1,90}$/

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** A server's hints, and the careful ones where a server gives none. */
const annotationsOf = (given: unknown): object => {
  const told = isJsonObject(given) ? given : {}
  const careful = { readOnlyHint: false, destructiveHint: true }
  return { ...careful, ...Object.fromEntries(hints.flatMap((name) => (typeof told[name] === 'boolean' ? [[name, told[name]]] : []))) } // prettier-ignore
}

/** Control characters of a description would reach the terminals of people. */
const plainText = (text: unknown): string =>
  typeof text === 'string' ? cutText(text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim(), mostDescription) : ''

/** Null for a tool whose name or schema no client takes. */
const toolOf = (server: string, raw: unknown): ServedTool | null => {
  if (!isJsonObject(raw)) return null
  const { name, description, inputSchema, annotations } = raw
  if (typeof name !== 'string' || !soundName.test(name)) return null
  if (!isJsonObject(inputSchema) || inputSchema['type'] !== 'object') return null
  if (JSON.stringify(inputSchema).length > mostSchema) return null
  return {
    server,
    own: name,
    described: {
      name: `${server}__${name}`,
      description: plainText(description),
      inputSchema,
      annotations: annotationsOf(annotations),
    },
  }
}

/** The tools of a server within the bounds, in the order of their names. Of equal names the first one counts. */
export const toolsIn = (server: string, listed: readonly unknown[], wanted: readonly string[] | undefined) => {
  const tools = new Map<string, ServedTool>()
  for (const raw of listed) {
    const tool = toolOf(server, raw)
    if (tool === null || tools.has(tool.own) || wanted?.includes(tool.own) === false) continue
    tools.set(tool.own, tool)
    if (tools.size === mostTools) break
  }
  return [...tools.values()].sort((one, other) => (one.own < other.own ? -1 : 1))
}

/** Changes with each word of a tool that callers see. */
export const digestOf = ({ described }: ServedTool): string => hash('sha256', JSON.stringify(described), 'base64')
