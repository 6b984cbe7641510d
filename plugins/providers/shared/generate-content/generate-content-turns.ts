import { exact } from '../../../shared/long-numbers.ts'
import { BadRequest } from '../../../../core/errors.ts'
import type { Message, Part, ToolCall } from '../../../../core/ports/upstream.ts'
import { parseExact } from '../../../shared/backend.ts'
import { dataUrlOf } from '../../../shared/data-url.ts'
import { emptyConversation } from '../empty-conversation.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** One turn in Gemini's form. */
export interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

/** What stands for the signature of a call that another backend has made. */
const unsigned = 'skip_thought_signature_validator'

/** Their conversation: instructions apart (null without any), the results of parallel calls together in one turn. `signs` where calls must bear their signatures. */
export const conversationOf = (messages: readonly Message[], signs: boolean) => {
  const system: JsonObject[] = []
  const contents: { role: 'user' | 'model'; parts: JsonObject[] }[] = []
  /** They know the answer of a tool by the tool's name too. */
  const names = new Map<string, string>()
  for (const message of messages) {
    const { role, content, tool_calls } = message
    if (role === 'system' || role === 'developer') {
      system.push(...partsOf(content))
      continue
    }
    for (const call of tool_calls ?? []) names.set(call.id, call.function.name)
    const parts =
      role === 'tool' ? resultsOf(message, names) : role === 'assistant' ? saidIn(message, signs) : partsOf(content)
    const own = role === 'assistant' ? 'model' : 'user'
    const last = contents.at(-1)
    if (last?.role === own) last.parts.push(...parts)
    else if (parts.length > 0) contents.push({ role: own, parts })
  }
  if (contents.length > 0) return { system: system.length > 0 ? { parts: system } : null, contents }
  // They want a turn of the user: where nobody says anything, the instructions are one.
  if (system.length === 0) throw emptyConversation()
  return { system: null, contents: [{ role: 'user' as const, parts: system }] }
}

const partsOf = (content: Message['content']): JsonObject[] => {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  return parts.map(partOf).filter(({ text }) => text !== '')
}

const partOf = (part: Part): JsonObject => {
  const { type, ...rest } = part
  switch (type) {
    case 'text':
      return { text: part.text ?? '' }
    case 'refusal':
      return { text: String(part['refusal'] ?? '') }
    case 'image_url':
      return mediaOf(part.image_url?.url)
    case 'video_url':
      return mediaOf((part['video_url'] as JsonObject | undefined)?.['url'])
    case 'input_audio': {
      const { data, format } = (part['input_audio'] ?? {}) as JsonObject
      return { inlineData: { mimeType: `audio/${format}`, data } }
    }
    case 'file': {
      const { file_data, file_id } = (part['file'] ?? {}) as JsonObject
      return mediaOf(file_data ?? file_id)
    }
  }
  // Their own kinds of parts are named by their fields.
  if (Object.keys(rest).some((name) => /^(inlineData|fileData|executableCode|codeExecutionResult)$/.test(name)))
    return rest
  throw new BadRequest('A message has a part that the model does not take')
}

/** Types of files by the ends of their addresses. */
const mimes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  pdf: 'application/pdf',
}

/** An address is theirs to fetch. */
const mediaOf = (url: unknown): JsonObject => {
  if (typeof url !== 'string') throw new BadRequest('A part of a message has no address')
  const inside = dataUrlOf(url)
  if (inside) return { inlineData: { mimeType: inside.mime, data: inside.data } }
  if (!/^(https?|gs):/i.test(url)) throw new BadRequest('A part of a message is neither a data URL nor an address')
  const mimeType = mimes[/\.(\w+)(?=[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? '']
  return { fileData: { ...(mimeType !== undefined && { mimeType }), fileUri: url } }
}

/** Where the signatures of thoughts stand in the common format; the vendor's own compatible surface puts them there. */
const signatureOf = (part: JsonObject): string | null => {
  const extra = part['extra_content'] as
    { readonly google?: { readonly thought_signature?: unknown } } | null | undefined
  const signature = extra?.google?.thought_signature
  return typeof signature === 'string' ? signature : null
}

/** The signature of a text returns with its last part. Of parallel calls only the first must bear a signature. */
const saidIn = (message: Message, signs: boolean): JsonObject[] => {
  const parts = partsOf(message.content)
  const signature = signatureOf(message)
  if (signature !== null) parts.push({ ...(parts.pop() ?? { text: '' }), thoughtSignature: signature })
  const calls = (message.tool_calls ?? []).map((call, index) => callOf(call, signs && index === 0))
  return [...parts, ...calls]
}

/** Throws BadRequest when the arguments are no JSON object. */
const callOf = (call: ToolCall, must: boolean): JsonObject => {
  const args = parseExact(call.function.arguments || '{}')
  if (args === null) throw new BadRequest('The arguments of a tool call are not a JSON object')
  const signature = signatureOf(call) ?? (must ? unsigned : null)
  return {
    functionCall: { id: call.id, name: call.function.name, args: exact(args) },
    ...(signature !== null && { thoughtSignature: signature }),
  }
}

/** A result that is no JSON object stands in `output`. Images of a result follow in the same turn. */
const resultsOf = (
  { content, tool_call_id: id = '', name }: Message,
  names: ReadonlyMap<string, string>,
): JsonObject[] => {
  const parts = partsOf(content)
  const text = parts.map((part) => part['text'] ?? '').join('')
  return [
    {
      functionResponse: {
        id,
        name: names.get(id) ?? (typeof name === 'string' ? name : id),
        response: exact(parseExact(text)) ?? { output: text },
      },
    },
    ...parts.filter((part) => !('text' in part)),
  ]
}
