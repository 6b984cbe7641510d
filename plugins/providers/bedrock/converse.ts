import { exact } from '../../shared/long-numbers.ts'
import { isJsonObject, type JsonObject } from '../../../core/dialects/json-object.ts'
import { fieldsBeyondMessages } from '../../shared/dialects/messages/unsupported-fields.ts'
import { parseExact } from '../../shared/backend.ts'
import { BadRequest } from '../../../core/errors.ts'
import { allowedTools } from '../shared/allowed-tools.ts'
import { emptyConversation } from '../shared/empty-conversation.ts'
import { closed } from '../shared/messages/closed-schema.ts'
import { idOf } from '../shared/messages/messages-turns.ts'
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
export const converseBody = ({ model, body }: Pick<ChatCall, 'model' | 'body'>): JsonObject => {
  const {
    messages,
    stop,
    tools: _tools,
    tool_choice: _choice,
    parallel_tool_calls: _parallel,
    response_format,
    service_tier: _tier,
    user: _user,
    metadata: _metadata,
    additionalModelRequestFields: given,
    ...others
  } = body
  const { tools, tool_choice } = allowedTools(body)
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
  const { system, turns } = conversationOf(messages, !/deepseek/.test(model))
  const outputConfig = outputOf(response_format)
  const toolConfig = toolConfigOf((tools ?? []) as readonly JsonObject[], tool_choice, messages)
  return {
    ...top,
    messages: turns,
    ...(system.length > 0 && { system }),
    ...(Object.keys(chosen).length > 0 && { inferenceConfig: chosen }),
    ...(toolConfig && { toolConfig }),
    ...(outputConfig && { outputConfig }),
    ...(Object.keys(further).length > 0 && { additionalModelRequestFields: further }),
  }
}

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer'

const partsOf = (content: Message['content']): readonly Part[] =>
  typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : (content ?? [])

/** Nothing for a text of white space alone, which Converse refuses. */
const textOf = (part: Part): readonly JsonObject[] =>
  typeof part.text === 'string' && part.text.trim() !== '' ? [{ text: part.text }, ...cacheOf(part)] : []

/** The mark that a part carries for the cache of prompts stands behind the part. */
const cacheOf = ({ cache_control: mark }: JsonObject): readonly JsonObject[] => {
  if (!isJsonObject(mark)) return []
  return [{ cachePoint: { type: 'default', ...(typeof mark['ttl'] === 'string' && { ttl: mark['ttl'] }) } }]
}

/** A schema for the answer goes as text. Null for any other form, which Converse has no place for. */
const outputOf = (format: unknown): JsonObject | null => {
  const { type, json_schema: wanted } = isJsonObject(format) ? format : {}
  if (type !== 'json_schema' || !isJsonObject(wanted)) return null
  const { name, description, schema } = wanted
  const jsonSchema = {
    schema: JSON.stringify(closed(schema ?? {})),
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
  }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

interface Conversation {
  readonly system: readonly JsonObject[]
  readonly turns: readonly Turn[]
}

/** Instructions alone are a turn of the user, which Converse wants. Throws BadRequest where nothing stands in the conversation. */
const conversationOf = (messages: readonly Message[], thinks: boolean): Conversation => {
  const system = messages.filter(isSystem).flatMap(({ content }) => partsOf(content).flatMap(textOf))
  const turns = turnsOf(
    messages.filter((message) => !isSystem(message)),
    thinks,
  )
  if (turns.length > 0) return { system, turns }
  if (system.length === 0) throw emptyConversation()
  return { system: [], turns: [{ role: 'user', content: system }] }
}

/** Turns alternate: answers of tools and what the user says behind them are one. */
const turnsOf = (messages: readonly Message[], thinks: boolean): readonly Turn[] => {
  const turns: Turn[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const blocks = [...(thinks && role === 'assistant' ? thoughtsOf(message) : []), ...blocksOf(message)]
    const last = turns.at(-1)
    if (blocks.length === 0) continue
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: [...blocks] })
  }
  return turns
}

/** Thoughts as they were given, with their signatures; else as plain text. */
const thoughtsOf = ({ reasoning_content: text, extra_content: extra }: Message): readonly JsonObject[] => {
  const { bedrock } = isJsonObject(extra) ? extra : {}
  const kept = isJsonObject(bedrock) ? bedrock['reasoningContent'] : undefined
  if (Array.isArray(kept)) return kept.map((reasoningContent: unknown) => ({ reasoningContent }))
  return typeof text === 'string' && text !== '' ? [{ reasoningContent: { reasoningText: { text } } }] : []
}

/** An empty result of a tool becomes one empty text. Throws BadRequest for arguments that are no JSON object. */
const blocksOf = (message: Message): readonly JsonObject[] => {
  const { role, content, tool_calls, tool_call_id } = message
  const blocks = partsOf(content).flatMap(blockOf)
  if (role === 'tool') {
    const result = blocks.length > 0 ? blocks : [{ text: '' }]
    return [{ toolResult: { toolUseId: idOf(tool_call_id ?? ''), content: result } }, ...cacheOf(message)]
  }
  const calls = (tool_calls ?? []).map(({ id, function: called }) => {
    const input = parseExact(called.arguments || '{}')
    if (input === null) throw new BadRequest('The arguments of a tool call are not a JSON object')
    return { toolUse: { toolUseId: idOf(id), name: called.name, input: exact(input) } }
  })
  return [...blocks, ...calls]
}

/** Converse's names of formats, by the kind of the part and the type of its data. */
const formats: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  image: { 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/jpg': 'jpeg', 'image/gif': 'gif', 'image/webp': 'webp' },
  video: {
    ...{ 'video/mp4': 'mp4', 'video/webm': 'webm', 'video/quicktime': 'mov', 'video/x-matroska': 'mkv' },
    ...{ 'video/x-flv': 'flv', 'video/mpeg': 'mpeg', 'video/x-ms-wmv': 'wmv', 'video/3gpp': 'three_gp' },
  },
  document: {
    ...{ 'application/pdf': 'pdf', 'text/csv': 'csv', 'text/html': 'html', 'text/plain': 'txt', 'text/markdown': 'md' },
    ...{ 'application/msword': 'doc', 'application/vnd.ms-excel': 'xls' },
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  },
}

/** Throws BadRequest for addresses: Converse takes bytes alone. */
const blockOf = (part: Part): readonly JsonObject[] => {
  const { type, text, image_url, file, video_url } = part
  if (type === 'text' || typeof text === 'string') return textOf(part)
  const { file_data, filename } = isJsonObject(file) ? file : {}
  const { url: film } = isJsonObject(video_url) ? video_url : {}
  const [kind, url] =
    type === 'file' ? ['document', file_data] : type === 'video_url' ? ['video', film] : ['image', image_url?.url]
  const data = /^data:([^;,]+)(?:;[^,]*)?;base64,/.exec(typeof url === 'string' ? url : '')
  const format = formats[kind]?.[data?.[1]?.toLowerCase() ?? '']
  if (data === null || format === undefined)
    throw new BadRequest('The model takes text, and images, documents and videos of data URLs alone')
  const source = { bytes: String(url).slice(data[0].length) }
  const named = kind === 'document' && { name: documentName(filename) }
  return [{ [kind]: { format, ...named, source } }, ...cacheOf(part)]
}

/** Letters, digits, single blanks and a few marks, which are all that a name may have. */
const documentName = (filename: unknown): string =>
  String(filename ?? '')
    .replace(/\.\w+$/, '')
    .replace(/[^\p{L}\p{N}()[\]-]+/gu, ' ')
    .trim()
    .slice(0, 200) || 'document'

const choices: Readonly<Record<string, JsonObject>> = { auto: { auto: {} }, required: { any: {} } }

/**
 * Null without tools. A conversation that has calls of tools needs a list: `none` leaves the list and the choice open, and
 * where the caller gives no list, it holds the names that were called.
 */
const toolConfigOf = (
  tools: readonly JsonObject[],
  choice: unknown,
  messages: readonly Message[],
): JsonObject | null => {
  const called = new Set(messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => call.function.name)))
  if (called.size === 0 && (tools.length === 0 || choice === 'none')) return null
  if (tools.length === 0) return { tools: [...called].map((name) => toolOf({ type: 'function', function: { name } })) }
  const named = (choice as { function?: { name?: string } } | null | undefined)?.function?.name
  const toolChoice = named === undefined ? choices[String(choice)] : { tool: { name: named } }
  return { tools: tools.flatMap((tool) => [toolOf(tool), ...cacheOf(tool)]), ...(toolChoice && { toolChoice }) }
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
