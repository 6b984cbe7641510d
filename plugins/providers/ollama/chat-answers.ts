import { wireUsage } from '../../../core/dialects/chat-completions.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import type { Clock, Random } from '../../../core/ports/platform.ts'
import type { Chunk, Completion, Message, ToolCall, WireEvents } from '../../../core/ports/upstream.ts'
import { garbled, toldFault } from '../../shared/backend.ts'
import { unpackedLines } from '../shared/ndjson.ts'

/** Their line, or their whole answer. */
interface OllamaAnswer {
  readonly model?: string
  readonly created_at?: string
  readonly message?: {
    readonly content?: string
    readonly thinking?: string
    readonly tool_calls?: readonly {
      readonly id?: string
      readonly function: { readonly name: string; readonly arguments: unknown }
    }[]
  }
  readonly done?: boolean
  readonly done_reason?: string
  readonly logprobs?: readonly OllamaToken[]
  readonly prompt_eval_count?: number
  readonly eval_count?: number
  readonly [field: string]: unknown
}

interface OllamaToken {
  readonly token: string
  readonly logprob: number
  readonly bytes?: readonly number[]
  readonly top_logprobs?: readonly OllamaToken[]
}

const logprobOf = ({ token, logprob, bytes, top_logprobs }: OllamaToken): JsonObject => ({
  token,
  logprob,
  bytes: bytes ?? [...Buffer.from(token)],
  ...(top_logprobs && { top_logprobs: top_logprobs.map(logprobOf) }),
})

/** Throws the fault that an answer of status 200 may still tell. */
const saidOf = (body: Record<string, unknown>): OllamaAnswer => {
  if (body['error'] != null) throw toldFault(body['error'])
  return body as OllamaAnswer
}

/** Everything of theirs that the common format has no place for stays under its own name. */
const restOf = ({ model, created_at, message, done, done_reason, logprobs, ...rest }: OllamaAnswer): JsonObject => rest

const usageIn = ({ prompt_eval_count = 0, eval_count = 0 }: OllamaAnswer) =>
  wireUsage({ input: prompt_eval_count, output: eval_count })

const logprobsIn = ({ logprobs }: OllamaAnswer): JsonObject =>
  logprobs
    ? { logprobs: { content: logprobs.map((token) => ({ top_logprobs: [], ...logprobOf(token) })), refusal: null } }
    : {}

const reasonOf = (answer: OllamaAnswer, called: boolean): string => {
  if (called) return 'tool_calls'
  return answer.done_reason === 'length' ? 'length' : 'stop'
}

/** What the reading of an answer needs of its request. */
export interface Reading {
  readonly model: string
  readonly clock: Clock
  readonly random: Random
}

const id = ({ random }: Reading, kind: string): string => kind + Buffer.from(random.bytes(12)).toString('hex')

const callsOf = ({ message }: OllamaAnswer, reading: Reading): ToolCall[] =>
  (message?.tool_calls ?? []).map((call) => ({
    id: call.id ?? id(reading, 'call_'),
    type: 'function',
    function: { name: call.function.name, arguments: JSON.stringify(call.function.arguments ?? {}) },
  }))

/** In Unix seconds, by this gateway's clock where Ollama tells no time. */
const created = ({ created_at }: OllamaAnswer, { clock }: Reading): number =>
  Math.floor((Date.parse(created_at ?? '') || clock.now()) / 1000)

/** Throws UpstreamFailed for an answer that is not done. */
export const completionOf = (whole: JsonObject, reading: Reading): Completion => {
  const answer = saidOf(whole)
  if (!answer.done) throw garbled('An answer that is not done')
  const { content = '', thinking } = answer.message ?? {}
  const tool_calls = callsOf(answer, reading)
  const message: Message = {
    role: 'assistant',
    content: content === '' && tool_calls.length > 0 ? null : content,
    ...(thinking !== undefined && { reasoning_content: thinking }),
    ...(tool_calls.length > 0 && { tool_calls }),
  }
  return {
    id: id(reading, 'chatcmpl-'),
    object: 'chat.completion',
    created: created(answer, reading),
    model: answer.model ?? reading.model,
    choices: [{ index: 0, message, finish_reason: reasonOf(answer, tool_calls.length > 0), ...logprobsIn(answer) }],
    usage: usageIn(answer),
    ...restOf(answer),
  }
}

/** The reader of a stream. */
export const ollamaEvents = (reading: Reading, status: number): WireEvents => {
  const head = { id: id(reading, 'chatcmpl-'), object: 'chat.completion.chunk' }
  let calls = 0

  const chunkOf = (answer: OllamaAnswer): Chunk => {
    const { content, thinking } = answer.message ?? {}
    const tool_calls = callsOf(answer, reading).map((call) => ({ index: calls++, ...call }))
    const delta = {
      role: 'assistant',
      ...(content !== undefined && content !== '' && { content }),
      ...(thinking !== undefined && { reasoning_content: thinking }),
      ...(tool_calls.length > 0 && { tool_calls }),
    }
    const finish_reason = answer.done ? reasonOf(answer, calls > 0) : null
    return {
      ...head,
      created: created(answer, reading),
      model: answer.model ?? reading.model,
      choices: [{ index: 0, delta, finish_reason, ...logprobsIn(answer) }],
      ...(answer.done && { usage: usageIn(answer) }),
      ...restOf(answer),
    }
  }

  return unpackedLines(status, (line) => {
    const answer = saidOf(line)
    return { item: chunkOf(answer), last: answer.done === true }
  })
}
