import { type JsonObject, isJsonObject } from '../../../core/dialects/json-object.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'

const nameOf = (tool: unknown): unknown =>
  isJsonObject(tool) ? (isJsonObject(tool['function']) ? tool['function'] : tool)['name'] : undefined

/** The tools and their choice. A backend without a word for a choice among some tools is offered those alone. */
export const allowedTools = ({ tools, tool_choice }: ChatBody): Pick<ChatBody, 'tools' | 'tool_choice'> => {
  const { type, allowed_tools: allowed } = isJsonObject(tool_choice) ? tool_choice : {}
  if (type !== 'allowed_tools' || !isJsonObject(allowed) || !Array.isArray(allowed['tools']))
    return { tools, tool_choice }
  const names = new Set(allowed['tools'].map(nameOf))
  const among = ((tools ?? []) as readonly JsonObject[]).filter((tool) => names.has(nameOf(tool)))
  return { tools: among, tool_choice: allowed['mode'] ?? 'auto' }
}
