import { type JsonObject, isJsonObject } from '../../../core/dialects/json-object.ts'
import { refuseMember } from '../../shared/members.ts'
import type { ChatBody, Message, ToolCall } from '../../../core/ports/upstream.ts'
import { BadRequest } from '../../../core/errors.ts'

type Offer = Pick<ChatBody, 'tools' | 'tool_choice'>

const nameOf = (tool: unknown): unknown =>
  isJsonObject(tool) ? (isJsonObject(tool['function']) ? tool['function'] : tool)['name'] : undefined

/**
 * The tools and their choice, which these backends refuse without a tool. A backend without a word for a choice among some
 * tools is offered those alone. Throws BadRequest where a call is wanted and no tool is there, and for tools of free text.
 */
export const allowedTools = (body: ChatBody): Offer => {
  for (const message of body.messages) refuseOtherCalls(message)
  refuseOtherTools(body.tools)
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

const noFunction = (): BadRequest => new BadRequest('The model takes functions as tools alone')

/** Throws BadRequest for functions, the older form of tools, and for calls of other kinds than these. */
export const refuseOtherCalls = ({ role, function_call, tool_calls }: Message, kinds = ['function']): void => {
  if (role === 'function' || function_call != null) throw new BadRequest('The model knows tools, but not functions')
  const isKnown = (call: ToolCall | null): boolean => kinds.some((kind) => isJsonObject(call?.[kind]))
  if (tool_calls != null && !(Array.isArray(tool_calls) && tool_calls.every(isKnown))) throw noFunction()
}

/** Throws BadRequest for what is no list of tools, and for tools of free text unless a backend knows them. */
export const refuseOtherTools = (tools: unknown, isFree = false): void => {
  if (tools == null) return
  if (!Array.isArray(tools) || !tools.every(isJsonObject)) return refuseMember('tools', 'Expected a list of tools')
  if (!isFree && tools.some(({ custom }) => isJsonObject(custom))) throw noFunction()
}
