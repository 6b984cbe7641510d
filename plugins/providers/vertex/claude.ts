import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { readKept, readObject } from '../../../core/dialects/backend.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer, Clock } from '../../../core/ports/platform.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'
import { generationOf } from '../shared/messages/generations.ts'
import { chunksOf, completionOf } from '../shared/messages/messages-answers.ts'
import { messagesBody } from '../shared/messages/messages.ts'

type Post = (
  model: string,
  act: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Answer>

export const isClaude = (model: string): boolean => /^claude-/.test(model)

/** Claude on Vertex: the Messages dialect, with the model in the address and the version in the body. */
export const claudeBackend =
  (clock: Clock, post: Post): NonNullable<Upstream['chat']> =>
  async (call, signal) => {
    if (call.prefix !== undefined) {
      throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
    }
    const { body, asked } = messagesBody(call, generationOf(call.model))
    const { model: _, ...rest } = body
    const sent = { anthropic_version: 'vertex-2023-10-16', ...rest }
    const native = call.native?.dialect === 'messages' ? call.native : null
    const betas = native?.headers['anthropic-beta']
    const headers = betas === undefined ? {} : { 'anthropic-beta': betas }
    const answer = await post(call.model, call.stream ? 'streamRawPredict' : 'rawPredict', sent, headers, signal)
    if (call.stream) return { kind: 'chunks', chunks: chunksOf(answer, asked, clock) }
    const whole = await (native === null ? readObject : readKept)(answer)
    const completion = completionOf(whole, asked, clock)
    if (native === null) return { kind: 'completion', completion }
    return { kind: 'completion', completion, native: { dialect: 'messages', body: whole, headers: {} } }
  }
