import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { ChatCall, Message, Part } from '../../../core/ports/upstream.ts'
import { parseObject } from '../../shared/backend.ts'
import { refuseOtherCalls } from '../shared/allowed-tools.ts'

/** Theirs by ours. */
const options: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  min_p: 'min_p',
  seed: 'seed',
  stop: 'stop',
  max_tokens: 'num_predict',
  max_completion_tokens: 'num_predict',
  presence_penalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
}

/** Efforts that Ollama names otherwise; false means no thinking. */
const efforts: Readonly<Record<string, string | boolean>> = { none: false, minimal: 'low', xhigh: 'high', max: 'high' }

/** A JSON schema, `json` for any object, or undefined for free text. */
const formatOf = (format: unknown): unknown => {
  const { type, json_schema } = (format ?? {}) as { type?: string; json_schema?: { schema?: unknown } }
  if (type === 'json_schema') return json_schema?.schema ?? 'json'
  return type === 'json_object' ? 'json' : undefined
}

/** Ollama takes arguments as an object. Throws BadRequest for other JSON. */
const parsed = (json: string): JsonObject => {
  const value = parseObject(json || '{}')
  if (value === null) throw new BadRequest('The arguments of a tool call are not a JSON object')
  return value
}

/** What a turn says, piece by piece. Throws BadRequest for a piece that is neither text nor image. */
const partsOf = ({ content }: Message): readonly Part[] => {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  if (parts.some((part) => part.text === undefined && !part.image_url))
    throw new BadRequest('The model takes text and images alone')
  return parts
}

/** An image inside of its address. */
const inAddress = /^data:[^,]*;base64,/

/** The addresses of images that have to be fetched. */
export const addressesIn = ({ body: { messages } }: Pick<ChatCall, 'body'>): ReadonlySet<string> =>
  new Set(
    messages
      .flatMap(partsOf)
      .flatMap((part) => part.image_url?.url ?? [])
      .filter((url) => !inAddress.test(url)),
  )

/** Images in base64 by their addresses. */
export type Images = ReadonlyMap<string, string>

/** They know an answer of a tool by the tool's name, not by the call's id. */
const messagesOf = (messages: readonly Message[], images: Images): JsonObject[] => {
  for (const { tool_calls } of messages) if (tool_calls != null) refuseOtherCalls({ role: 'assistant', tool_calls })
  const names = new Map(
    messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => [call.id, call.function.name])),
  )
  const imageOf = (url: string): string => images.get(url) ?? url.replace(inAddress, '')
  return messages.map((message): JsonObject => {
    const { role, content: _, tool_calls, tool_call_id, reasoning_content, ...rest } = message
    const parts = partsOf(message)
    const urls = parts.flatMap((part) => part.image_url?.url ?? [])
    return {
      role: role === 'developer' ? 'system' : role === 'function' ? 'tool' : role,
      content: parts.map((part) => part.text ?? '').join(''),
      ...(urls.length > 0 && { images: urls.map(imageOf) }),
      ...(typeof reasoning_content === 'string' && { thinking: reasoning_content }),
      ...(tool_calls && {
        tool_calls: tool_calls.map((call) => ({
          function: { name: call.function.name, arguments: parsed(call.function.arguments) },
        })),
      }),
      ...(tool_call_id !== undefined && { tool_name: names.get(tool_call_id) ?? tool_call_id }),
      ...rest,
    }
  })
}

/** The request in Ollama's words. */
export const ollamaBody = ({ model, body, stream, prefix }: ChatCall, images: Images): JsonObject => {
  const { messages, options: own, response_format, reasoning_effort, stream_options: _, ...rest } = body
  const chosen: Record<string, unknown> = {}
  const others: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(rest)) {
    const theirs = (Object.hasOwn(options, name) ? options[name] : null) ?? null
    if (theirs === null) others[name] = value
    else if (value != null) chosen[theirs] = value
  }
  Object.assign(chosen, own)
  const turns = messagesOf(messages, images)
  const format = formatOf(response_format)
  return {
    ...(typeof reasoning_effort === 'string' && { think: efforts[reasoning_effort] ?? reasoning_effort }),
    ...(format !== undefined && { format }),
    ...others,
    model,
    messages: prefix === undefined ? turns : [...turns, { role: 'assistant', content: prefix }],
    stream,
    ...(Object.keys(chosen).length > 0 && { options: chosen }),
  }
}
