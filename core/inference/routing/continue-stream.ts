import { wireUsage } from '../../dialects/chat-completions.ts'
import type { ChatBody, Chunk, ChunkChoice, WireUsage } from '../../ports/upstream.ts'
import type { Entry } from '../models/catalog-entry.ts'
import { inputOf, tokensOf } from '../metering/tokens.ts'
import { type JsonObject, isJsonObject } from '../../dialects/json-object.ts'

/** What a stream has given so far, as far as it could be gone on with. */
export interface StreamedSoFar {
  readonly body: ChatBody
  /** All text so far. */
  text: string
  /** Something was given that no prefix can carry. */
  spoiled: boolean
  /** It is thinking, and no text has come yet. */
  thinking: boolean
  /** The first chunk's id, time and model stay those of the whole stream. */
  first: Pick<Chunk, 'id' | 'created' | 'model'> | null
}

/** Null where a broken stream could not be gone on with, whatever it gives. */
export const continuable = ({ settings }: Entry, body: ChatBody): StreamedSoFar | null => {
  if (!settings.continues || (body['n'] ?? 1) !== 1 || body['logprobs'] === true) return null
  const format = body['response_format'] as { readonly type?: unknown } | null | undefined
  if (format != null && format.type !== 'text') return null
  return { body, text: '', spoiled: false, thinking: false, first: null }
}

/** Takes note of a chunk that the caller gets. Calls and audio spoil the stream: no prefix can carry them. */
export const rememberChunk = (soFar: StreamedSoFar, chunk: Chunk): void => {
  soFar.first ??= { id: chunk.id, created: chunk.created, model: chunk.model }
  for (const { index, delta } of chunk.choices) {
    if (index !== 0 || delta.tool_calls != null || delta['function_call'] != null || delta['audio'] != null)
      soFar.spoiled = true
    if (delta.content) {
      soFar.text += delta.content
      soFar.thinking = false
    } else if (delta.reasoning_content || delta['reasoning']) soFar.thinking = true
  }
}

/** The rest of the answer may not be longer than what is left of it. */
export const continuationBody = ({ text }: StreamedSoFar, body: ChatBody): ChatBody => {
  const changed: Record<string, unknown> = { ...body }
  for (const name of ['max_tokens', 'max_completion_tokens']) {
    const most = changed[name]
    if (typeof most === 'number') changed[name] = Math.max(1, most - tokensOf(text))
  }
  return changed as ChatBody
}

/** What the broken part cost, by a guess as far as its backend could not say so any more. */
export const lostUsage = ({ body, text }: StreamedSoFar, told: WireUsage | null): WireUsage => {
  const output = tokensOf(text)
  if (told?.['estimated'] !== true) return told ?? wireUsage({ input: inputOf(body), output, estimated: true })
  return sumUsage(told, wireUsage({ input: 0, output: Math.max(0, output - told.completion_tokens) }))
}

/** What a backend reads that goes on, by a guess until it counts. */
export const promptUsage = ({ body, text }: StreamedSoFar): WireUsage =>
  wireUsage({ input: inputOf(body) + tokensOf(text), output: 0, estimated: true })

/** Counts of two parts of one answer, each detail of them too. */
export const sumUsage = (a: WireUsage, b: WireUsage): WireUsage => {
  const prompt_tokens = (a.prompt_tokens ?? 0) + (b.prompt_tokens ?? 0)
  const completion_tokens = (a.completion_tokens ?? 0) + (b.completion_tokens ?? 0)
  const total_tokens = prompt_tokens + completion_tokens
  return {
    ...added(a, b),
    prompt_tokens,
    completion_tokens,
    total_tokens,
    ...(a['estimated'] === true && { estimated: true }),
  }
}

/** Numbers of both are added, however deep they stand; of all else the later one holds. */
const added = (a: JsonObject, b: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.keys({ ...a, ...b }).map((name) => {
      const [one, other] = [a[name], b[name] ?? a[name]]
      if (typeof one === 'number' && typeof b[name] === 'number') return [name, one + b[name]]
      return [name, isJsonObject(one) && isJsonObject(b[name]) ? added(one, b[name]) : other]
    }),
  )

/** Makes chunks of a continuation fit behind what was given; null for one that says nothing new. */
export type WeaveChunk = (chunk: Chunk) => Chunk | null

/** Shorter beginnings may be repeated by chance. */
const telling = 16

/** The continuation carries on under the first stream's name. A backend that repeats all that was given is cut down to what is new. */
export const weaveContinuation = ({ text: prefix, first }: StreamedSoFar): WeaveChunk => {
  let echoing = prefix.length >= telling
  let held = ''

  /** What of this text is new: nothing is let out while it may still be the prefix over again. */
  const fresh = (text: string, last: boolean): string => {
    if (!echoing) return text
    held += text
    if (held.length < prefix.length && !last && prefix.startsWith(held)) return ''
    echoing = false
    return held.startsWith(prefix) ? held.slice(prefix.length) : held
  }

  const choiceOf = (choice: ChunkChoice): ChunkChoice | null => {
    const { role: _, content, ...delta } = choice.delta
    const text = fresh(content ?? '', choice.finish_reason != null)
    if (
      text === '' &&
      choice.finish_reason == null &&
      !Object.values(delta).some((part) => part != null && part !== '')
    )
      return null
    return { ...choice, delta: text === '' ? delta : { content: text, ...delta } }
  }

  return (chunk) => {
    const choices = chunk.choices.map(choiceOf).filter((choice) => choice !== null)
    if (choices.length === 0 && chunk.usage == null) return null
    return { ...chunk, ...first, choices }
  }
}
