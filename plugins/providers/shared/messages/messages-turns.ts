import { exact } from '../../../shared/long-numbers.ts'
import { BadRequest } from '../../../../core/errors.ts'
import type { Message, Part, ToolCall } from '../../../../core/ports/upstream.ts'
import { parseExact } from '../../../shared/backend.ts'
import { dataUrlOf } from '../../../shared/data-url.ts'
import { emptyConversation } from '../empty-conversation.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** One turn in Anthropic's form. */
export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly JsonObject[]
}

export interface Conversation {
  /** Undefined when there is none. */
  readonly system: string | readonly JsonObject[] | undefined
  readonly turns: readonly Turn[]
}

/**
 * Their conversation has its instructions in front, and no two turns of one role behind one another: so all results of
 * parallel calls stand together, as they have to.
 */
export const conversationOf = (messages: readonly Message[]): Conversation => {
  const instructions: Message[] = []
  const turns: { role: 'user' | 'assistant'; content: JsonObject[] }[] = []
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') {
      instructions.push(message)
      continue
    }
    const content = blocksIn(message)
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) turns.push({ role, content })
  }
  return turns.length > 0 ? { system: systemOf(instructions), turns } : instructionsAlone(instructions)
}

/** They want a turn of the user: where nobody says anything, the instructions are one. Throws BadRequest without any. */
const instructionsAlone = (instructions: readonly Message[]): Conversation => {
  const content = instructions.flatMap((message) => blocksOf(message.content))
  if (content.length === 0) throw emptyConversation()
  return { system: undefined, turns: [{ role: 'user', content }] }
}

/** Instructions of plain text become one text; others stay blocks, whose marks for the cache survive. */
const systemOf = (instructions: readonly Message[]): Conversation['system'] => {
  if (instructions.length === 0) return undefined
  if (instructions.some(({ content }) => typeof content !== 'string')) {
    return instructions.flatMap(({ content }) => blocksOf(content))
  }
  return instructions.map(({ content }) => content as string).join('\n')
}

const blocksIn = (message: Message): JsonObject[] => {
  const { role, content, tool_calls, thinking_blocks, content_blocks } = message
  if (role === 'tool') return [resultOf(message)]
  if (role !== 'assistant') return blocksOf(content)
  // Their thoughts come first, with the signatures that they are checked by.
  return [...listed(thinking_blocks), ...listed(content_blocks), ...blocksOf(content), ...(tool_calls ?? []).map(useOf)]
}

const listed = (blocks: unknown): JsonObject[] => (Array.isArray(blocks) ? blocks : [])

const blocksOf = (content: Message['content']): JsonObject[] => {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  // They refuse a text of white space alone.
  return parts.map(blockOf).filter(({ type, text }) => type !== 'text' || String(text).trim() !== '')
}

/** Parts of other kinds pass unchanged: a caller may write blocks of Anthropic. */
const blockOf = (part: Part): JsonObject => {
  const { type, image_url, file, refusal, ...rest } = part
  switch (type) {
    case 'image_url':
      return { ...rest, type: 'image', source: imageOf(image_url?.url ?? '') }
    case 'file':
      return { ...rest, type: 'document', ...documentOf((file ?? {}) as JsonObject) }
    case 'refusal':
      return { ...rest, type: 'text', text: refusal }
    case 'input_audio':
      throw new BadRequest('The model takes no audio')
    default:
      return part
  }
}

/** Anthropic itself fetches the address of an image. */
const imageOf = (url: string): JsonObject => {
  const inside = dataUrlOf(url)
  if (inside) return { type: 'base64', media_type: inside.mime, data: inside.data }
  if (/^https?:/i.test(url)) return { type: 'url', url }
  throw new BadRequest('An image is neither a data URL nor an address')
}

/** Text files go as text, and all others in base64. Throws BadRequest for a file without content. */
const documentOf = ({ file_id, file_data, filename }: JsonObject): JsonObject => {
  const title = typeof filename === 'string' ? { title: filename } : {}
  if (typeof file_id === 'string') return { source: { type: 'file', file_id }, ...title }
  const inside = typeof file_data === 'string' ? dataUrlOf(file_data) : null
  if (!inside) throw new BadRequest('A file has neither an id nor a data URL')
  const { mime, data } = inside
  if (!mime.startsWith('text/')) return { source: { type: 'base64', media_type: mime, data }, ...title }
  const text = Buffer.from(data, 'base64').toString('utf8')
  return { source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
}

/** Ids of other backends may hold what theirs may not. */
export const idOf = (id: unknown): string => String(id).replace(/[^\w-]/g, '_')

const useOf = (call: ToolCall): JsonObject => {
  const { caller, cache_control } = call
  const input = parseExact(call.function.arguments || '{}')
  if (input === null) throw new BadRequest('The arguments of a tool call are not a JSON object')
  return {
    type: 'tool_use',
    id: idOf(call.id),
    name: call.function.name,
    input: exact(input),
    ...(caller !== undefined && { caller }),
    ...(cache_control !== undefined && { cache_control }),
  }
}

const resultOf = ({ content, tool_call_id, is_error, cache_control }: Message): JsonObject => ({
  type: 'tool_result',
  tool_use_id: idOf(tool_call_id ?? ''),
  ...(content && content.length > 0 && { content: typeof content === 'string' ? content : blocksOf(content) }),
  ...(is_error !== undefined && { is_error }),
  ...(cache_control !== undefined && { cache_control }),
})
