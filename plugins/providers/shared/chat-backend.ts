import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer } from '../../../core/ports/platform.ts'
import type { ChatCall, Model, Upstream } from '../../../core/ports/upstream.ts'
import { accepted, garbled, readObject, readText } from '../../../core/dialects/backend.ts'
import { chunksOf, wholeOf } from './chat-chunks.ts'
import { printJson } from '../../../core/dialects/print-json.ts'
import { type MediaBackend, type MediaUpstream, type Post, mediaBackend } from './media-backend.ts'

type Fields = Readonly<Record<string, unknown>>

export interface ChatBackend extends MediaBackend {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Where a path is found when not under `baseUrl`; the model is null for the list of models. */
  url?(path: string, model: string | null): string
  /** False for a backend that ends its streams without `[DONE]`. */
  readonly marksEnd?: boolean
  /** Fields that make the backend go on from a trailing assistant message; null when it can't. */
  readonly continuation?: Fields | null
  /** What the backend's own list says of a model; null to leave it out. */
  modelOf?(entry: Fields): Model | null
  /** Fields of every chat body, behind those of the caller. */
  chatFields?(call: ChatCall): Fields
}

export type ChatUpstream = Required<Pick<Upstream, 'models' | 'chat' | 'continues'>> & MediaUpstream

/** The back door of the public chat format: everything that a server which speaks it may have. */
export const chatBackend = (it: ChatBackend): ChatUpstream => {
  const { fetch, clock, headers } = it
  const where = it.url ?? ((path: string) => it.baseUrl + path)
  const typed = { ...headers, 'content-type': 'application/json' }

  const get = async (path: string, signal: AbortSignal): Promise<Answer> =>
    accepted(await fetch.upstream(where(path, null), { method: 'GET', headers, signal }), clock)

  const post: Post = async (path, model, body, signal, type) => {
    const own = type === undefined ? typed : { ...headers, 'content-type': type }
    return accepted(await fetch.upstream(where(path, model), { method: 'POST', headers: own, body, signal }), clock)
  }

  return {
    continues: it.continuation != null,

    async models(signal) {
      const { data } = await readObject(await get('/models', signal))
      if (!Array.isArray(data)) throw garbled('No list of models')
      return data.map((entry) => (it.modelOf ?? plainModel)(entry as Fields)).filter((model) => model !== null)
    },

    async chat(call, signal) {
      const answer = await post('/chat/completions', call.model, await printJson(chatBody(it, call)), signal)
      const type = answer.header('content-type') ?? ''
      if (call.stream && !type.startsWith('application/json')) {
        if (!type.startsWith('text/html'))
          return { kind: 'chunks', chunks: chunksOf(answer, clock, it.marksEnd ?? true) }
        answer.discard()
        throw garbled('The stream is a page', answer.status)
      }
      return wholeOf(await readText(answer), answer.status)
    },

    ...mediaBackend(it, post),
  }
}

const plainModel = ({ id, created }: Fields): Model | null =>
  typeof id === 'string' ? { id, type: 'CHAT', ...createdAt(created) } : null

/** When a model was made, where a list of models says so in Unix seconds. */
export const createdAt = (created: unknown): Pick<Model, 'created'> =>
  Number.isSafeInteger(created) && (created as number) > 0 ? { created: created as number } : {}

const chatBody = (it: ChatBackend, call: ChatCall): Fields => {
  const { model, stream, prefix, body } = call
  // New fields stand in front, and undefined fields are not printed: adding to a copy, or leaving out of it, is slow.
  const asked: Record<string, unknown> = { model, stream: undefined, stream_options: undefined, ...body }
  Object.assign(asked, it.chatFields?.(call))
  asked['stream'] = stream || undefined
  asked['stream_options'] = stream ? { ...(body['stream_options'] as object), include_usage: true } : undefined
  if (prefix === undefined) return asked
  if (!it.continuation)
    throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
  return { ...asked, ...it.continuation, messages: [...body.messages, { role: 'assistant', content: prefix }] }
}
