import { flawed, isFields, listIn, stateless, textIn, type Fields } from '../fields.ts'
import type { Drop } from '../understood.ts'
import type { ResponsesRequest, ResponsesTool } from './shape.ts'

/** Names of the tools whose calls carry one free text. */
export const customNames = ({ tools }: ResponsesRequest): ReadonlySet<string> =>
  new Set((tools ?? []).filter(({ type }) => type === 'custom').map(({ name }) => String(name)))

/** Tools that the caller runs itself, and the choice among them. */
export const toolsOf = (request: ResponsesRequest, drop: Drop): Fields => {
  const offered = (request.tools ?? []).flatMap((tool, at) => functionOf(tool, `tools.${at}`, drop))
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

const nameOf = (tool: Fields): unknown => (tool['function'] as Fields)['name']

const functionOf = (tool: ResponsesTool, path: string, drop: Drop): readonly Fields[] => {
  const { type, description, parameters, strict } = tool
  switch (type) {
    case 'function':
      return [
        {
          type,
          function: {
            name: textIn(tool, 'name', path),
            ...(description != null && { description }),
            ...(parameters != null && { parameters }),
            ...(strict != null && { strict }),
          },
        },
      ]
    case 'custom':
      return [customOf(tool, path, drop)]
    default:
      if (tool['vector_store_ids'] != null) stateless(`${path}.vector_store_ids`)
      if (typeof tool['container'] === 'string') stateless(`${path}.container`)
      drop(`tools.${type}`)
      return []
  }
}

/** A tool that takes free text is a function with one argument; a grammar becomes part of its description. */
const customOf = (tool: ResponsesTool, path: string, drop: Drop): Fields => {
  const { format } = tool
  const grammar =
    isFields(format) && format['type'] === 'grammar' ? `\nThe input follows:\n${format['definition']}` : ''
  if (grammar !== '') drop('tools.custom.format')
  return {
    type: 'function',
    function: {
      name: textIn(tool, 'name', path),
      description: `${tool['description'] ?? ''}${grammar}`,
      parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    },
  }
}

const choiceOf = (
  choice: ResponsesRequest['tool_choice'],
  drop: Drop,
): { readonly choice: unknown; readonly among: ReadonlySet<unknown> | null } => {
  if (choice == null) return { choice: undefined, among: null }
  if (typeof choice === 'string') {
    if (choice === 'auto' || choice === 'none' || choice === 'required') return { choice, among: null }
    return flawed('tool_choice', 'Expected auto, none or required')
  }
  if (choice.type === 'function' || choice.type === 'custom') {
    return { choice: { type: 'function', function: { name: textIn(choice, 'name', 'tool_choice') } }, among: null }
  }
  if (choice.type === 'allowed_tools') {
    const among = new Set(listIn(choice, 'tools', 'tool_choice').map(({ name }) => name))
    return { choice: choice['mode'] ?? 'auto', among }
  }
  drop(`tool_choice.${choice.type}`)
  return { choice: undefined, among: null }
}
