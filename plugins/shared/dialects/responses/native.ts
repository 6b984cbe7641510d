import type { Native } from '../../../../core/ports/upstream.ts'
import { isJsonObject, memberNamed, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseStoredState, sameOr } from '../../members.ts'
import { isKeepsake, readKeepsake, type Seal } from '../keepsake.ts'
import { passedMembers, type Drop } from '../translated-request.ts'
import { leaveOut, type ServerTools } from '../server-tools.ts'
import { withMemory } from './memory.ts'
import { offersTools } from './namespaces.ts'
import { isForced, runByVendor } from './tools.ts'
import type { InputItem, ResponsesRequest, ResponsesTool } from './shape.ts'

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
export const nativeOf = (
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
