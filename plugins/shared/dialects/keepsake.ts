import type { Dialect, Message } from '../../../core/ports/upstream.ts'
import { parseObject } from '../backend.ts'
import { isJsonObject, type JsonObject } from '../../../core/dialects/json-object.ts'
import type { Drop } from './translated-request.ts'

/** Seals texts that a caller keeps between turns. */
export interface Seal {
  seal(text: string): string
  /** Null for a text that was not sealed for the same caller. */
  open(sealed: string): string | null
}

/** What decides which members of a turn can go on. */
export interface TurnsContext {
  /** The dialect of the backend; undefined stands for the common format. */
  readonly to: Dialect | undefined
  readonly seal: Seal
  readonly drop: Drop
}

/** Parts of an answer that the backend wants back with the next turn, and for which the caller's dialect has no words. */
export interface Keepsake {
  /** Thoughts with the signatures of a backend that speaks Messages. */
  readonly thoughts?: readonly unknown[]
  /** Thoughts of a backend that speaks the common format. */
  readonly reasoning?: string
  /** Thoughts of a backend that speaks Responses, in the outline of their answer. */
  readonly items?: readonly unknown[]
  /** `extra_content` of the message, and of its calls by their ids. */
  readonly extra?: unknown
  readonly calls?: Readonly<Record<string, unknown>>
}

/** The mark keeps a vendor's own signature from an attempt to open it. */
const mark = 'sealgate.'

/** Whether the text claims to be a keepsake. Only `readKeepsake` proves the claim. */
export const isKeepsake = (token: unknown): token is string => typeof token === 'string' && token.startsWith(mark)

/** The keepsake as a text that only the same organisation can give back. */
export const printKeepsake = (keepsake: Keepsake, { seal }: Seal): string => mark + seal(JSON.stringify(keepsake))

/** Null for another caller's keepsake, and for any other text. */
export const readKeepsake = (token: unknown, { open }: Seal): Keepsake | null => {
  if (!isKeepsake(token)) return null
  const text = open(token.slice(mark.length))
  return text === null ? null : (parseObject(text) as Keepsake | null)
}

/** The keepsake of an assistant's message; null when nothing has to be kept. */
export const keepsakeOf = (message: JsonObject): Keepsake | null => {
  const { thinking_blocks, reasoning_content, response_items, extra_content, tool_calls } = message
  // Most messages have nothing of the kind.
  if (!thinking_blocks && !reasoning_content && !response_items && extra_content == null && !tool_calls) return null
  const calls = Object.fromEntries(
    ((tool_calls ?? []) as readonly JsonObject[]).flatMap(({ id, extra_content }) =>
      extra_content == null ? [] : [[String(id), extra_content]],
    ),
  )
  const keepsake: Keepsake = {
    ...(Array.isArray(thinking_blocks) && thinking_blocks.length > 0 && { thoughts: thinking_blocks }),
    ...(typeof reasoning_content === 'string' && reasoning_content !== '' && { reasoning: reasoning_content }),
    ...(Array.isArray(response_items) && response_items.length > 0 && { items: response_items }),
    ...(extra_content != null && { extra: extra_content }),
    ...(Object.keys(calls).length > 0 && { calls }),
  }
  return Object.keys(keepsake).length > 0 ? keepsake : null
}

/** A message with its keepsakes, as far as a backend of this dialect takes them. */
export const restored = (
  message: Message,
  keepsakes: readonly Keepsake[],
  to: Dialect | undefined,
  drop: Drop,
): Message => {
  if (keepsakes.length === 0) return message
  const kept: Record<string, unknown> = { ...message }
  const blocks: unknown[] = []
  const outline: unknown[] = []
  for (const { thoughts, reasoning, items, extra, calls } of keepsakes) {
    if (items !== undefined) {
      if (to === 'responses') outline.push(...items)
      else if (to === undefined && reasoning !== undefined)
        kept['reasoning_content'] = ((kept['reasoning_content'] as string) ?? '') + reasoning
      else drop('reasoning.signature')
    } else if (thoughts !== undefined) {
      if (to === 'messages') for (const block of thoughts) blocks.push(block)
      else drop('reasoning.signature')
    } else if (reasoning !== undefined) {
      if (to === undefined) kept['reasoning_content'] = ((kept['reasoning_content'] as string) ?? '') + reasoning
      else drop('reasoning')
    }
    if (to === 'messages' || to === 'responses') {
      if (extra !== undefined || calls !== undefined) drop('reasoning.signature')
      continue
    }
    if (extra !== undefined) kept['extra_content'] = extra
    if (isJsonObject(calls)) kept['tool_calls'] = (kept as Message).tool_calls?.map((call) => signed(call, calls))
  }
  if (outline.length > 0) kept['response_items'] = outline
  return (blocks.length > 0 ? { ...kept, thinking_blocks: blocks } : kept) as Message
}

const signed = (call: NonNullable<Message['tool_calls']>[number], calls: JsonObject) =>
  Object.hasOwn(calls, call.id) ? { ...call, extra_content: calls[call.id] } : call
