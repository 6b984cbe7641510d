import type { Dialect, Message, Part, ToolCall } from '../../../../core/ports/upstream.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { refuseMember, objectsIn, textIn, objectIn, refuseStoredState } from '../../members.ts'
import { readKeepsake, restored, type Keepsake, type Seal, type TurnsContext } from '../keepsake.ts'
import type { Drop } from '../translated-request.ts'
import { flatName, offersTools } from './namespaces.ts'
import type { InputItem } from './shape.ts'

/** Thoughts, text and calls of the assistant that belong to one message. */
interface AssistantTurn {
  text: string | null
  readonly calls: ToolCall[]
  readonly keepsakes: Keepsake[]
}

/** The conversation that is being made. */
interface Conversation extends TurnsContext {
  readonly messages: Message[]
  /** Images that tools gave, where a result may be text alone. */
  behind: Part[]
  turn: AssistantTurn | null
}

/** The items as messages behind the instructions: thoughts, text and calls that stand together are one message of the assistant. */
export const messagesOf = (
  instructions: string | null,
  items: readonly (InputItem | null)[],
  to: Dialect | undefined,
  seal: Seal,
  drop: Drop,
): readonly Message[] => {
  const conversation: Conversation = { to, seal, drop, messages: [], behind: [], turn: null }
  if (instructions !== null) conversation.messages.push({ role: 'system', content: instructions })
  for (const [at, item] of items.entries()) if (item !== null) take(conversation, item, `input.${at}`)
  settle(conversation)
  return conversation.messages
}

/** Ends the assistant's turn. Thoughts without text or calls are dropped: no message could carry them. */
const flush = (conversation: Conversation): void => {
  if (conversation.turn === null) return
  const { text, calls, keepsakes } = conversation.turn
  conversation.turn = null
  if (text === null && calls.length === 0) return
  const message = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) }
  conversation.messages.push(restored(message, keepsakes, conversation.to, conversation.drop))
}

/** Ends both what the assistant said and the images of its tools. */
const settle = (conversation: Conversation): void => {
  flush(conversation)
  if (conversation.behind.length > 0) conversation.messages.push({ role: 'user', content: conversation.behind })
  conversation.behind = []
}

/** Images of tools stand before the next turn of the assistant, and never between two results. */
const settleResults = (conversation: Conversation): void => {
  if (conversation.behind.length > 0) settle(conversation)
}

const saying = (conversation: Conversation): AssistantTurn =>
  (conversation.turn ??= { text: null, calls: [], keepsakes: [] })

/** A text behind a text begins a new message, unless calls came between them. */
const say = (conversation: Conversation, text: string): void => {
  if (conversation.turn !== null && conversation.turn.text !== null && conversation.turn.calls.length === 0)
    flush(conversation)
  const turn = saying(conversation)
  turn.text = turn.text === null ? text : `${turn.text}\n${text}`
}

/** One item. A kind that has no likeness in the common format, such as the record of a vendor's tool, is left out. */
const take = (conversation: Conversation, item: InputItem, path: string): void => {
  const { type, role } = item
  const { drop, messages } = conversation
  switch (type ?? 'message') {
    case 'message': {
      const parts = partsOf(item.content, path, drop)
      if (role === 'assistant') return say(conversation, parts.map(({ text }) => text ?? '').join(''))
      settle(conversation)
      return addInstructions(role === 'user' || role == null ? 'user' : 'system', parts, messages)
    }
    case 'function_call':
    case 'custom_tool_call':
      settleResults(conversation)
      return void saying(conversation).calls.push(callOf(item, path))
    case 'function_call_output':
    case 'custom_tool_call_output':
      flush(conversation)
      return void messages.push(resultOf(item, path, conversation.behind, conversation.to, drop))
    case 'reasoning':
      settleResults(conversation)
      return keep(conversation, item, path)
    default:
      return offersTools(item) ? undefined : drop(`input.${type}`)
  }
}

/** Thoughts that another gateway sealed cannot be used; the answer names them among the dropped members. */
const keep = (conversation: Conversation, item: InputItem, path: string): void => {
  const keepsake = readKeepsake(item['encrypted_content'], conversation.seal)
  if (keepsake !== null) saying(conversation).keepsakes.push(keepsake)
  else if (item['encrypted_content'] != null) conversation.drop('input.reasoning.encrypted_content')
  else if (objectsIn(item, 'summary', path).length > 0) conversation.drop('input.reasoning.summary')
}

/** Instructions that follow one another are one message: some backends take a single one. */
const addInstructions = (role: string, parts: readonly Part[], messages: Message[]): void => {
  const content = singleTextOrParts(parts)
  const last = messages.at(-1)
  if (role === 'system' && last?.role === 'system' && typeof last.content === 'string' && typeof content === 'string') {
    messages[messages.length - 1] = { role, content: `${last.content}\n\n${content}` }
  } else messages.push({ role, content })
}

/** Free text goes on as JSON with one member, as the tool was offered. */
const callOf = (item: JsonObject, path: string): ToolCall => {
  const name = flatName(item['namespace'], textIn(item, 'name', path))
  const custom = item['type'] === 'custom_tool_call'
  const json = custom ? JSON.stringify({ input: textIn(item, 'input', path) }) : textIn(item, 'arguments', path)
  return { id: textIn(item, 'call_id', path), type: 'function', function: { name, arguments: json } }
}

/** A backend of the common format takes text alone as a result; the images follow behind. */
const resultOf = (item: JsonObject, path: string, behind: Part[], to: Dialect | undefined, drop: Drop): Message => {
  const tool_call_id = textIn(item, 'call_id', path)
  const { output } = item
  if (typeof output === 'string') return { role: 'tool', tool_call_id, content: output }
  const parts = partsOf(objectsIn(item, 'output', path) as InputItem['content'], path, drop)
  if (to !== undefined) return { role: 'tool', tool_call_id, content: singleTextOrParts(parts) }
  const texts = parts.filter(({ type }) => type === 'text')
  behind.push(...parts.filter(({ type }) => type !== 'text'))
  return { role: 'tool', tool_call_id, content: texts.map(({ text }) => text).join('\n') }
}

/** Parts of a message or of a tool's result. A text alone is the short spelling of one part; no content has no parts. */
const partsOf = (content: InputItem['content'], path: string, drop: Drop): readonly Part[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const parts: Part[] = []
  for (const [at, part] of (content ?? []).entries()) {
    const common = partOf(part, `${path}.content.${at}`)
    if (common === null) drop(`input.content.${part['type']}`)
    else parts.push(common)
  }
  return parts
}

/** Null for a kind that the common format has no likeness of. */
const partOf = (part: JsonObject, path: string): Part | null => {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return { type: 'text', text: textIn(part, 'text', path) }
    case 'refusal':
      return { type: 'text', text: textIn(part, 'refusal', path) }
    case 'input_image':
      return imageOf(part, path)
    case 'input_audio':
      return { type: 'input_audio', input_audio: objectIn(part, 'input_audio', path) }
    case 'input_file':
      return fileOf(part, path)
    default:
      return null
  }
}

const imageOf = (part: JsonObject, path: string): Part => {
  if (part['file_id'] != null) refuseStoredState(`${path}.file_id`)
  const { detail } = part
  const url = textIn(part, 'image_url', path)
  return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } }
}

const fileOf = (part: JsonObject, path: string): Part => {
  if (part['file_id'] != null) refuseStoredState(`${path}.file_id`)
  if (part['file_url'] != null) refuseMember(`${path}.file_url`, 'Expected none: send the file itself as file_data')
  const { filename } = part
  const file_data = textIn(part, 'file_data', path)
  return { type: 'file', file: { ...(typeof filename === 'string' && { filename }), file_data } }
}

/** A single text stands as a string, which every backend takes. */
const singleTextOrParts = (parts: readonly Part[]): string | readonly Part[] =>
  parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join('') : parts
