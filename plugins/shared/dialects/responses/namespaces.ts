import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseMember, objectsIn, textIn } from '../../members.ts'
import type { ResponsesRequest, ResponsesTool } from './shape.ts'

/** A tool as the caller knows it. */
export interface Known {
  readonly name: string
  /** Null for a tool that stands in no namespace. */
  readonly namespace: string | null
  /** True where calls carry one free text. */
  readonly custom: boolean
}

/** Characters of a name that every backend takes, and those of a hash that ends a longer one. */
const longest = 64
const hashed = 12

/** The one name by which backends know a tool of a namespace; a name that is too long ends in a hash of the whole. */
export const flatName = (namespace: unknown, name: string): string => {
  if (typeof namespace !== 'string' || namespace === '') return name
  const whole = `${namespace}__${name}`
  if (whole.length <= longest) return whole
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, hashed)
  return `${whole.slice(0, longest - hashed - 1)}_${hash}`
}

/** Items of the input that offer tools beside those of the request: instructions with tools, and tools that were found. */
const offering = new Set<unknown>(['additional_tools', 'tool_search_output'])

/** Whether the item of the input offers tools. */
export const offersTools = ({ type }: JsonObject): boolean => offering.has(type)

/** All tools that the request offers, each with its path. */
export const offeredTools = ({ tools, input }: ResponsesRequest): readonly (readonly [ResponsesTool, string])[] => {
  const offered: [ResponsesTool, string][] = []
  const add = (tool: ResponsesTool, path: string) => offered.push([tool, path])
  tools?.forEach((tool, at) => add(tool, `tools.${at}`))
  for (let at = 0; typeof input !== 'string' && at < input.length; at++)
    if (offersTools(input[at]!))
      toolsIn(input[at]!, `input.${at}`).forEach((tool, place) => add(tool, `input.${at}.tools.${place}`))
  return offered
}

/** Each tool says its type, as the tools of the request do. */
const toolsIn = (item: JsonObject, path: string): readonly ResponsesTool[] => {
  const tools = objectsIn(item, 'tools', path)
  for (const [at, tool] of tools.entries()) textIn(tool, 'type', `${path}.tools.${at}`)
  return tools as readonly ResponsesTool[]
}

/** Tools of the request by the names that backends know. Throws BadRequest where a call could be that of two tools. */
export const knownTools = (request: ResponsesRequest): ReadonlyMap<string, Known> => {
  const offered = offeredTools(request)
  if (offered.length === 0) return noTools
  const known = new Map<string, Known>()
  const add = (tool: JsonObject, namespace: string | null, path: string): void => {
    if (tool['type'] === 'namespace' && namespace === null) {
      const name = textIn(tool, 'name', path)
      for (const [at, inner] of objectsIn(tool, 'tools', path).entries()) add(inner, name, `${path}.tools.${at}`)
    } else if (tool['type'] === 'function' || tool['type'] === 'custom') {
      const name = textIn(tool, 'name', path)
      const flat = flatName(namespace, name)
      const other = known.get(flat)
      if (other !== undefined && other.namespace !== namespace)
        return refuseMember(`${path}.name`, 'Expected a name that no tool of another namespace has')
      known.set(flat, { name, namespace, custom: tool['type'] === 'custom' })
    }
  }
  for (const [tool, path] of offered) add(tool, null, path)
  return known
}

const noTools: ReadonlyMap<string, Known> = new Map()
