import { usageOf as read } from '../../dialects/chat-completions.ts'
import type { ChatBody, Json, ToolCallPart, Usage, WireUsage } from '../../ports/upstream.ts'

/** Tokens of role and marks around each message, about. */
const perMessage = 4
/** About what an image costs where it is neither tiny nor huge. */
const perImage = 800
/** What is set aside for an answer whose length the caller leaves open. */
const openAnswer = 1024

/** A guess: four bytes a token, which is near for English and high for no common language but Chinese, Japanese and Korean. */
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

/** A guess at what a chat request costs to read. */
export const inputOf = ({ messages, tools }: ChatBody): number => {
  let tokens = weigh(tools) >> 2
  for (const { content, tool_calls } of messages) {
    tokens += perMessage
    if (typeof content === 'string') tokens += tokensOf(content)
    else for (const { text } of content ?? []) tokens += typeof text === 'string' ? tokensOf(text) : perImage
    if (tool_calls != null) tokens += weigh(tool_calls) >> 2
  }
  return tokens
}

/** What a chat request may cost at most, as far as the caller says; it is corrected when the truth is known. */
export const estimateOf = (body: ChatBody, user = userOf(body)): Estimate => {
  const most = body['max_completion_tokens'] ?? body['max_tokens']
  return { input: inputOf(body), output: countOf(most, openAnswer) * choicesOf(body), user }
}

/** Whom a caller answers, as the members of its request say. */
export const userOf = ({ user, safety_identifier: other }: Readonly<Record<string, unknown>>): string | undefined => {
  const named = user ?? other
  return typeof named === 'string' && named !== '' ? named : undefined
}

/** How many answers are asked for. */
export const choicesOf = (body: ChatBody): number => countOf(body['n'], 1)

/** Characters of what tools are called with, for the guess of an output that no backend counted. */
export const callSize = (
  calls: readonly (Pick<ToolCallPart, 'function'> & { readonly custom?: unknown })[],
): number => {
  let size = 0
  for (const { function: called, custom } of calls)
    size += (called?.arguments ?? (custom as { readonly input?: string } | undefined)?.input)?.length ?? 0
  return size
}

/** Whatever is no count is the backend's to refuse; here it must not make a sum of anything else. */
const countOf = (value: unknown, otherwise: number): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? Math.min(value as number, 1e9) : otherwise

/** What a call may use, guessed before it goes out. Tokens, unless a member says otherwise. */
export interface Estimate {
  readonly input: number
  readonly output: number
  /** How many are asked for. */
  readonly images?: number
  /** Of the text to be spoken. */
  readonly characters?: number
  /** Whom the caller answers. */
  readonly user?: string | undefined
}

/** Bytes of all keys and values, without making text of them. */
const weigh = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 4
  let bytes = 2
  for (const key in value) bytes += key.length + weigh((value as Readonly<Record<string, Json>>)[key])
  return bytes
}

/** What a backend says it counted; nothing, and marked so, when that is no count. */
export const usageOf = (wire: WireUsage): Usage => read(wire) ?? { input: 0, output: 0, estimated: true }

/** Bytes of a second of speech as it is usually packed. */
const perSecond = 16_000

/** A guess at the length of a packed sound, before its transcription. */
export const secondsOf = (bytes: number): number => bytes / perSecond
