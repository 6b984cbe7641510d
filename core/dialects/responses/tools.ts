import { refuseMember, isJsonObject, objectsIn, refuseStoredState, textIn, type JsonObject } from '../json-object.ts'
import type { Drop } from '../translated-request.ts'
import { flatName, knownTools } from './namespaces.ts'
import type { ResponsesRequest } from './shape.ts'

/** Tools that the caller runs itself, and the choice among them. */
export const toolsOf = (request: ResponsesRequest, drop: Drop): JsonObject => {
  // Names that are not distinct end the request before a backend is asked.
  knownTools(request)
  const offered = (request.tools ?? []).flatMap((tool, at) => functionsOf(tool, null, `tools.${at}`, drop))
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
      const its = textIn(tool, 'name', path)
      return objectsIn(tool, 'tools', path).flatMap((inner, at) => functionsOf(inner, its, `${path}.tools.${at}`, drop))
    }
    default:
      if (tool['vector_store_ids'] != null) refuseStoredState(`${path}.vector_store_ids`)
      if (typeof tool['container'] === 'string') refuseStoredState(`${path}.container`)
      drop(`tools.${type}`)
      return []
  }
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
