import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { readKept, readObject } from '../../shared/backend.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { ChatCall, Upstream } from '../../../core/ports/upstream.ts'
import { countBody, countOf } from '../shared/messages/count-messages.ts'
import { generationOf } from '../shared/messages/generations.ts'
import { chunksOf, completionOf } from '../shared/messages/messages-answers.ts'
import { messagesBody } from '../shared/messages/messages.ts'

/** Sends a body to an act of a Claude model. Resolves with an answer of 2xx alone. */
export type ClaudePost = (
  model: string,
  act: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Answer>

/** The version of Anthropic's format that Vertex takes. */
const version = 'vertex-2023-10-16'

/** The betas that a native request names. */
const betasOf = ({ native }: Pick<ChatCall, 'native'>): Readonly<Record<string, string>> => {
  const betas = native?.dialect === 'messages' ? native.headers['anthropic-beta'] : undefined
  return betas === undefined ? {} : { 'anthropic-beta': betas }
}

export const isClaude = (model: string): boolean => /^claude-/.test(model)

/** Claude on Vertex: the Messages dialect, with the model in the address and the version in the body. */
export const claudeBackend =
  (clock: Clock, post: ClaudePost): NonNullable<Upstream['chat']> =>
  async (call, signal) => {
    if (call.prefix !== undefined) {
      throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
    }
    const { body, request } = messagesBody(call, generationOf(call.model))
    const { model: _, ...rest } = body
    const sent = { anthropic_version: version, ...rest }
    const native = call.native?.dialect === 'messages' ? call.native : null
    const answer = await post(call.model, call.stream ? 'streamRawPredict' : 'rawPredict', sent, betasOf(call), signal)
    if (call.stream) return { kind: 'chunks', chunks: chunksOf(answer, request, clock) }
    const whole = await (native === null ? readObject : readKept)(answer)
    const completion = completionOf(whole, request, clock)
    if (native === null) return { kind: 'completion', completion }
    return { kind: 'completion', completion, native: { dialect: 'messages', body: whole, headers: {} } }
  }

/** Tokens of Claude on Vertex. One address counts for all models, and the body names the model. */
export const claudeCounter =
  (post: ClaudePost): NonNullable<Upstream['countTokens']> =>
  async (call, signal) => {
    const body = { anthropic_version: version, ...countBody(call, generationOf(call.model)) }
    return countOf(await post('count-tokens', 'rawPredict', body, betasOf(call), signal), call)
  }
