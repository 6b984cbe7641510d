import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { fieldsBeyondMessages } from '../../../core/dialects/messages/unsupported-fields.ts'
import { parseObject } from '../../../core/dialects/backend.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { ChatCall, Message, Part } from '../../../core/ports/upstream.ts'

/** Members of a Converse request that callers may give as they are. */
const own: ReadonlySet<string> = new Set([
  'guardrailConfig',
  'additionalModelResponseFieldPaths',
  'performanceConfig',
  'promptVariables',
  'requestMetadata',
  'serviceTier',
])

/** Converse's names by those of the common format. */
const inference: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  max_tokens: 'maxTokens',
  max_completion_tokens: 'maxTokens',
}

/** The request in the form of Converse. Fields that Converse lacks go to the model itself. Throws BadRequest for parts that it can't carry. */
export const converseBody = ({ body }: ChatCall): JsonObject => {
  const {
    messages,
    stop,
    tools,
    tool_choice,
    parallel_tool_calls: _parallel,
    response_format: _format,
    service_tier: _tier,
    user: _user,
    metadata: _metadata,
    additionalModelRequestFields: given,
    ...others
  } = body
  const top: Record<string, unknown> = {}
  const chosen: Record<string, unknown> = {}
  const further: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(others)) {
    const theirs = Object.hasOwn(inference, name) ? inference[name] : undefined
    if (value == null || fieldsBeyondMessages.has(name)) continue
    if (theirs !== undefined) chosen[theirs] = value
    else (own.has(name) ? top : further)[name] = value
  }
  if (stop != null) chosen['stopSequences'] = Array.isArray(stop) ? stop : [stop]
  Object.assign(further, given)
  const system = messages.filter(isSystem).flatMap(({ content }) => textsOf(content))
  const toolConfig = toolConfigOf((tools ?? []) as readonly JsonObject[], tool_choice, messages)
  return {
    ...top,
    messages: turnsOf(messages.filter((message) => !isSystem(message))),
    ...(system.length > 0 && { system: system.map((text) => ({ text })) }),
    ...(Object.keys(chosen).length > 0 && { inferenceConfig: chosen }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(further).length > 0 && { additionalModelRequestFields: further }),
  }
}

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer'

const partsOf = (content: Message['content']): readonly Part[] =>
  typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : (content ?? [])

const textsOf = (content: Message['content']): readonly string[] =>
  partsOf(content).flatMap(({ text }) => (text ? [text] : []))

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

/** Turns alternate: answers of tools and what the user says behind them are one. */
const turnsOf = (messages: readonly Message[]): readonly Turn[] => {
  const turns: Turn[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const blocks = blocksOf(message)
    const last = turns.at(-1)
    if (blocks.length === 0) continue
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: [...blocks] })
  }
  return turns
}

/**
 * An empty result of a tool becomes one empty text. Throws BadRequest for arguments that are no JSON object.
 */
const blocksOf = ({ role, content, tool_calls = [], tool_call_id }: Message): readonly JsonObject[] => {
  const said = partsOf(content).flatMap(blockOf)
  if (role === 'tool') {
    const result = said.length > 0 ? said : [{ text: '' }]
    return [{ toolResult: { toolUseId: tool_call_id, content: result } }]
  }
  const calls = tool_calls.map(({ id, function: it }) => {
    const input = parseObject(it.arguments || '{}')
    if (input === null) throw new BadRequest('The arguments of a tool call are not a JSON object')
    return { toolUse: { toolUseId: id, name: it.name, input } }
  })
  return [...said, ...calls]
}

/** Throws BadRequest for addresses of images: Converse takes bytes alone. */
const blockOf = ({ type, text, image_url }: Part): readonly JsonObject[] => {
  if (type === 'text' || text !== undefined) return text ? [{ text }] : []
  const data = /^data:image\/(png|jpe?g|gif|webp);base64,/i.exec(image_url?.url ?? '')
  if (data === null) throw new BadRequest('The model takes text and images of data URLs alone')
  const format = data[1]!.toLowerCase().replace('jpg', 'jpeg')
  return [{ image: { format, source: { bytes: image_url!.url.slice(data[0].length) } } }]
}

const choices: Readonly<Record<string, JsonObject>> = { auto: { auto: {} }, required: { any: {} } }

/** Null without tools. A conversation that has calls of tools needs their list, so `none` leaves the list and the choice open. */
const toolConfigOf = (
  tools: readonly JsonObject[],
  choice: unknown,
  messages: readonly Message[],
): JsonObject | null => {
  const forbidden = choice === 'none' && !messages.some(({ tool_calls }) => tool_calls && tool_calls.length > 0)
  if (tools.length === 0 || forbidden) return null
  const named = (choice as { function?: { name?: string } } | null | undefined)?.function?.name
  const toolChoice = named === undefined ? choices[String(choice)] : { tool: { name: named } }
  return { tools: tools.map(toolOf), ...(toolChoice && { toolChoice }) }
}

/** Throws BadRequest for tools that are no functions. */
const toolOf = (tool: JsonObject): JsonObject => {
  if (tool['type'] !== 'function') throw new BadRequest('The model takes functions as tools alone')
  const { name, description, parameters } = (tool['function'] ?? {}) as JsonObject
  return {
    toolSpec: {
      name,
      ...(description != null && { description }),
      inputSchema: { json: parameters ?? { type: 'object', properties: {} } },
    },
  }
}
