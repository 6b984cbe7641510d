import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { ChatCall, ChatWire, Upstream } from '../../../core/ports/upstream.ts'
import { countBody, countOf } from '../shared/messages/count-messages.ts'
import { generationOf } from '../shared/messages/generations.ts'
import { completionOf, messagesEvents } from '../shared/messages/messages-answers.ts'
import { messagesBody } from '../shared/messages/messages.ts'
import { type WiredChat, answerBy, completedBy, wireBy } from '../shared/wired-chat.ts'

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

type Headers = Readonly<Record<string, string>>
type Line = Pick<ChatWire, 'url' | 'headers' | 'push'>

/** The betas that a native request names. */
const betasOf = ({ native }: Pick<ChatCall, 'native'>): Headers => {
  const betas = native?.dialect === 'messages' ? native.headers['anthropic-beta'] : undefined
  return betas === undefined ? {} : { 'anthropic-beta': betas }
}

export const isClaude = (model: string): boolean => /^claude-/.test(model)

const actOf = ({ stream }: ChatCall): string => (stream ? 'streamRawPredict' : 'rawPredict')

const wired = (call: ChatCall, clock: Clock): WiredChat => {
  const { body, request } = messagesBody(call, generationOf(call.model))
  const { model: _, ...rest } = body
  const isNative = call.native?.dialect === 'messages'
  return {
    body: { anthropic_version: version, ...rest },
    isNative,
    whole: (answer) => completedBy(completionOf(answer, request, clock), answer, isNative ? 'messages' : null),
    events: (status) => messagesEvents(request, clock, status),
  }
}

/** Claude on Vertex: the Messages dialect, with the model in the address and the version in the body. */
export const claudeBackend =
  (clock: Clock, post: ClaudePost): NonNullable<Upstream['chat']> =>
  async (call, signal) => {
    if (call.prefix !== undefined) {
      throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
    }
    const chat = wired(call, clock)
    return answerBy(chat, await post(call.model, actOf(call), chat.body, betasOf(call), signal), call.stream, clock)
  }

/** The same by calls in place of promises. */
export const claudeWire =
  (clock: Clock, line: (model: string, act: string, headers: Headers) => Line, meant: ChatWire['meant']) =>
  (call: ChatCall): ChatWire =>
    wireBy(wired(call, clock), line(call.model, actOf(call), betasOf(call)), meant)

/** Tokens of Claude on Vertex. One address counts for all models, and the body names the model. */
export const claudeCounter =
  (post: ClaudePost): NonNullable<Upstream['countTokens']> =>
  async (call, signal) => {
    const body = { anthropic_version: version, ...countBody(call, generationOf(call.model)) }
    return countOf(await post('count-tokens', 'rawPredict', body, betasOf(call), signal), call)
  }
