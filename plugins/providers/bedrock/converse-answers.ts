import { print } from '../../../core/dialects/json.ts'
import { exact } from '../../shared/long-numbers.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { garbled, itemsIn, parseObject, toldFault } from '../../shared/backend.ts'
import { wireUsage } from '../../../core/dialects/chat-completions.ts'
import type { Clock, Random } from '../../../core/ports/platform.ts'
import type { Chunk, Completion, WireEvents, WireUsage } from '../../../core/ports/upstream.ts'
import { type Frame, unpackedFrames } from './event-frames.ts'

/** What the reading of an answer needs of its request. */
export interface Reading {
  /** As the caller's request names it; the answer names none. */
  readonly model: string
  readonly clock: Clock
  readonly random: Random
}

const reasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
}

/** Whatever else an answer ends with is no end of it, such as a call that is no JSON. */
const reasonOf = (told: unknown): string => {
  const reason = reasons[String(told)]
  if (reason === undefined) throw garbled('The answer was broken off')
  return reason
}

/** The input there leaves out what the cache has to do with. */
const usageOf = (told: JsonObject): WireUsage => {
  if ((told['inputTokens'] ?? told['outputTokens']) == null) return {} as WireUsage
  const count = (name: string) => Number(told[name] ?? 0)
  const [read, written] = [count('cacheReadInputTokens'), count('cacheWriteInputTokens')]
  return {
    ...wireUsage({ input: count('inputTokens') + read + written, output: count('outputTokens'), cached: read }),
    ...(written > 0 && { cache_creation_input_tokens: written, ...byTime(written, told['cacheDetails']) }),
  }
}

/** What was written to the cache for an hour has a price of its own. */
const byTime = (written: number, details: unknown): JsonObject => {
  const hour = Number(itemsIn(details).find(({ ttl }) => ttl === '1h')?.['inputTokens'] ?? 0)
  if (hour === 0) return {}
  return { cache_creation: { ephemeral_5m_input_tokens: written - hour, ephemeral_1h_input_tokens: hour } }
}

/** The answer has neither id nor time, so both are made here. `created` is in Unix seconds. */
const headOf = ({ model, clock, random }: Reading) => ({
  id: `chatcmpl-${Buffer.from(random.bytes(12)).toString('hex')}`,
  created: Math.floor(clock.now() / 1000),
  model,
})

/** Thoughts: whole, or a piece of them. */
interface Thought {
  readonly reasoningText?: { readonly text?: string; readonly signature?: string }
  readonly redactedContent?: string
  readonly text?: string
  readonly signature?: string
}

/** Thoughts that come back as they are, since they are signed; nothing for others, whose text says all. */
const signedThoughts = (thoughts: readonly Thought[]): JsonObject =>
  thoughts.some(({ reasoningText, redactedContent }) => (reasoningText?.signature ?? redactedContent) !== undefined)
    ? { extra_content: { bedrock: { reasoningContent: thoughts } } }
    : {}

interface Block {
  readonly text?: string
  readonly toolUse?: { readonly toolUseId?: string; readonly name?: string; readonly input?: unknown }
  readonly reasoningContent?: Thought
}

/** Throws UpstreamFailed for an answer that is not done. */
export const completionOf = (body: JsonObject, reading: Reading): Completion => {
  const { output, stopReason, usage, ...rest } = body
  const content = (output as { message?: { content?: unknown } } | undefined)?.message?.content
  if (!Array.isArray(content) || typeof stopReason !== 'string') throw garbled('An answer that is not done')
  const blocks = itemsIn(content) as readonly Block[]
  const text = blocks.map((block) => block.text ?? '').join('')
  const thoughts = blocks.map((block) => block.reasoningContent?.reasoningText?.text ?? '').join('')
  const calls = blocks.flatMap(({ toolUse }) => toolUse ?? [])
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(thoughts !== '' && { reasoning_content: thoughts }),
    ...signedThoughts(blocks.flatMap(({ reasoningContent }) => reasoningContent ?? [])),
    ...(calls.length > 0 && {
      tool_calls: calls.map((use) => ({
        id: String(use.toolUseId),
        type: 'function',
        function: { name: String(use.name), arguments: print(exact(use.input ?? {})) },
      })),
    }),
  }
  const choice = { index: 0, message, finish_reason: reasonOf(stopReason), native_finish_reason: stopReason }
  return {
    ...rest,
    ...headOf(reading),
    object: 'chat.completion',
    choices: [choice],
    usage: usageOf((usage ?? {}) as JsonObject),
  }
}

/** HTTP statuses by the names of exceptions, which come inside a stream of status 200. */
const statuses: Readonly<Record<string, number>> = {
  validationException: 400,
  throttlingException: 429,
  modelTimeoutException: 408,
  internalServerException: 500,
  modelStreamErrorException: 502,
  serviceUnavailableException: 503,
}

/** The event of a frame. Throws what a frame of another kind tells. */
export const eventOf = ({ headers, payload }: Frame): { readonly kind: string; readonly event: JsonObject } => {
  const event = parseObject(payload.toString('utf8'))
  const kind = headers.get(':event-type')
  if (headers.get(':message-type') === 'event' && kind !== undefined) {
    if (event === null) throw garbled('A malformed event')
    return { kind, event }
  }
  throw toldFault({ code: statuses[headers.get(':exception-type') ?? ''] ?? null, message: event?.['message'] })
}

/** The thoughts of a stream, which go before what came of them. */
const streamedThoughts = () => {
  const ended: Thought[] = []
  let growing: { text: string; signature?: string; redactedContent?: string } | null = null
  return {
    grow({ text = '', signature, redactedContent }: Thought): void {
      growing ??= { text: '' }
      growing.text += text
      if (signature !== undefined) growing.signature = (growing.signature ?? '') + signature
      if (redactedContent !== undefined) growing.redactedContent = redactedContent
    },
    /** The block of thoughts is over. */
    settle(): void {
      if (growing === null) return
      const { redactedContent, ...reasoningText } = growing
      growing = null
      ended.push(redactedContent === undefined ? { reasoningText } : { redactedContent })
    },
    /** Tells of signed thoughts, each once. */
    keep(into: Chunk[], chunkOf: (delta: JsonObject) => Chunk): void {
      const kept = signedThoughts(ended.splice(0))
      if (Object.keys(kept).length > 0) into.push(chunkOf(kept))
    },
  }
}

type ChunkHead = ReturnType<typeof headOf> & { readonly object: string }

/** Prints chunks of one choice behind this head. */
const chunkPrinter =
  (head: ChunkHead) =>
  (delta: JsonObject, finish_reason: string | null = null, more: JsonObject = {}): Chunk => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason, ...more }],
  })

/** What the last chunk tells beside its reason. */
const endOf = ({ stopReason, additionalModelResponseFields: more }: JsonObject): JsonObject => ({
  native_finish_reason: stopReason,
  ...(more != null && { additionalModelResponseFields: more }),
})

/** The reader of a stream of Converse. It ends well only behind `metadata`. */
export const converseEvents = (reading: Reading, status: number): WireEvents => {
  const head = { ...headOf(reading), object: 'chat.completion.chunk' }
  /** Places among the calls, by block. */
  const calls = new Map<unknown, number>()
  let done = false
  const thoughts = streamedThoughts()

  const chunk = chunkPrinter(head)
  const called = (index: number, piece: JsonObject) => chunk({ tool_calls: [{ index, ...piece }] })

  const begin = ({ contentBlockIndex, start }: JsonObject, into: Chunk[]) => {
    const { toolUse } = (start ?? {}) as Block
    if (!toolUse) return
    thoughts.keep(into, chunk)
    const index = calls.size
    calls.set(contentBlockIndex, index)
    const { toolUseId: id, name } = toolUse
    into.push(called(index, { id: String(id), type: 'function', function: { name: String(name), arguments: '' } }))
  }

  const grow = ({ contentBlockIndex, delta }: JsonObject, into: Chunk[]) => {
    const { text, toolUse, reasoningContent } = (delta ?? {}) as Block
    const call = calls.get(contentBlockIndex)
    if (text) thoughts.keep(into, chunk)
    if (text) into.push(chunk({ content: text }))
    if (reasoningContent?.text) into.push(chunk({ reasoning_content: reasoningContent.text }))
    if (reasoningContent) thoughts.grow(reasoningContent)
    if (toolUse && call === undefined) throw garbled('A piece of a call that has not begun', status)
    if (toolUse?.input) into.push(called(call!, { function: { arguments: String(toolUse.input) } }))
  }

  return unpackedFrames<Chunk>(status, (frame, into) => {
    const { kind, event } = eventOf(frame)
    switch (kind) {
      case 'messageStart':
        into.push(chunk({ role: 'assistant', content: '' }))
        break
      case 'contentBlockStart':
        begin(event, into)
        break
      case 'contentBlockDelta':
        grow(event, into)
        break
      case 'contentBlockStop':
        thoughts.settle()
        break
      case 'messageStop': {
        done = true
        thoughts.keep(into, chunk)
        into.push(chunk({}, reasonOf(event['stopReason']), endOf(event)))
        break
      }
      case 'metadata':
        if (!done) throw garbled('The stream ended without a reason', status)
        into.push({ ...head, choices: [], usage: usageOf((event['usage'] ?? {}) as JsonObject) })
        return true
    }
    return false
  })
}
