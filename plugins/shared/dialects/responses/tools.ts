import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseMember, objectsIn, refuseStoredState, textIn } from '../../members.ts'
import type { Drop } from '../translated-request.ts'
import { leaveOut, type ServerTools } from '../server-tools.ts'
import { flatName, knownTools, offeredTools } from './namespaces.ts'
import type { ResponsesRequest, ResponsesTool } from './shape.ts'

/** Tools that the caller runs itself, and the choice among them. */
export const toolsOf = (request: ResponsesRequest, drop: Drop, serverTools: ServerTools): JsonObject => {
  // Names that are not distinct end the request before a backend is asked.
  knownTools(request)
  const named = offeredTools(request)
    .flatMap(([tool, path]) => {
      if (isOwn(tool)) return functionsOf(tool, null, path, drop)
      refuseStores(tool, path)
      const left = { name: tool.type, path, forced: isForced(request, tool) }
      leaveOut(runByVendor(tool) || serverTools === 'drop' ? serverTools : undefined, left, drop)
      return []
    })
    .map((tool) => [nameOf(tool), tool] as const)
  // A tool that several turns offer is one tool, in its last form.
  const offered = named.length === 0 ? [] : [...new Map(named).values()]
  const { choice, among } = choiceOf(request.tool_choice, drop)
  const tools = among === null ? offered : offered.filter((tool) => among.has(nameOf(tool)))
  if (tools.length === 0) {
    if (choice !== undefined && choice !== 'auto' && choice !== 'none') drop('tool_choice')
    return {}
  }
  return {
    tools,
    ...(choice !== undefined && { tool_choice: choice }),
    ...(request.parallel_tool_calls != null && { parallel_tool_calls: request.parallel_tool_calls }),
  }
}

const nameOf = (tool: JsonObject): unknown => (tool['function'] as JsonObject)['name']

/** The functions of one tool: a namespace holds several. */
const functionsOf = (tool: JsonObject, namespace: string | null, path: string, drop: Drop): readonly JsonObject[] => {
  const { type, description, parameters, strict } = tool
  switch (type) {
    case 'function':
      return [
        {
          type,
          function: {
            name: flatName(namespace, textIn(tool, 'name', path)),
            ...(description != null && { description }),
            ...(parameters != null && { parameters }),
            ...(strict != null && { strict }),
          },
        },
      ]
    case 'custom':
      return [customOf(tool, namespace, path, drop)]
    case 'namespace': {
      if (namespace !== null) return refuseMember(`${path}.type`, 'Expected a tool: no namespace stands in another')
      if (description != null) drop('tools.namespace.description')
      const name = textIn(tool, 'name', path)
      return objectsIn(tool, 'tools', path).flatMap((inner, at) =>
        functionsOf(inner, name, `${path}.tools.${at}`, drop),
      )
    }
    default:
      // A vendor's tool has no place in a namespace.
      drop(`tools.${type}`)
      return []
  }
}

/** Refuses what only a vendor's store could resolve. */
const refuseStores = (tool: JsonObject, path: string): void => {
  if (tool['vector_store_ids'] != null) refuseStoredState(`${path}.vector_store_ids`)
  if (typeof tool['container'] === 'string') refuseStoredState(`${path}.container`)
}

/** Types of tools that have a likeness in the common format. */
const isOwn = ({ type }: ResponsesTool): boolean => type === 'function' || type === 'custom' || type === 'namespace'

const vendors = /^(?:web_search|file_search|code_interpreter|image_generation|mcp)(?:_|$)/

/** Whether the vendor would run the tool. A shell is the vendor's where its environment is a container. */
export const runByVendor = ({ type, environment }: ResponsesTool): boolean =>
  vendors.test(type) ||
  (type === 'shell' && isJsonObject(environment) && /^container/.test(String(environment['type'])))

/** Whether the request lets the model do nothing but call this tool. */
export const isForced = (request: ResponsesRequest, { type }: ResponsesTool): boolean => {
  const { tool_choice: choice } = request
  if (typeof choice === 'string')
    return choice === 'required' && offeredTools(request).every(([other]) => runByVendor(other))
  return choice?.type === type
}

/** A tool that takes free text is a function with one argument; a grammar becomes part of its description. */
const customOf = (tool: JsonObject, namespace: string | null, path: string, drop: Drop): JsonObject => {
  const { format } = tool
  const grammar =
    isJsonObject(format) && format['type'] === 'grammar' ? `\nThe input follows:\n${format['definition']}` : ''
  if (grammar !== '') drop('tools.custom.format')
  return {
    type: 'function',
    function: {
      name: flatName(namespace, textIn(tool, 'name', path)),
      description: `${tool['description'] ?? ''}${grammar}`,
      parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    },
  }
}

/** `among` narrows the tools that are offered; null offers all. Throws BadRequest for an unknown mode. */
const choiceOf = (
  choice: ResponsesRequest['tool_choice'],
  drop: Drop,
): { readonly choice: unknown; readonly among: ReadonlySet<unknown> | null } => {
  if (choice == null) return { choice: undefined, among: null }
  if (typeof choice === 'string') {
    if (choice === 'auto' || choice === 'none' || choice === 'required') return { choice, among: null }
    return refuseMember('tool_choice', 'Expected auto, none or required')
  }
  if (choice.type === 'function' || choice.type === 'custom') {
    const name = flatName(choice['namespace'], textIn(choice, 'name', 'tool_choice'))
    return { choice: { type: 'function', function: { name } }, among: null }
  }
  if (choice.type === 'allowed_tools') {
    const among = new Set(
      objectsIn(choice, 'tools', 'tool_choice').map(({ name, namespace }) => flatName(namespace, String(name))),
    )
    return { choice: choice['mode'] ?? 'auto', among }
  }
  drop(`tool_choice.${choice.type}`)
  return { choice: undefined, among: null }
}
