import * as v from 'valibot'
import { accepted, BaseUrl, garbled, parseObject, readBytes, readObject, toldFault } from '../shared/backend.ts'
import { wireUsage } from '../../core/dialects/chat-completions.ts'
import { printJson } from './shared/print-json.ts'
import { base64Beside, decisionBackend } from './shared/decision-backend.ts'
import { vectorsOf } from './shared/media-answers.ts'
import { lineItems } from './shared/ndjson.ts'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Random, type Answer } from '../../core/ports/platform.ts'
import {
  Upstream,
  type ChatCall,
  type Chunk,
  type Completion,
  type Message,
  type Model,
  type ToolCall,
} from '../../core/ports/upstream.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'

/** Theirs by ours. */
const options: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  min_p: 'min_p',
  seed: 'seed',
  stop: 'stop',
  max_tokens: 'num_predict',
  max_completion_tokens: 'num_predict',
  presence_penalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
}

/** Efforts that Ollama names otherwise; false means no thinking. */
const efforts: Readonly<Record<string, string | boolean>> = { none: false, minimal: 'low', xhigh: 'high', max: 'high' }

/** A JSON schema, `json` for any object, or undefined for free text. */
const formatOf = (format: unknown): unknown => {
  const { type, json_schema } = (format ?? {}) as { type?: string; json_schema?: { schema?: unknown } }
  if (type === 'json_schema') return json_schema?.schema ?? 'json'
  return type === 'json_object' ? 'json' : undefined
}

/** Ollama takes arguments as an object. Throws BadRequest for other JSON. */
const parsed = (json: string): JsonObject => {
  const value = parseObject(json || '{}')
  if (value === null) throw new BadRequest('The arguments of a tool call are not a JSON object')
  return value
}

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

/** Ollama by its own chat route, whose streams have a JSON object on each line. */
export default plugin({
  port: Upstream,
  name: 'ollama',
  settings: v.strictObject({
    apiKey: v.optional(v.string()),
    baseUrl: v.optional(BaseUrl, 'http://localhost:11434'),
    /** True where the models of this name decide by themselves, and do nothing else. */
    decisions: v.optional(v.boolean(), false),
  }),
  needs: { fetch: Fetch, clock: Clock, random: Random },
  create: ({ fetch, clock, random }, { apiKey, baseUrl, decisions }, name): Upstream => {
    const headers = {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    }
    /** Rejects unless the answer has a status of 2xx. */
    const ask = async (method: 'GET' | 'POST', path: string, body: JsonObject | null, signal: AbortSignal) =>
      accepted(
        await fetch.upstream(baseUrl + path, { method, headers, signal, ...(body && { body: await printJson(body) }) }),
        clock,
      )
    const id = (kind: string) => kind + Buffer.from(random.bytes(12)).toString('hex')

    /** The image in base64. An address from the caller is fetched through the door for strangers. */
    const image = async (url: string, signal: AbortSignal): Promise<string> => {
      const data = /^data:[^,]*;base64,/.exec(url)
      if (data) return url.slice(data[0].length)
      const answer = await fetch.outside(url, { method: 'GET', signal })
      if (answer.status === 200) return (await readBytes(answer)).toString('base64')
      answer.discard()
      throw new BadRequest('An image could not be fetched')
    }

    /** They know an answer of a tool by the tool's name, not by the call's id. */
    const messagesOf = (messages: readonly Message[], signal: AbortSignal): Promise<JsonObject[]> => {
      const names = new Map(
        messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => [call.id, call.function.name])),
      )
      return Promise.all(
        messages.map(
          async ({ role, content, tool_calls, tool_call_id, reasoning_content, ...rest }): Promise<JsonObject> => {
            const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
            if (parts.some((part) => part.text === undefined && !part.image_url)) {
              throw new BadRequest('The model takes text and images alone')
            }
            const images = parts.flatMap((part) => part.image_url?.url ?? [])
            return {
              role: role === 'developer' ? 'system' : role === 'function' ? 'tool' : role,
              content: parts.map((part) => part.text ?? '').join(''),
              ...(images.length > 0 && { images: await Promise.all(images.map((url) => image(url, signal))) }),
              ...(typeof reasoning_content === 'string' && { thinking: reasoning_content }),
              ...(tool_calls && {
                tool_calls: tool_calls.map((call) => ({
                  function: { name: call.function.name, arguments: parsed(call.function.arguments) },
                })),
              }),
              ...(tool_call_id !== undefined && { tool_name: names.get(tool_call_id) ?? tool_call_id }),
              ...rest,
            }
          },
        ),
      )
    }

    const bodyOf = async ({ model, body, stream, prefix }: ChatCall, signal: AbortSignal): Promise<JsonObject> => {
      const { messages, options: own, response_format, reasoning_effort, stream_options: _, ...rest } = body
      const chosen: Record<string, unknown> = {}
      const others: Record<string, unknown> = {}
      for (const [name, value] of Object.entries(rest)) {
        const theirs = (Object.hasOwn(options, name) ? options[name] : null) ?? null
        if (theirs === null) others[name] = value
        else if (value != null) chosen[theirs] = value
      }
      Object.assign(chosen, own)
      const turns = await messagesOf(messages, signal)
      const format = formatOf(response_format)
      return {
        ...(typeof reasoning_effort === 'string' && { think: efforts[reasoning_effort] ?? reasoning_effort }),
        ...(format !== undefined && { format }),
        ...others,
        model,
        messages: prefix === undefined ? turns : [...turns, { role: 'assistant', content: prefix }],
        stream,
        ...(Object.keys(chosen).length > 0 && { options: chosen }),
      }
    }

    const callsOf = ({ message }: OllamaAnswer): ToolCall[] =>
      (message?.tool_calls ?? []).map((call) => ({
        id: call.id ?? id('call_'),
        type: 'function',
        function: { name: call.function.name, arguments: JSON.stringify(call.function.arguments ?? {}) },
      }))

    /** In Unix seconds, by this gateway's clock where Ollama tells no time. */
    const created = ({ created_at }: OllamaAnswer) => Math.floor((Date.parse(created_at ?? '') || clock.now()) / 1000)

    const completionOf = (answer: OllamaAnswer, model: string): Completion => {
      const { content = '', thinking } = answer.message ?? {}
      const tool_calls = callsOf(answer)
      const message: Message = {
        role: 'assistant',
        content: content === '' && tool_calls.length > 0 ? null : content,
        ...(thinking !== undefined && { reasoning_content: thinking }),
        ...(tool_calls.length > 0 && { tool_calls }),
      }
      return {
        id: id('chatcmpl-'),
        object: 'chat.completion',
        created: created(answer),
        model: answer.model ?? model,
        choices: [{ index: 0, message, finish_reason: reasonOf(answer, tool_calls.length > 0), ...logprobsIn(answer) }],
        usage: usageIn(answer),
        ...restOf(answer),
      }
    }

    const chunksOf = (answer: Answer, model: string): AsyncIterable<Chunk> => {
      const head = { id: id('chatcmpl-'), object: 'chat.completion.chunk' }
      let calls = 0

      const chunkOf = (answer: OllamaAnswer): Chunk => {
        const { content, thinking } = answer.message ?? {}
        const tool_calls = callsOf(answer).map((call) => ({ index: calls++, ...call }))
        const delta = {
          role: 'assistant',
          ...(content !== undefined && content !== '' && { content }),
          ...(thinking !== undefined && { reasoning_content: thinking }),
          ...(tool_calls.length > 0 && { tool_calls }),
        }
        const finish_reason = answer.done ? reasonOf(answer, calls > 0) : null
        return {
          ...head,
          created: created(answer),
          model: answer.model ?? model,
          choices: [{ index: 0, delta, finish_reason, ...logprobsIn(answer) }],
          ...(answer.done && { usage: usageIn(answer) }),
          ...restOf(answer),
        }
      }

      return lineItems(answer, clock, (line) => {
        const answer = saidOf(line)
        return { item: chunkOf(answer), last: answer.done === true }
      })
    }

    const models = async (signal: AbortSignal): Promise<Model[]> => {
      const { models } = await readObject(await ask('GET', '/api/tags', null, signal))
      if (!Array.isArray(models)) throw garbled('No list of models')
      return models.map(({ model, name, details }): Model => {
        const embeds = /bert|embed/.test(`${details?.family} ${name}`)
        return { id: model ?? name, type: decisions ? 'DECISION' : embeds ? 'EMBEDDING' : 'CHAT' }
      })
    }

    if (decisions) {
      const url = `${baseUrl}/v1/systemone`
      // Its prompt shows the model all questions of a call.
      const form = { form: base64Beside, apart: true }
      return { name, models, decide: decisionBackend({ fetch, clock, url, headers: () => headers, ...form }) }
    }

    return {
      name,
      models,

      async chat(call, signal) {
        const answer = await ask('POST', '/api/chat', await bodyOf(call, signal), signal)
        if (call.stream) return { kind: 'chunks', chunks: chunksOf(answer, call.model) }
        const whole = saidOf(await readObject(answer))
        if (!whole.done) throw garbled('An answer that is not done')
        return { kind: 'completion', completion: completionOf(whole, call.model) }
      },

      async embed({ model, texts, dimensions }, signal) {
        const body = { model, input: texts, ...(dimensions !== undefined && { dimensions }) }
        const { embeddings, prompt_eval_count } = await readObject(await ask('POST', '/api/embed', body, signal))
        const rows = Array.isArray(embeddings) ? embeddings.map((embedding: unknown) => ({ embedding })) : null
        return { vectors: vectorsOf(rows, texts.length), usage: { input: Number(prompt_eval_count ?? 0), output: 0 } }
      },
    }
  },
})
