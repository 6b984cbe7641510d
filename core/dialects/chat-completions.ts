import * as v from 'valibot'
import { isJsonObject, type JsonObject } from './json-object.ts'
import { ModelName, renamed } from './model-name.ts'
import { listOf } from '../validate.ts'
import type { ChatBody, Chunk, Completion, Usage, WireUsage } from '../ports/upstream.ts'

const part = v.looseObject({ type: v.string() })

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

const message = v.looseObject({
  role: v.picklist(roles),
  content: v.nullish(v.union([v.string(), v.array(part)])),
})

/** A message that the schema would take as it is: a conversation may have ten thousands of them. */
const isText = (item: unknown): boolean => {
  if (typeof item !== 'object' || item === null || Object.hasOwn(item, '__proto__')) return false
  const { role, content } = item as { readonly role?: unknown; readonly content?: unknown }
  return typeof content === 'string' && (roles as readonly unknown[]).includes(role)
}

/** The public chat format. What is not named here goes to the backend untouched. */
export const ChatRequest = v.looseObject({
  model: ModelName,
  messages: listOf(message, 1, Infinity, isText),
  stream: v.nullish(v.boolean()),
  /** Pins a backend; an object is the backend's own field. */
  provider: v.nullish(
    v.union(
      [
        v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'up to 64 lower-case letters, digits and hyphens')),
        v.intersect([v.record(v.string(), v.unknown()), v.custom<JsonObject>(isJsonObject)]),
      ],
      'a name or an object',
    ),
  ),
})

/** The request after the check. */
export type ChatRequest = v.InferOutput<typeof ChatRequest>

/** A request, taken apart: the gateway routes by the first three members, and the backend gets the body. */
export interface Parts {
  /** As the caller names it. */
  readonly model: string
  /** The name of the backend that has to answer; null leaves the choice to the router. */
  readonly provider: string | null
  readonly stream: boolean
  readonly body: ChatBody
}

/** What routes the request, apart from what the backend gets to see. */
export const split = ({ model, provider, stream, ...body }: ChatRequest): Parts => ({
  model,
  provider: typeof provider === 'string' ? provider : null,
  stream: stream ?? false,
  body: (typeof provider === 'object' && provider !== null ? { ...body, provider } : body) as ChatBody,
})

/** The data of one event, under the name that the caller knows the model by. */
export const printChunk = (chunk: Chunk, model: string): string => JSON.stringify({ ...chunk, model })

/** The data of the last event of a whole stream. Clients take a stream without it for broken. */
export const endMark = '[DONE]'

/** As it came, but for the name of the model, where nothing else has to be changed. */
export const printCompletion = (completion: Completion, model: string, text?: string): string =>
  (text === undefined ? null : renamed(text, 'model', completion.model, model)) ??
  JSON.stringify({ ...completion, model })

/** The counts as callers read them. Members that the backend did not count are left out. */
export const wireUsage = ({ input, output, reasoning, cached, estimated }: Usage): WireUsage => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
  ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  ...(estimated && { estimated }),
})

/** Null where the backend gave no counts. */
export const usageOf = (wire: WireUsage | null | undefined): Usage | null => {
  const input = count(wire?.prompt_tokens)
  const output = count(wire?.completion_tokens)
  if (!wire || (input === null && output === null)) return null
  const prompt = (wire['prompt_tokens_details'] ?? {}) as Readonly<Record<string, unknown>>
  const completion = (wire['completion_tokens_details'] ?? {}) as Readonly<Record<string, unknown>>
  const usage: Counted = { input: input ?? 0, output: output ?? 0 }
  const put = (name: Exclude<keyof Usage, 'estimated'>, part: number | null) => {
    if (part !== null) usage[name] = part
  }
  const { written, writtenHour } = writtenIn(wire, prompt)
  put('reasoning', count(completion['reasoning_tokens']))
  put('cached', count(prompt['cached_tokens']))
  put('written', written)
  put('writtenHour', writtenHour)
  put('audioInput', count(prompt['audio_tokens']) || null)
  put('audioOutput', count(completion['audio_tokens']) || null)
  if (wire['estimated'] === true) usage.estimated = true
  return usage
}

type Counted = { -readonly [Name in keyof Usage]: Usage[Name] }

/** What went into the prompt cache, as the Messages dialect or this one tells it; null for none. */
const writtenIn = (wire: WireUsage, prompt: Readonly<Record<string, unknown>>) => {
  const all = count(wire['cache_creation_input_tokens']) || count(prompt['cache_write_tokens']) || 0
  const kinds = (wire['cache_creation'] ?? {}) as Readonly<Record<string, unknown>>
  const hour = Math.min(all, count(kinds['ephemeral_1h_input_tokens']) ?? 0)
  return { written: all - hour || null, writtenHour: hour || null }
}

/** Null for what is no count: a backend's negative or broken number must not reach a bill. */
const count = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null
