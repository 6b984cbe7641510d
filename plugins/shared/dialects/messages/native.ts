import type { Native } from '../../../../core/ports/upstream.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { memberNamed, sameOr, refuseStoredState } from '../../members.ts'
import { isKeepsake } from '../keepsake.ts'
import { leaveOut, type ServerTools } from '../server-tools.ts'
import { passedMembers, type Drop } from '../translated-request.ts'
import type { CountRequest, Tool } from './shape.ts'

/** Members that a backend of the same dialect is given as they came. */
const passed = new Set([
  'messages',
  'system',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'thinking',
  'output_config',
  'output_format',
  'context_management',
  'cache_control',
  'metadata',
  'safeguards',
  'service_tier',
  'speed',
])

/** Tools that the caller runs itself, under names that the vendor gave them. */
const ownTools = /^(bash|text_editor|computer|memory)_\d{8}$/

/** Whether the vendor would run the tool. */
export const runByVendor = ({ type }: Tool): boolean => type != null && type !== 'custom' && !ownTools.test(type)

/** The request for a backend of the same dialect, and the members that it lacks. */
export const nativeOf = (
  request: CountRequest,
  headers: JsonObject,
  serverTools: ServerTools,
): { readonly native: Native; readonly dropped: readonly string[] } => {
  const { body, drop, paths } = passedMembers(request, passed, routed)
  const turns = sameOr(request.messages, (turn, at) => {
    if (typeof turn.content === 'string') return turn
    const content = blocksOf(turn.content, `messages.${at}.content`, drop)
    return content === turn.content ? turn : { ...turn, content: [...content] }
  })
  // A turn of foreign thoughts alone has no block left, and the vendor refuses a turn without one.
  body['messages'] = turns === request.messages ? turns : turns.filter(({ content }) => content.length > 0)
  const tools = serverTools === 'pass' ? request.tools : ownToolsOf(request, serverTools, drop)
  if (tools && tools.length > 0) body['tools'] = tools
  if (request.tool_choice && tools && tools.length > 0) {
    const named = request.tool_choice['name']
    if (named === undefined || tools.some(({ name }) => name === named)) body['tool_choice'] = request.tool_choice
    else drop('tool_choice')
  }
  return { native: { dialect: 'messages', body, headers: betaHeaders(headers) }, dropped: paths() }
}

/** Whether the request lets the model do nothing but call this tool. */
export const isForced = ({ tools, tool_choice: choice }: CountRequest, tool: Tool): boolean =>
  choice?.type === 'tool'
    ? choice['name'] === tool.name
    : choice?.type === 'any' && (tools ?? []).every((other) => runByVendor(other))

/** Members of the caller's tools that say something to a tool of the vendor, by the beginning of that tool's type. */
const relations = [
  [/^tool_search_tool_/, 'defer_loading'],
  [/^code_execution_/, 'allowed_callers'],
] as const

/** The tools that the caller runs, without the members that need a tool which is left out. The same list when all stay. */
const ownToolsOf = (request: CountRequest, serverTools: ServerTools, drop: Drop): CountRequest['tools'] => {
  const { tools } = request
  const left: Tool[] = []
  const own = tools?.filter((tool, at) => {
    if (!runByVendor(tool)) return true
    leaveOut(serverTools, { name: String(tool.type), path: `tools.${at}`, forced: isForced(request, tool) }, drop)
    left.push(tool)
    return false
  })
  if (left.length === 0) return tools
  const useless = relations
    .filter(([needed]) => left.some(({ type }) => needed.test(type ?? '')))
    .map(([, member]) => member)
  return own?.map((tool) => {
    const gone = useless.filter((member) => tool[member] != null)
    for (const member of gone) drop(`tools.${member}`)
    if (gone.length === 0) return tool
    return Object.fromEntries(Object.entries(tool).filter(([name]) => !gone.some((member) => member === name))) as Tool
  })
}

const routed = new Set(['model', 'stream', 'tools', 'tool_choice'])

/** Members whose content a caller's own tool was given. */
const free: ReadonlySet<string> = new Set(['input'])

/** All but thoughts of other vendors, whose signatures the backend would refuse. The same list when nothing is left out. */
const blocksOf = <B extends JsonObject>(blocks: readonly B[], path: string, drop: Drop): readonly B[] => {
  const kept = blocks.filter((block, at) => {
    if (memberNamed(block, ['file_id'], free) !== undefined) refuseStoredState(`${path}.${at}.file_id`)
    if (!isKeepsake(block['signature']) && !isKeepsake(block['data'])) return true
    drop(`messages.content.${block['type']}`)
    return false
  })
  return kept.length === blocks.length ? blocks : kept
}

/** Headers that belong to the dialect. */
export const betaHeaders = (headers: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ['anthropic-beta', 'anthropic-version'].flatMap((name) =>
      typeof headers[name] === 'string' ? [[name, headers[name]]] : [],
    ),
  )
