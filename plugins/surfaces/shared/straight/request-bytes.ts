import { type JsonObject, isJsonObject } from '../../../../core/dialects/json-object.ts'
import { membersIn } from '../../../../core/dialects/json.ts'
import type { ReadAround } from '../../../shared/long-texts.ts'

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

/** Fields that decide more than the request to one backend. */
const beyond = ['provider', 'prompt_cache_key', 'cache_salt'] as const

/** True where the schema of chats certainly takes the value as it is; false says nothing. */
export const isPlainChat = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (!isJsonObject(value)) return false
  const { model, messages, stream } = value
  if (typeof model !== 'string' || model.length === 0 || model.length > 256) return false
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') return false
  if (beyond.some((name) => value[name] !== undefined)) return false
  return Array.isArray(messages) && messages.length > 0 && messages.every(isPlainMessage)
}

const isPlainMessage = (message: unknown): boolean => {
  if (typeof message !== 'object' || message === null) return false
  const { role, content } = message as { readonly role?: unknown; readonly content?: unknown }
  if (typeof role !== 'string' || !roles.has(role)) return false
  return typeof content === 'string' || content == null || (Array.isArray(content) && content.every(isPlainPart))
}

const isPlainPart = (part: unknown): boolean =>
  typeof part === 'object' && part !== null && typeof (part as { readonly type?: unknown }).type === 'string'

/** How the backend gets a chat. */
export interface SentChat {
  /** The backend's name of the model. */
  readonly model: string
  readonly streams: boolean
}

/** The body as the backend gets it: its own bytes, but for the members that the gateway replaces. Null where it has to be printed anew. */
export const splicedBody = (read: ReadAround, { model, streams }: SentChat): Buffer | null => {
  const { bytes, members } = read.scan
  const value = read.value as JsonObject
  // Parsers differ in which member they take of those that an object names twice.
  if (members !== membersIn(value)) return null
  const options = value['stream_options'] as JsonObject | null | undefined
  const isNamed = value['model'] === model
  if (!streams) {
    // A backend may refuse options of a stream, and a null in place of false.
    if (options !== undefined || value['stream'] === null) return null
    return isNamed ? bytes : spliced(read, isNamed, model, null)
  }
  if (options?.['include_usage'] === true) return isNamed ? bytes : spliced(read, isNamed, model, null)
  return spliced(read, isNamed, model, JSON.stringify({ ...options, include_usage: true }))
}

/** The bytes with another model where it is not named, and with these options of the stream. Null where a member is spelled in a way of its own. */
const spliced = (
  { scan: { bytes, outermost }, value }: ReadAround,
  isNamed: boolean,
  model: string,
  options: string | null,
): Buffer | null => {
  const parts: Buffer[] = []
  let from = 0
  let missing = (isNamed ? 0 : 1) + (options === null ? 0 : 1)
  const replaces = (begin: number, end: number, by: string): void => {
    parts.push(bytes.subarray(from, begin), Buffer.from(by))
    from = end
    missing--
  }
  const hasOptions = (value as JsonObject)['stream_options'] !== undefined
  for (const { name, nameEnd, value: begin, valueEnd } of outermost) {
    const isMember = (word: string): boolean => bytes.toString('latin1', name + 1, nameEnd - 1) === word
    if (!isNamed && isMember('model')) replaces(begin, valueEnd, JSON.stringify(model))
    else if (options !== null && hasOptions && isMember('stream_options')) replaces(begin, valueEnd, options)
    else if (options !== null && !hasOptions && isMember('stream'))
      replaces(valueEnd, valueEnd, `,"stream_options":${options}`)
  }
  if (missing > 0) return null
  parts.push(bytes.subarray(from))
  return Buffer.concat(parts)
}
