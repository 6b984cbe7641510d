import { type JsonObject, isJsonObject, refuseMember } from '../../../core/dialects/json-object.ts'
import type { ChatBody } from '../../../core/ports/upstream.ts'

type Offer = Pick<ChatBody, 'tools' | 'tool_choice'>

const nameOf = (tool: unknown): unknown =>
  isJsonObject(tool) ? (isJsonObject(tool['function']) ? tool['function'] : tool)['name'] : undefined

/**
 * The tools and their choice, which these backends refuse without a tool. A backend without a word for a choice among some
 * tools is offered those alone. Throws BadRequest where a call is wanted and no tool is there.
 */
export const allowedTools = (body: ChatBody): Offer => {
  const offer = offerOf(body)
  const { tools, tool_choice: choice } = offer
  if (Array.isArray(tools) && tools.length > 0) return offer
  if (choice === 'required' || (isJsonObject(choice) && choice['type'] === 'function'))
    refuseMember('tool_choice', 'Expected tools from which the model may choose')
  return { tools, tool_choice: undefined }
}

const offerOf = ({ tools, tool_choice }: ChatBody): Offer => {
  const { type, allowed_tools: allowed } = isJsonObject(tool_choice) ? tool_choice : {}
  if (type !== 'allowed_tools' || !isJsonObject(allowed) || !Array.isArray(allowed['tools']))
    return { tools, tool_choice }
  const names = new Set(allowed['tools'].map(nameOf))
  const among = ((tools ?? []) as readonly JsonObject[]).filter((tool) => names.has(nameOf(tool)))
  return { tools: among, tool_choice: allowed['mode'] ?? 'auto' }
}
