import * as v from 'valibot'
import { BaseUrl, readObject } from '../shared/backend.ts'
import { chatBackend } from './shared/chat-backend.ts'
import { rerankBackend } from './shared/rerank-backend.ts'
import { tokensIn } from './shared/tokens-in.ts'
import { decisionBackend, decisionsForm } from './shared/decision-backend.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { postedJson } from './shared/posted-json.ts'
import { decideByChat, type Showing } from '../shared/decisions/decide-by-chat.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { type Message, Upstream } from '../../core/ports/upstream.ts'

/** What an answer may look like to a tokenizer. */
const variantsOf = (mark: string): readonly string[] => {
  const cases = [...new Set([mark, mark.toLowerCase(), mark.charAt(0).toUpperCase() + mark.slice(1)])]
  return cases.flatMap((word) => [word, ` ${word}`])
}

const isText = ({ content }: Message): boolean =>
  typeof content === 'string' || (content ?? []).every(({ type }) => type === 'text')

/** A server of vLLM, which also counts the tokens of a prompt. */
export default plugin({
  port: Upstream,
  name: 'vllm',
  settings: v.strictObject({
    apiKey: v.optional(v.string()),
    baseUrl: v.optional(BaseUrl, 'http://localhost:8000/v1'),
    /** What the models of this server are for; its list does not say. */
    type: v.optional(v.picklist(['CHAT', 'EMBEDDING', 'AUDIO_TRANSCRIPTION']), 'CHAT'),
    /**
     * How the server decides: by a route of its own, or by log-probabilities of just the tokens of the answers (it must
     * run with raw log-probabilities, as by default). Absent: by those of its likeliest tokens, where a model is marked so.
     */
    decisions: v.optional(v.picklist(['decisions', 'tokens'])),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, type, decisions }, name): Upstream => {
    const headers: Readonly<Record<string, string>> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
    const { models, chat, wire, embed, embedTokens, transcribe, streamTranscript } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers,
      continuation: { continue_final_message: true, add_generation_prompt: false },
      modelOf: ({ id }) => (typeof id === 'string' ? { id, type } : null),
    })
    /** The server's tokens stand beside the routes that it shares with others. */
    const tokens = { fetch, clock, url: `${baseUrl.replace(/\/v1$/, '')}/tokenize`, headers }
    const tokenize = async (fields: object, signal: AbortSignal): Promise<JsonObject> =>
      readObject(await postedJson(tokens, fields, signal))

    const countTokens: Upstream['countTokens'] = async ({ model, body: { messages, tools } }, signal) => {
      // The server counts an image as the one token that stands for its place.
      if (!messages.every(isText)) return null
      const answer = await tokenize({ model, messages, ...(tools !== undefined && { tools }) }, signal)
      return { tokens: tokensIn(answer, 'count', { status: 200 }) }
    }
    const rerank = rerankBackend({ fetch, clock, url: `${baseUrl}/rerank`, headers })
    const more = { countTokens, rerank, embed, embedTokens, transcribe, streamTranscript }
    const backend = { name, models, chat, ...(wire && { wire }), ...more }
    if (decisions === undefined) return backend
    if (decisions === 'decisions') {
      const url = `${baseUrl}/decisions`
      return { ...backend, decide: decisionBackend({ fetch, clock, url, headers: () => headers, form: decisionsForm }) }
    }

    /** Tokens by model and mark, so that each mark is asked for once. */
    const known = new Map<string, readonly number[]>()

    /** Only a text that is one token can be an answer of one token. */
    const tokensOf = async (mark: string, model: string, signal: AbortSignal): Promise<readonly number[]> => {
      const key = JSON.stringify([model, mark])
      const found = known.get(key)
      if (found) return found
      const each = variantsOf(mark).map(async (prompt) => {
        const { tokens } = await tokenize({ model, prompt, add_special_tokens: false }, signal)
        return Array.isArray(tokens) && tokens.length === 1 ? (tokens as number[]) : []
      })
      const tokens = (await Promise.all(each)).flat()
      known.set(key, tokens)
      return tokens
    }

    const showing: Showing = async (marks, model, signal) => {
      const tokens = await Promise.all(marks.map((mark) => tokensOf(mark, model, signal)))
      return { logprob_token_ids: [...new Set(tokens.flat())] }
    }
    return { ...backend, decide: (call, signal, spent) => decideByChat(backend, call, 1, signal, showing, spent) }
  },
})
