import { parsed } from '../../../core/dialects/json.ts'
import { colon, isSpace } from '../../../core/dialects/json-scan.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import type { GuardedText } from '../../../core/ports/guard.ts'

/** Returns the text that takes the place of a text. */
type Replace = (text: string, role: string | null) => string

/** Members that name, address or sign something and say nothing. */
const mute = new Set([
  ...['type', 'role', 'id', 'name', 'model', 'object', 'format', 'index', 'status', 'detail', 'effort'],
  ...[
    'tool_call_id',
    'call_id',
    'tool_use_id',
    'item_id',
    'file_id',
    'signature',
    'thoughtSignature',
    'thought_signature',
  ],
  ...['data', 'b64_json', 'encrypted_content', 'media_type', 'mime_type', 'mimeType', 'url', 'uri', 'fileUri'],
  ...['image_url', 'file_data'],
  ...['finish_reason', 'stop_reason', 'service_tier', 'required'],
])

/** Members of a request that are texts themselves; all others at the top are options. */
const spoken = new Set(['system', 'instructions', 'prompt', 'input', 'user', 'safety_identifier', 'text'])

/** Members with the arguments or the result of a tool. Their names are the caller's own, so no name is mute below them. */
const free = new Set(['input', 'args', 'response', 'output', 'metadata'])

const isFields = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null

const isFree = (name: string, value: unknown): boolean => free.has(name) && isFields(value) && !Array.isArray(value)

/** A document of Messages that is a text has it where other sources have bytes. */
const isDocument = (name: string, { type }: JsonObject): boolean => name === 'data' && type === 'text'

/** A word or a list of words at the top of a request. */
const isOption = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((word) => typeof word === 'string'))

/** A copy with other texts; the same object when no text changes. */
const mapped = (value: unknown, name: string, role: string | null, open: boolean, replace: Replace): unknown => {
  if (typeof value === 'string') {
    if (value === '' || (!open && mute.has(name))) return value
    return name === 'arguments' && !open ? mappedJson(value, role, replace) : replace(value, role)
  }
  if (!isFields(value)) return value
  if (Array.isArray(value)) {
    if (!open && mute.has(name)) return value
    const items = value.map((item) => mapped(item, name, role, open, replace))
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  const own = !open && typeof value['role'] === 'string' ? value['role'] : role
  let copy: Record<string, unknown> | null = null
  for (const [member, inner] of Object.entries(value)) {
    const next = mapped(inner, member, own, open || isFree(member, inner) || isDocument(member, value), replace)
    if (next === inner) continue
    copy ??= { ...value }
    // A member called __proto__ stays a member.
    Object.defineProperty(copy, member, { value: next, writable: true, enumerable: true, configurable: true })
  }
  return copy ?? value
}

/** The place behind a string of sound JSON that begins at `from`. */
const behindString = (text: string, from: number): number => {
  for (let end = text.indexOf('"', from + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = end
    while (text[slashes - 1] === '\\') slashes--
    if ((end - slashes) % 2 === 0) return end + 1
  }
}

/** Where the strings of sound JSON stand that are values. */
function* valuesIn(text: string): Generator<{ readonly from: number; readonly to: number }, void> {
  for (let from = text.indexOf('"'), to = 0; from >= 0; from = text.indexOf('"', to)) {
    let next = (to = behindString(text, from))
    while (isSpace(text.charCodeAt(next))) next++
    if (text.charCodeAt(next) !== colon) yield { from, to }
  }
}

const wordOf = (string: string): string =>
  string.includes('\\') ? (JSON.parse(string) as string) : string.slice(1, -1)

/** Whether a text is whole JSON. */
export const isJson = (text: string): boolean => {
  try {
    parsed(text)
    return true
  } catch {
    return false
  }
}

/** The texts of JSON change where they stand, so that numbers keep every digit. A text that is no JSON is a text. */
const mappedJson = (text: string, role: string | null, replace: Replace): string => {
  if (!isJson(text)) return replace(text, role)
  let [next, copied] = ['', 0]
  for (const { from, to } of valuesIn(text)) {
    const word = wordOf(text.slice(from, to))
    const own = word === '' ? word : replace(word, role)
    if (own === word) continue
    next += text.slice(copied, from) + JSON.stringify(own)
    copied = to
  }
  return next + text.slice(copied)
}

/** Texts of something, and the same thing with other texts in their places. */
export interface Wording<T> {
  readonly texts: readonly GuardedText[]
  with(texts: readonly string[]): T
}

const wordingOf = <T>(map: (replace: Replace) => T): Wording<T> => {
  const texts: GuardedText[] = []
  map((text, role) => {
    texts.push({ role, text })
    return text
  })
  return {
    texts,
    with(next) {
      let at = 0
      return map((text) => next[at++] ?? text)
    },
  }
}

/** The texts of a request in any dialect: turns, instructions, tools with their arguments and results. */
export const requestWording = <T extends object>(body: T): Wording<T> =>
  wordingOf((replace) => {
    const copy: Record<string, unknown> = {}
    let changed = false
    for (const [name, member] of Object.entries(body)) {
      if (!spoken.has(name) && isOption(member)) continue
      const next = mapped(member, name, null, isFree(name, member), replace)
      if (next === member) continue
      copy[name] = next
      changed = true
    }
    return changed ? { ...body, ...copy } : body
  })

/** The texts of a message or of an answer in a dialect of its own. */
export const answerWording = <T>(answer: T): Wording<T> =>
  wordingOf((replace) => mapped(answer, '', null, false, replace) as T)

/** The texts in a JSON text: the arguments of a tool call. */
export const jsonWording = (json: string): Wording<string> => wordingOf((replace) => mappedJson(json, null, replace))

/** A text in pieces of so many characters. A pair of surrogates stays in one piece: half of one is no character. */
export function* piecesOf(text: string, length: number): Generator<string, void> {
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = Math.min(at + length, text.length)
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1
    yield text.slice(at, end)
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
