import type { ChatBody, Dialect, Native } from '../../../../core/ports/upstream.ts'
import { type JsonObject, isJsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseMember, memberNamed, objectIn, refuseStoredState, sameOr } from '../../members.ts'
import { type Seal, isKeepsake, readKeepsake } from '../keepsake.ts'
import { droppedMembers, type Drop, type TranslatedRequest, passedMembers } from '../translated-request.ts'
import { withMemory } from './memory.ts'
import type { InputItem, ResponsesRequest, ResponsesTool } from './shape.ts'
import { type ServerTools, leaveOut } from '../server-tools.ts'
import { toolsOf, isForced, runByVendor } from './tools.ts'
import { messagesOf } from './turns.ts'
import { offersTools } from './namespaces.ts'

/** State that only a vendor's store could resolve. */
const stores = ['previous_response_id', 'conversation', 'prompt'] as const

/** Members that go on under the same name. */
const same = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
] as const

/** Members that are carried over in another way, or that only shape the answer. */
const known = new Set<string>([
  ...same,
  ...stores,
  'model',
  'input',
  'instructions',
  'stream',
  'store',
  'background',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'top_logprobs',
  'reasoning',
  'text',
  'include',
  'metadata',
  'stream_options',
])

/** The request for a backend of this dialect. Throws BadRequest for state at the vendor and for what is malformed. */
export const translateResponses = (
  request: ResponsesRequest,
  to: Dialect | undefined,
  seal: Seal,
  serverTools?: ServerTools,
): TranslatedRequest => {
  for (const name of stores) if (request[name] != null) refuseStoredState(name)
  for (const name of ['background', 'store'] as const) if (request[name] === true) refuseStoredState(name)
  const { drop, paths } = droppedMembers()
  const { input, instructions } = request
  for (const name in request) {
    const value = request[name]
    const usual = name === 'truncation' && value === 'disabled'
    if (!known.has(name) && value != null && !usual) drop(name)
  }
  for (const name in request.reasoning)
    if (!readOfReasoning.has(name) && request.reasoning[name as keyof typeof request.reasoning] != null)
      drop(`reasoning.${name}`)
  const native = to === 'responses' ? nativeOf(request, serverTools, seal) : null
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user' as const, content: input }] : input
  const body: Record<string, unknown> & { messages: ChatBody['messages'] } = {
    messages: messagesOf(instructions ?? null, thoughtsWanted(request, withMemory(items, seal)), to, seal, drop),
  }
  if (native === null && body.messages.length === 0) refuseMember('input', 'Expected a message')
  for (const name of same) if (request[name] != null) body[name] = request[name]
  if (request.max_output_tokens != null) body['max_completion_tokens'] = request.max_output_tokens
  Object.assign(body, logprobsOf(request))
  if (request.reasoning?.effort != null) body['reasoning_effort'] = request.reasoning.effort
  Object.assign(body, toolsOf(request, drop, native === null ? serverTools : 'drop'), textOf(request, drop))
  return native === null ? { body, dropped: paths() } : { body, native: native.native, dropped: native.dropped }
}

/** The items without thoughts of earlier turns, where the caller wants those of the current turn alone. */
const thoughtsWanted = (
  { reasoning }: ResponsesRequest,
  items: readonly (InputItem | null)[],
): readonly (InputItem | null)[] => {
  if (reasoning?.['context'] !== 'current_turn') return items
  const turn = items.findLastIndex((item) => item?.role === 'user')
  return items.filter((item, at) => at > turn || item?.type !== 'reasoning')
}

/** Members of `reasoning` that are read, or that only shape the answer. */
const readOfReasoning = new Set(['effort', 'summary', 'generate_summary', 'context'])

/** Either member asks for log-probabilities, as clients of the dialect use both. */
const logprobsOf = ({ include, top_logprobs }: ResponsesRequest): JsonObject =>
  include?.includes('message.output_text.logprobs') || (top_logprobs ?? 0) > 0
    ? { logprobs: true, ...(top_logprobs != null && { top_logprobs }) }
    : {}

/** The wanted form of the answer. An unknown form is left out and told. */
const textOf = ({ text }: ResponsesRequest, drop: Drop): JsonObject => {
  const { format, verbosity } = text ?? {}
  const told = typeof verbosity === 'string' ? { verbosity } : {}
  if (format == null || format.type === 'text') return told
  if (format.type === 'json_object') return { ...told, response_format: { type: 'json_object' } }
  if (format.type !== 'json_schema') {
    drop('text.format')
    return told
  }
  const { name, description, strict } = format
  const json_schema = {
    name: typeof name === 'string' ? name : 'answer',
    ...(description != null && { description }),
    schema: objectIn(format, 'schema', 'text.format'),
    ...(strict != null && { strict }),
  }
  return { ...told, response_format: { type: 'json_schema', json_schema } }
}

/** Members that a backend of the same dialect is given as they came. */
const passed = new Set([
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'temperature',
  'top_p',
  'top_logprobs',
  'presence_penalty',
  'frequency_penalty',
  'reasoning',
  'text',
  'include',
  'metadata',
  'truncation',
  'tool_choice',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
  'stream_options',
  'context_management',
  'moderation',
  'client_metadata',
])

/** Members that the gateway itself sees to. */
const routed = new Set(['model', 'input', 'stream', 'store', 'background', 'tools'])

/** Members whose content a caller's own tool was given, or gave. */
const free: ReadonlySet<string> = new Set(['parameters', 'output'])

/** Names under which an item or a tool reaches for a vendor's store, where all callers of one key would meet. */
const stored = ['file_id', 'file_ids', 'vector_store_ids', 'container_id', 'connector_id', 'server_url'] as const

/** The request for a backend of the same dialect, and the members that it lacks. Throws BadRequest for state at the vendor. */
const nativeOf = (
  request: ResponsesRequest,
  serverTools: ServerTools,
  seal: Seal,
): { readonly native: Native; readonly dropped: readonly string[] } => {
  const { body, drop, paths } = passedMembers(request, passed, routed)
  const { input } = request
  const ownIn = (tools: readonly ResponsesTool[], path: string): readonly ResponsesTool[] => {
    for (const [at, tool] of tools.entries()) refuseStores(tool, `${path}.${at}`)
    if (serverTools === 'pass') return tools
    const own = tools.filter((tool, at) => {
      if (!runByVendor(tool)) return true
      leaveOut(serverTools, { name: tool.type, path: `${path}.${at}`, forced: isForced(request, tool) }, drop)
      return false
    })
    return own.length === tools.length ? tools : own
  }
  body['input'] = typeof input === 'string' ? input : offersOf(itemsOf(input, seal, drop), ownIn)
  const tools = ownIn(request.tools ?? [], 'tools')
  if (tools.length > 0) body['tools'] = tools
  if (serverTools !== 'pass') chooseAmong(body, request, drop)
  // Nothing is stored at the vendor, so that thoughts have to come with their content.
  body['store'] = false
  body['include'] = [...new Set([...(request.include ?? []), 'reasoning.encrypted_content'])]
  return { native: { dialect: 'responses', body, headers: {} }, dropped: paths() }
}

/** Items that offer tools, without those that a vendor would run. The same list when all stay. */
const offersOf = (
  items: readonly JsonObject[],
  ownIn: (tools: readonly ResponsesTool[], path: string) => readonly ResponsesTool[],
): readonly JsonObject[] =>
  sameOr(items, (item, at) => {
    if (!offersTools(item) || !Array.isArray(item['tools'])) return item
    const tools = ownIn(item['tools'] as readonly ResponsesTool[], `input.${at}.tools`)
    return tools === item['tools'] ? item : { ...item, tools }
  })

/** A choice among tools names none that was left out. */
const chooseAmong = (body: Record<string, unknown>, { tool_choice: choice }: ResponsesRequest, drop: Drop): void => {
  if (!isJsonObject(choice)) return
  const isGone = (tool: unknown) => isJsonObject(tool) && runByVendor({ ...tool, type: String(tool['type']) })
  const { tools } = choice
  if (isGone(choice)) {
    delete body['tool_choice']
    drop('tool_choice')
  } else if (Array.isArray(tools) && tools.some(isGone))
    body['tool_choice'] = { ...choice, tools: tools.filter((tool) => !isGone(tool)) }
}

/** The same list when no item is changed. */
const itemsOf = (input: readonly InputItem[], seal: Seal, drop: Drop): readonly JsonObject[] => {
  const remembered = withMemory(input, seal)
  const whole = remembered.every((item, at) => item === input[at])
    ? input
    : remembered.flatMap((item) => (item === null ? [] : [item]))
  for (const [at, item] of whole.entries()) refuseStores(item, `input.${at}`)
  const foreign = (item: JsonObject): boolean => item['type'] === 'reasoning' && isKeepsake(item['encrypted_content'])
  if (!whole.some(foreign)) return sameOr(whole, (item) => item)
  return whole.flatMap((item) => {
    if (!foreign(item)) return [item as JsonObject]
    const items = readKeepsake(item['encrypted_content'], seal)?.items
    if (items === undefined) drop('input.reasoning.encrypted_content')
    return (items ?? []).filter((kept) => isJsonObject(kept) && kept['type'] === 'reasoning') as readonly JsonObject[]
  })
}

const refuseStores = (value: JsonObject, path: string): void => {
  const found = memberNamed(value, stored, free)
  if (found !== undefined) refuseStoredState(`${path}.${found}`)
  if (typeof value['container'] === 'string') refuseStoredState(`${path}.container`)
}
