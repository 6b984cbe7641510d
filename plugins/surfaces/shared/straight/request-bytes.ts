import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import { membersIn } from '../../../../core/dialects/json-pieces.ts'

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

/** A member of the outermost object: the place of its value. */
interface Place {
  readonly begin: number
  readonly end: number
}

/** The members that the gateway replaces. */
interface Places {
  model: Place | null
  stream: Place | null
  stream_options: Place | null
}

/** Deeper values go the long way, which words the fault. */
const mostDepth = 32

const backslash = 92
const [quote, comma, colon, bracket, bracketEnd, brace, braceEnd] = [34, 44, 58, 91, 93, 123, 125]

/** Null for a text with a name that stands twice in one object. */
const placesIn = (text: string, value: object): Readonly<Places> | null => {
  const places: Places = { model: null, stream: null, stream_options: null }
  let [depth, named, name, begin] = [0, 0, '', 0]
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at)
        if (depth === 1 && begin === 0) name = text.slice(at + 1, end - 1)
        at = end - 1
        break
      }
      case colon:
        named++
        if (depth === 1) begin = at + 1
        break
      case comma:
      case braceEnd:
        if (depth === 1 && begin > 0) {
          if (name === 'model' || name === 'stream' || name === 'stream_options') places[name] = { begin, end: at }
          begin = 0
        }
        if (text.charCodeAt(at) === braceEnd) depth--
        break
      case bracketEnd:
        depth--
        break
      case brace:
      case bracket:
        if (++depth > mostDepth) return null
    }
  }
  return named === membersIn(value) ? places : null
}

/** The place behind the quote that ends a string. */
const endOfString = (text: string, start: number): number => {
  for (let quoted = text.indexOf('"', start + 1); quoted >= 0; quoted = text.indexOf('"', quoted + 1)) {
    let before = quoted
    while (text.charCodeAt(before - 1) === backslash) before--
    if ((quoted - before) % 2 === 0) return quoted + 1
  }
  return text.length
}

/** A chat as it came, and how its backend gets it. */
export interface ChatBytes {
  readonly body: Buffer
  readonly text: string
  readonly value: Readonly<Record<string, unknown>>
  /** The backend's name of the model. */
  readonly model: string
  readonly streams: boolean
}

/** The body as the backend gets it: its own bytes, but for the members that the gateway replaces. Null where it has to be printed anew. */
export const splicedBody = ({ body, text, value, model, streams }: ChatBytes): string | Buffer | null => {
  const places = placesIn(text, value)
  if (places === null || places.model === null) return null
  const options = value['stream_options'] as Readonly<Record<string, unknown>> | null | undefined
  const cuts: (readonly [place: Place, text: string])[] = []
  if (value['model'] !== model) cuts.push([places.model, JSON.stringify(model)])
  if (!streams) {
    // A backend may refuse options of a stream, and a null in place of false.
    if (options !== undefined || value['stream'] === null) return null
  } else if (options?.['include_usage'] !== true) {
    const withUsage = JSON.stringify({ ...options, include_usage: true })
    if (places.stream_options !== null) cuts.push([places.stream_options, withUsage])
    else if (places.stream === null || options !== undefined) return null
    else cuts.push([{ begin: places.stream.end, end: places.stream.end }, `,"stream_options":${withUsage}`])
  }
  return cuts.length === 0 ? body : cutText(text, cuts)
}

const cutText = (text: string, cuts: readonly (readonly [place: Place, text: string])[]): string => {
  let spliced = ''
  let from = 0
  for (const [{ begin, end }, by] of cuts.toSorted(([one], [other]) => one.begin - other.begin)) {
    spliced += text.slice(from, begin) + by
    from = end
  }
  return spliced + text.slice(from)
}
