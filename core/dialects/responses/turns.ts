import type { Dialect, Message, Part, ToolCall } from '../../ports/upstream.ts'
import { refuseMember, objectsIn, textIn, type JsonObject } from '../json-object.ts'
import { readKeepsake, restored, type Keepsake, type Seal } from '../keepsake.ts'
import type { Drop } from '../translated-request.ts'
import { flatName } from './namespaces.ts'
import { partsOf, singleTextOrParts } from './parts.ts'
import type { InputItem } from './shape.ts'

/** Items of tools that a vendor runs: its own record of them, which other backends can't read. */
const vendors =
  /^(web_search|file_search|code_interpreter|image_generation|computer|local_shell|shell|apply_patch|mcp|tool_search)_/

interface AssistantTurn {
  text: string | null
  readonly calls: ToolCall[]
  readonly keepsakes: Keepsake[]
}

/** The items as messages behind the instructions: thoughts, text and calls that stand together are one message of the assistant. */
export const messagesOf = (
  instructions: string | null,
  items: readonly (InputItem | null)[],
  to: Dialect | undefined,
  seal: Seal,
  drop: Drop,
): readonly Message[] => {
  const messages: Message[] = []
  /** Images that tools gave, where a result may be text alone. */
  let behind: Part[] = []
  let said: AssistantTurn | null = null

  const flush = (): void => {
    if (said === null) return
    const { text, calls, keepsakes } = said
    said = null
    if (text === null && calls.length === 0) return
    const message = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) }
    messages.push(restored(message, keepsakes, to, drop))
  }
  const settle = (): void => {
    flush()
    if (behind.length > 0) messages.push({ role: 'user', content: behind })
    behind = []
  }
  const saying = (): AssistantTurn => (said ??= { text: null, calls: [], keepsakes: [] })

  const say = (text: string): void => {
    if (said !== null && said.text !== null && said.calls.length === 0) flush()
    const it = saying()
    it.text = it.text === null ? text : `${it.text}\n${text}`
  }

  const take = (item: InputItem, path: string): void => {
    const { type, role } = item
    switch (type ?? 'message') {
      case 'message': {
        const parts = partsOf(item.content, path, drop)
        if (role === 'assistant') return say(parts.map(({ text }) => text ?? '').join(''))
        settle()
        return addInstructions(role === 'user' || role == null ? 'user' : 'system', parts, messages)
      }
      case 'function_call':
      case 'custom_tool_call':
        settleResults()
        return void saying().calls.push(callOf(item, path))
      case 'function_call_output':
      case 'custom_tool_call_output':
        flush()
        return void messages.push(resultOf(item, path, behind, to, drop))
      case 'reasoning':
        settleResults()
        return keep(item, path)
      default:
        if (!vendors.test(type!))
          return refuseMember(`${path}.type`, 'Expected a message, a call, its output or reasoning')
        return drop(`input.${type}`)
    }
  }

  const settleResults = (): void => {
    if (behind.length > 0) settle()
  }

  const keep = (item: InputItem, path: string): void => {
    const keepsake = readKeepsake(item['encrypted_content'], seal)
    if (keepsake !== null) saying().keepsakes.push(keepsake)
    else if (item['encrypted_content'] != null) drop('input.reasoning.encrypted_content')
    else if (objectsIn(item, 'summary', path).length > 0) drop('input.reasoning.summary')
  }

  if (instructions !== null) messages.push({ role: 'system', content: instructions })
  for (const [at, item] of items.entries()) if (item !== null) take(item, `input.${at}`)
  settle()
  return messages
}

/** Instructions that follow one another are one message: some backends take a single one. */
const addInstructions = (role: string, parts: readonly Part[], messages: Message[]): void => {
  const content = singleTextOrParts(parts)
  const last = messages.at(-1)
  if (role === 'system' && last?.role === 'system' && typeof last.content === 'string' && typeof content === 'string') {
    messages[messages.length - 1] = { role, content: `${last.content}\n\n${content}` }
  } else messages.push({ role, content })
}

const callOf = (item: JsonObject, path: string): ToolCall => {
  const name = flatName(item['namespace'], textIn(item, 'name', path))
  const custom = item['type'] === 'custom_tool_call'
  const json = custom ? JSON.stringify({ input: textIn(item, 'input', path) }) : textIn(item, 'arguments', path)
  return { id: textIn(item, 'call_id', path), type: 'function', function: { name, arguments: json } }
}

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
