import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { wireUsage } from '../../core/dialects/chat-completions.ts'
import { BadRequest } from '../../core/errors.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Clock } from '../../core/ports/platform.ts'
import {
  Upstream,
  type ChatBody,
  type ChatCall,
  type Chunk,
  type Completion,
  type Message,
  type ToolCall,
} from '../../core/ports/upstream.ts'
import type { Fit } from './shared/similarity.ts'

const deciding = lazy(() => import('./shared/similarity.ts'))

/** Answers that share words with the state win clearly. */
const fit: Fit = { choice: 0.1, score: 0.1, noul: [4, 6, -3, -2] }

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Words with the space behind them: what this backend takes for tokens. */
const wordsOf = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? []

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? `[${part.type}]`).join(' ')

/** What the rehearsal answers to one request. */
interface Play {
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly reason: string
  readonly usage: { readonly input: number; readonly output: number }
}

interface OfferedTool {
  readonly function?: { readonly name?: string; readonly parameters?: { readonly properties?: object } }
}

/** The tool that is called: the required one, or else the first. */
const chosenTool = ({ tools, tool_choice }: ChatBody): OfferedTool['function'] | null => {
  if (!Array.isArray(tools) || tool_choice === 'none') return null
  const must = (tool_choice as OfferedTool | null | undefined)?.function?.name
  const offered = (tools as OfferedTool[]).map((tool) => tool.function)
  return offered.find((tool) => tool?.name === must) ?? offered[0] ?? null
}

/** Calls the chosen tool once. A result of a tool, or a request without tools, gets a text. */
const playOf = ({ body, prefix }: ChatCall): Play => {
  const { messages } = body
  const input = messages.reduce((sum, message) => sum + wordsOf(textOf(message)).length, 0)
  const last = messages.at(-1)!
  const text = textOf(last)
  const tool = last.role === 'tool' ? null : chosenTool(body)
  if (tool?.name !== undefined) {
    const field = Object.keys(tool.parameters?.properties ?? {})[0]
    const args = JSON.stringify(field === undefined ? {} : { [field]: text })
    const id = `call_${digest(tool.name + args).toString('hex', 0, 12)}`
    const calls = [{ id, type: 'function', function: { name: tool.name, arguments: args } }]
    return { text: '', calls, reason: 'tool_calls', usage: { input, output: 1 } }
  }
  const format = (body['response_format'] as { readonly type?: string } | null | undefined)?.type ?? 'text'
  const whole =
    format === 'text'
      ? `This is a rehearsal: no model was asked. The last message was: ${text}`
      : JSON.stringify({ rehearsal: true, note: 'No model was asked.', last: text })
  const rest = prefix !== undefined && whole.startsWith(prefix) ? whole.slice(prefix.length) : whole
  const most = body['max_completion_tokens'] ?? body['max_tokens']
  const words = wordsOf(rest)
  const given = typeof most === 'number' ? words.slice(0, most) : words
  return {
    text: given.join(''),
    calls: [],
    reason: given.length < words.length ? 'length' : 'stop',
    usage: { input, output: given.length },
  }
}

/** Equal requests get equal ids, so that tests can compare answers. */
const headOf = ({ model, body }: ChatCall, object: string, clock: Clock) => ({
  id: `chatcmpl-rehearsal-${digest(JSON.stringify(body)).toString('hex', 0, 12)}`,
  object,
  created: Math.floor(clock.now() / 1000),
  model,
})

const completionOf = (call: ChatCall, clock: Clock): Completion => {
  const { text, calls, reason, usage } = playOf(call)
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    ...headOf(call, 'chat.completion', clock),
    choices: [{ index: 0, message, finish_reason: reason }],
    usage: wireUsage(usage),
  }
}

async function* chunksOf(call: ChatCall, clock: Clock, signal: AbortSignal): AsyncGenerator<Chunk, undefined> {
  const { text, calls, reason, usage } = playOf(call)
  const head = headOf(call, 'chat.completion.chunk', clock)
  const chunk = (delta: Chunk['choices'][number]['delta'], finish_reason: string | null = null): Chunk => {
    signal.throwIfAborted()
    return { ...head, choices: [{ index: 0, delta, finish_reason }] }
  }
  yield chunk({ role: 'assistant', content: calls.length > 0 ? null : '' })
  for (const content of wordsOf(text)) yield chunk({ content })
  for (const [index, call] of calls.entries()) yield chunk({ tool_calls: [{ index, ...call }] })
  yield chunk({}, reason)
  yield { ...head, choices: [], usage: wireUsage(usage) }
}

/** Texts that share words are near each other; each word falls on a place and a sign of its own. */
const vectorOf = (text: string, dimensions: number): Float32Array => {
  const vector = new Float32Array(dimensions)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    const hash = digest(word)
    const place = hash.readUInt32LE(0) % dimensions
    vector[place] = (vector[place] ?? 0) + ((hash[4] ?? 0) & 1 ? 1 : -1)
  }
  const length = Math.hypot(...vector)
  // Words may cancel each other out.
  if (length === 0) vector[0] = 1
  else for (let at = 0; at < dimensions; at++) vector[at] = (vector[at] ?? 0) / length
  return vector
}

/** Of a vector; it is made in one turn of the loop. */
const mostDimensions = 4096

/** A backend without a model, for tests and first steps: the request alone decides the answer. */
export default plugin({
  port: Upstream,
  name: 'rehearsal',
  settings: v.strictObject({
    chat: v.optional(v.array(v.string()), ['rehearsal']),
    embedding: v.optional(v.array(v.string()), ['rehearsal-embedding']),
    decision: v.optional(v.array(v.string()), []),
    transcription: v.optional(v.array(v.string()), []),
    dimensions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(mostDimensions)), 256),
  }),
  needs: { clock: Clock },
  create: ({ clock }, { chat, embedding, decision, transcription, dimensions: usual }, name): Upstream => ({
    name,
    pretends: true,

    async models(signal) {
      signal.throwIfAborted()
      const description = 'Offline and always the same; it asks no model'
      return [
        ...chat.map((id) => ({ id, type: 'CHAT', description, modalities: ['text'] }) as const),
        ...embedding.map((id) => ({ id, type: 'EMBEDDING', description }) as const),
        ...decision.map((id) => ({ id, type: 'DECISION', description, modalities: ['text'] }) as const),
        ...transcription.map((id) => ({ id, type: 'AUDIO_TRANSCRIPTION', description }) as const),
      ]
    },

    async chat(call, signal) {
      signal.throwIfAborted()
      return call.stream
        ? { kind: 'chunks', chunks: chunksOf(call, clock, signal) }
        : { kind: 'completion', completion: completionOf(call, clock) }
    },

    async embed({ texts, dimensions = usual }, signal) {
      signal.throwIfAborted()
      if (dimensions > mostDimensions)
        throw new BadRequest('A vector has too many dimensions', {
          validator: { dimensions: `Expected at most ${mostDimensions}` },
        })
      const input = texts.reduce((sum, text) => sum + wordsOf(text).length, 0)
      return { vectors: texts.map((text) => vectorOf(text, dimensions)), usage: { input, output: 0 } }
    },

    async decide(call, signal) {
      const embed = async (texts: readonly string[]) => texts.map((text) => vectorOf(text, usual))
      return { ...(await (await deciding()).decideBySimilarity(embed, fit, call, signal)), engine: 'rehearsal' }
    },

    async transcribe({ audio: { bytes } }, signal) {
      signal.throwIfAborted()
      const text = `This is a rehearsal: no model was asked. The sound has ${bytes.length} bytes.`
      return { text, language: null, duration: null, segments: [], words: [] }
    },
  }),
})
