import { exact } from '../../long-numbers.ts'
import type { Message, WireUsage } from '../../../../core/ports/upstream.ts'
import { garbled, parseExact } from '../../backend.ts'
import { dataUrlOf } from '../../data-url.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { keepsakeOf, printKeepsake, type Seal } from '../keepsake.ts'

const reasons: Readonly<Record<string, string>> = { length: 'MAX_TOKENS', content_filter: 'SAFETY' }

/** The vendor's own reason where its backend gave it. */
export const reasonOf = (finish: string | null, native: unknown): string =>
  typeof native === 'string' && /^[A-Z_]+$/.test(native) ? native : (reasons[finish ?? ''] ?? 'STOP')

/** The counts of the dialect. Its candidates leave thoughts out, which the common format has within the output. */
export const usageOf = (usage: WireUsage): JsonObject => {
  const count = (details: unknown, name: string) => (details as JsonObject | null | undefined)?.[name]
  const cached = count(usage['prompt_tokens_details'], 'cached_tokens')
  const thoughts = Number(count(usage['completion_tokens_details'], 'reasoning_tokens') ?? 0)
  const input = Number(usage.prompt_tokens ?? 0)
  const output = Number(usage.completion_tokens ?? 0)
  return {
    promptTokenCount: input,
    candidatesTokenCount: Math.max(0, output - thoughts),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cached !== undefined && { cachedContentTokenCount: Number(cached) }),
    totalTokenCount: input + output,
  }
}

const google = (extra: unknown): unknown =>
  ((extra as JsonObject | undefined)?.['google'] as JsonObject | undefined)?.['thought_signature']

/** The last parts of an answer: its calls, whole only then, and the signature that the next turn has to bring back. */
export const endingOf = (message: Message, seal: Seal): readonly JsonObject[] => {
  const calls = (message.tool_calls ?? []).map(({ id, function: called, ...more }): JsonObject => {
    const args = parseExact(called.arguments === '' ? '{}' : called.arguments)
    if (args === null) throw garbled('The arguments of a tool call are not a JSON object')
    const signature = google(more['extra_content'])
    return {
      functionCall: { id, name: called.name, args: exact(args) },
      ...(typeof signature === 'string' && { thoughtSignature: signature }),
    }
  })
  const own = google(message['extra_content'])
  const { thinking_blocks, reasoning_content, response_items, extra_content } = message
  const keepsake = keepsakeOf({ thinking_blocks, reasoning_content, response_items, extra_content })
  const signature = own ?? (keepsake === null ? undefined : printKeepsake(keepsake, seal))
  const [first, ...others] = calls
  if (typeof signature !== 'string') return calls
  if (first === undefined || first['thoughtSignature'] !== undefined) {
    return [{ text: '', thoughtSignature: signature }, ...calls]
  }
  return [{ ...first, thoughtSignature: signature }, ...others]
}

/** Images as parts of the dialect: the bytes of a data URL, and the address of any other. */
export const imagesOf = (images: unknown): readonly JsonObject[] =>
  (Array.isArray(images) ? images : []).flatMap((image) => {
    const url = String(((image as JsonObject)['image_url'] as JsonObject | undefined)?.['url'] ?? '')
    const inside = dataUrlOf(url)
    return [inside ? { inlineData: { mimeType: inside.mime, data: inside.data } } : { fileData: { fileUri: url } }]
  })
