import { type JsonObject, isJsonObject } from '../../../../core/dialects/json-object.ts'
import type { ChatBody, ChatCall, Message, Part, ToolCall } from '../../../../core/ports/upstream.ts'
import { refuseOtherCalls, refuseOtherTools } from '../allowed-tools.ts'

/** Fields that have the same name and meaning in both formats. */
const same = [
  'temperature',
  'top_p',
  'top_logprobs',
  'parallel_tool_calls',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
] as const

/** The least tokens of an answer that the dialect takes. */
const leastTokens = 16

/** The body of a call of the dialect: the caller's own where the call has one, else that of the common format. */
export const responsesBody = ({ model, stream, native, body }: ChatCall): JsonObject => ({
  model,
  ...(native?.dialect === 'responses' ? native.body : wordedBody(body)),
  ...(stream && { stream }),
})

const wordedBody = (body: ChatBody): JsonObject => {
  const most = body['max_completion_tokens'] ?? body['max_tokens']
  const { reasoning_effort: effort, verbosity, logprobs, tools, tool_choice } = body
  const format = formatOf(body['response_format'])
  refuseOtherTools(tools, true)
  const offered = (tools ?? []) as readonly JsonObject[]
  return {
    input: inputOf(body.messages),
    ...Object.fromEntries(same.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))),
    ...(typeof most === 'number' && { max_output_tokens: Math.max(leastTokens, most) }),
    ...(effort != null && { reasoning: { effort } }),
    ...((format !== null || verbosity != null) && {
      text: { ...(format !== null && { format }), ...(verbosity != null && { verbosity }) },
    }),
    ...(offered.length > 0 && { tools: offered.map(toolOf) }),
    ...(offered.length > 0 && tool_choice != null && { tool_choice: choiceOf(tool_choice) }),
    store: false,
    include: ['reasoning.encrypted_content', ...(logprobs === true ? ['message.output_text.logprobs'] : [])],
  }
}

/** The turns as items: results, texts and calls each stand alone, thoughts before what followed them. */
const inputOf = (messages: readonly Message[]): readonly JsonObject[] => {
  const custom = new Set<string>()
  return messages.flatMap((message): readonly JsonObject[] => {
    const { role, content } = message
    refuseOtherCalls(message, ['function', 'custom'])
    if (role === 'assistant') return saidIn(message, custom)
    if (role === 'tool') {
      const call_id = String(message.tool_call_id ?? '')
      const type = custom.has(call_id) ? 'custom_tool_call_output' : 'function_call_output'
      return [{ type, call_id, output: typeof content === 'string' ? content : partsOf(content ?? []) }]
    }
    return [{ role, content: typeof content === 'string' ? content : partsOf(content ?? []) }]
  })
}

const partsOf = (parts: readonly Part[]): readonly JsonObject[] =>
  parts.map((part) => {
    const { type, text, image_url: image, file, refusal } = part
    if (type === 'text') return { type: 'input_text', text }
    if (type === 'refusal') return { type: 'input_text', text: refusal }
    if (type === 'image_url') return { type: 'input_image', detail: image?.detail ?? 'auto', image_url: image?.url }
    if (type === 'file') return { type: 'input_file', ...(file as JsonObject) }
    return part
  })

/** What an outline of an answer says: thoughts, and what stood before them. */
const isThought = (entry: unknown): entry is JsonObject => isJsonObject(entry) && entry['type'] === 'reasoning'

/** Members of a thought that a backend takes back. Others could reach for its store. */
const thoughtOf = ({ id, summary, content, encrypted_content }: JsonObject): JsonObject => ({
  type: 'reasoning',
  ...(typeof id === 'string' && { id }),
  summary: Array.isArray(summary) ? summary : [],
  ...(Array.isArray(content) && { content }),
  encrypted_content,
})

/** A turn of the model, in the order of its answer as far as the turn knows the order. */
const saidIn = (message: Message, custom: Set<string>): readonly JsonObject[] => {
  const items: JsonObject[] = []
  const calls = new Map((message.tool_calls ?? []).map((call) => [call.id, call]))
  const outline = Array.isArray(message['response_items']) ? (message['response_items'] as readonly unknown[]) : []
  const phase = outline.findLast((entry) => isJsonObject(entry) && entry['type'] === 'message') as
    JsonObject | undefined
  let hasSpoken = false
  const say = () => {
    if (hasSpoken) return
    hasSpoken = true
    const text = textOf(message)
    if (text !== '')
      items.push({
        role: 'assistant',
        content: text,
        ...(typeof phase?.['phase'] === 'string' && { phase: phase['phase'] }),
      })
  }
  const call = (made: ToolCall | undefined) => {
    if (made === undefined) return
    calls.delete(made.id)
    items.push(callOf(made, custom))
  }
  for (const entry of outline) {
    if (isThought(entry)) {
      if (typeof entry['encrypted_content'] === 'string') items.push(thoughtOf(entry))
    } else if (isJsonObject(entry) && entry['type'] === 'message') say()
    else if (isJsonObject(entry)) call(calls.get(String(entry['call_id'])))
  }
  say()
  for (const left of [...calls.values()]) call(left)
  return items
}

const textOf = ({ content, refusal }: Message): string => {
  if (typeof content === 'string') return content
  const texts = (content ?? []).map((part) => part.text ?? (typeof part['refusal'] === 'string' ? part['refusal'] : ''))
  return texts.join('') || (typeof refusal === 'string' ? refusal : '')
}

const callOf = (call: ToolCall, custom: Set<string>): JsonObject => {
  const own = call['custom']
  if (call.type === 'custom' && isJsonObject(own)) {
    custom.add(call.id)
    return { type: 'custom_tool_call', call_id: call.id, name: own['name'], input: own['input'] }
  }
  const { name, arguments: json } = call.function
  return { type: 'function_call', call_id: call.id, name, arguments: json }
}

/** The dialect has flat what the common format nests, and is strict unless a tool says otherwise. */
const toolOf = (tool: JsonObject): JsonObject => {
  const { type, function: own, custom } = tool
  if (type === 'function' && isJsonObject(own)) {
    const { name, description, parameters, strict } = own
    return {
      type,
      name,
      ...(description != null && { description }),
      parameters: parameters ?? { type: 'object', properties: {} },
      strict: strict === true,
    }
  }
  if (type !== 'custom' || !isJsonObject(custom)) return tool
  const { format, ...rest } = custom
  const grammar = isJsonObject(format) ? format['grammar'] : undefined
  return {
    type,
    ...rest,
    ...(format != null && { format: isJsonObject(grammar) ? { type: 'grammar', ...grammar } : format }),
  }
}

const choiceOf = (choice: unknown): unknown => {
  if (!isJsonObject(choice)) return choice
  const { type, function: own, custom, allowed_tools: allowed } = choice
  if (type === 'allowed_tools' && isJsonObject(allowed)) {
    const tools = Array.isArray(allowed['tools']) ? allowed['tools'] : []
    return { type, mode: allowed['mode'] ?? 'auto', tools: tools.map(choiceOf) }
  }
  const name = (isJsonObject(own) ? own : isJsonObject(custom) ? custom : choice)['name']
  return { type, name }
}

/** Null for free text. */
const formatOf = (format: unknown): JsonObject | null => {
  if (!isJsonObject(format) || format['type'] === 'text') return null
  const { type, json_schema: schema } = format
  return type === 'json_schema' && isJsonObject(schema) ? { type, ...schema } : { type }
}
