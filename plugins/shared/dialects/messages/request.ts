import { keepWording } from '../../long-numbers.ts'
import { userOf } from '../../../../core/inference/metering/tokens.ts'
import type { ChatBody, Dialect, Message } from '../../../../core/ports/upstream.ts'
import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseMember, objectIn, refuseStoredState, textIn } from '../../members.ts'
import type { Seal, TurnsContext } from '../keepsake.ts'
import { droppedMembers, type Drop, type TranslatedRequest } from '../translated-request.ts'
import { leaveOut, type ServerTools } from '../server-tools.ts'
import { isForced, nativeOf, runByVendor } from './native.ts'
import type { CountRequest, MessagesRequest, Tool } from './shape.ts'
import { messagesOf, systemText } from './turns.ts'

/** Members with which a vendor would reach for its own store, or for servers that the caller names. */
const stores = ['container', 'mcp_servers'] as const

/** A backend of another dialect would answer without the check, and the caller would trust the answer. */
const unchecked = 'Expected none: a backend of the model has another dialect and runs no such check'

/** Members that are carried over, in whole or as far as `drop` tells. */
const known = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'service_tier',
])

/** Names of service tiers by those of the dialect. Other names go on as they are. */
const tiers: Readonly<Record<string, string>> = { auto: 'auto', standard_only: 'default' }

/** The request for a backend of this dialect. Throws BadRequest for state at the vendor and for what is malformed. */
export const translateMessages = (
  request: MessagesRequest | CountRequest,
  to: Dialect | undefined,
  seal: Seal,
  headers: JsonObject,
  serverTools?: ServerTools,
): TranslatedRequest => {
  for (const name of stores) if (request[name] != null) refuseStoredState(name)
  // The client runs the safety check itself where it is refused; left out in silence, no check would run.
  if (to !== 'messages' && request['safeguards'] != null) refuseMember('safeguards', unchecked, 'unsupported_parameter')
  const { drop, paths } = droppedMembers()
  // The native request has the say where there is one.
  const body = bodyOf(request as MessagesRequest, { to, seal, drop }, to === 'messages' ? 'drop' : serverTools)
  const user = userOf({ user: isJsonObject(request['metadata']) ? request['metadata']['user_id'] : undefined })
  if (to !== 'messages') return { body, user, dropped: paths() }
  const { native, dropped } = nativeOf(request, headers, serverTools)
  return { body, user, native, dropped }
}

const bodyOf = (request: MessagesRequest, telling: TurnsContext, serverTools: ServerTools): ChatBody => {
  const { to, drop } = telling
  keepWording(request.messages)
  const { max_tokens, messages, system, stop_sequences, temperature, top_p, top_k, service_tier } = request
  for (const name in request) if (!known.has(name) && request[name] != null) drop(name)
  const begun = system == null ? '' : systemText(system, 'system', drop)
  const turns: Message[] = begun === '' ? [] : [{ role: 'system', content: begun }]
  for (let at = 0; at < messages.length; at++) turns.push(...messagesOf(messages[at]!, `messages.${at}`, telling))
  if (turns.length === 0 && to !== 'messages') refuseMember('messages', 'Expected a turn with content')
  // Only the same dialect goes on from a beginning of the answer.
  if (messages.at(-1)?.role === 'assistant') drop('messages.prefill')
  if (top_k != null && to === undefined) drop('top_k')
  const body: Record<string, unknown> & { messages: ChatBody['messages'] } = { messages: turns }
  if (max_tokens !== undefined) body['max_tokens'] = max_tokens
  if (stop_sequences != null && stop_sequences.length > 0) body['stop'] = stop_sequences
  if (temperature != null) body['temperature'] = temperature
  if (top_p != null) body['top_p'] = top_p
  if (top_k != null && to !== undefined) body['top_k'] = top_k
  Object.assign(body, toolsOf(request, drop, serverTools), thoughtsOf(request, drop), formatOf(request, drop))
  if (typeof service_tier === 'string') body['service_tier'] = tiers[service_tier] ?? service_tier
  return body
}

const none: readonly never[] = []
const nothing: JsonObject = {}

/** The caller's own tools. Tools that a vendor runs exist at no other backend, so they are left out and told. */
const toolsOf = (request: MessagesRequest, drop: Drop, serverTools: ServerTools): JsonObject => {
  const { tools, tool_choice: choice } = request
  const offered = (tools ?? none).filter((tool, at) => {
    const { type } = tool
    if (type == null || type === 'custom') return true
    const left = { name: type, path: `tools.${at}`, forced: isForced(request, tool) }
    // What the caller would run under a vendor's name is no tool of a vendor, and has no likeness either.
    leaveOut(runByVendor(tool) || serverTools === 'drop' ? serverTools : undefined, left, drop)
    return false
  })
  if (offered.length === 0) {
    if (choice != null && choice.type !== 'none' && choice.type !== 'auto') drop('tool_choice')
    return nothing
  }
  return { tools: offered.map((tool, at) => functionOf(tool, `tools.${at}`, drop)), ...choiceOf(choice, offered, drop) }
}

const functionOf = (tool: Tool, path: string, drop: Drop): JsonObject => {
  const { name: _, type: __, description, input_schema, strict, ...rest } = tool
  for (const [member, value] of Object.entries(rest)) if (value != null) drop(`tools.${member}`)
  const parameters = input_schema ?? { type: 'object', properties: {} }
  return {
    type: 'function',
    function: {
      name: textIn(tool, 'name', path),
      ...(description != null && { description }),
      parameters,
      ...(strict === true && isStrict(parameters) && { strict }),
    },
  }
}

/** Choices of tools by their names in the dialect. */
const modes: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' }

/** A choice of a tool that was left out is dropped too: a backend would refuse the unknown name. */
const choiceOf = (choice: MessagesRequest['tool_choice'], offered: readonly Tool[], drop: Drop): JsonObject => {
  if (choice == null) return {}
  const alone = choice['disable_parallel_tool_use'] === true ? { parallel_tool_calls: false } : {}
  if (choice.type !== 'tool') return { tool_choice: modes[choice.type] ?? 'auto', ...alone }
  const name = choice['name']
  if (offered.some((tool) => tool.name === name)) {
    return { tool_choice: { type: 'function', function: { name } }, ...alone }
  }
  drop('tool_choice')
  return alone
}

/** Shares of the answer that thoughts may take, as efforts. */
const effortOf = (share: number): string => (share <= 0.25 ? 'low' : share <= 0.6 ? 'medium' : 'high')
const efforts: Readonly<Record<string, string>> = {
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** The effort of thinking; a caller who lets the model decide leaves it open. */
const thoughtsOf = ({ thinking, output_config, max_tokens }: MessagesRequest, drop: Drop): JsonObject => {
  const effort = output_config?.['effort']
  for (const name in output_config)
    if (name !== 'effort' && name !== 'format' && output_config[name] != null) drop(`output_config.${name}`)
  if (thinking == null || thinking.type === 'disabled') {
    if (effort != null) drop('output_config.effort')
    return nothing
  }
  if (typeof effort === 'string') return { reasoning_effort: efforts[effort] ?? 'high' }
  const budget = thinking['budget_tokens']
  return typeof budget === 'number' ? { reasoning_effort: effortOf(budget / max_tokens) } : {}
}

/** Whether each object of a schema requires all its members: backends of the common format are strict with no other. */
const isStrict = (schema: unknown): boolean => {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isJsonObject(schema)) return true
  const { properties, required } = schema
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  return (
    names.every((name) => Array.isArray(required) && required.includes(name)) && Object.values(schema).every(isStrict)
  )
}

/** Clients write the format as `output_config.format` or as `output_format`; both are read. */
const formatOf = ({ output_config, output_format }: MessagesRequest, drop: Drop): JsonObject => {
  const format = output_config?.['format'] ?? output_format
  if (!isJsonObject(format)) return nothing
  if (format['type'] !== 'json_schema') {
    drop('output_config.format')
    return {}
  }
  const schema = objectIn(format, 'schema', 'output_config.format')
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: isStrict(schema) } } }
}
