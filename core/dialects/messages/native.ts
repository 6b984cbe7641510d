import type { Native } from '../../ports/upstream.ts'
import { holdsMember, sameOr, refuseStoredState, type JsonObject } from '../json-object.ts'
import { isKeepsake } from '../keepsake.ts'
import { droppedMembers, type Drop } from '../translated-request.ts'
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
): { readonly native: Native; readonly dropped: readonly string[] } => {
  const { drop, paths } = droppedMembers()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request)) {
    if (passed.has(name)) body[name] = value
    else if (value != null && !routed.has(name)) drop(name)
  }
  body['messages'] = sameOr(request.messages, (turn, at) => {
    if (typeof turn.content === 'string') return turn
    const content = blocksOf(turn.content, `messages.${at}.content`, drop)
    return content === turn.content ? turn : { ...turn, content: [...content] }
  })
  const own = request.tools?.filter((tool) => !runByVendor(tool) || void drop(`tools.${tool.type}`))
  const tools = own?.length === request.tools?.length ? request.tools : own
  if (tools && tools.length > 0) body['tools'] = tools
  if (request.tool_choice && tools && tools.length > 0) {
    const named = request.tool_choice['name']
    if (named === undefined || tools.some(({ name }) => name === named)) body['tool_choice'] = request.tool_choice
    else drop('tool_choice')
  }
  return { native: { dialect: 'messages', body, headers: betaHeaders(headers) }, dropped: paths() }
}

const routed = new Set(['model', 'stream', 'tools', 'tool_choice'])

/** Members whose content a caller's own tool was given. */
const free: ReadonlySet<string> = new Set(['input'])

/** All but thoughts of other vendors, whose signatures the backend would refuse. The same list when nothing is left out. */
const blocksOf = <B extends JsonObject>(blocks: readonly B[], path: string, drop: Drop): readonly B[] => {
  const kept = blocks.filter((block, at) => {
    if (holdsMember(block, 'file_id', free)) refuseStoredState(`${path}.${at}.file_id`)
    if (!isKeepsake(block['signature']) && !isKeepsake(block['data'])) return true
    drop(`messages.content.${block['type']}`)
    return false
  })
  return kept.length === blocks.length ? blocks : kept
}

const betaHeaders = (headers: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ['anthropic-beta', 'anthropic-version'].flatMap((name) =>
      typeof headers[name] === 'string' ? [[name, headers[name]]] : [],
    ),
  )
