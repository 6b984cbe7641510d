import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer } from '../../../core/ports/platform.ts'
import type { ChatCall, Message, Model, Upstream } from '../../../core/ports/upstream.ts'
import { accepted, garbled, parseObject, readText } from '../../../core/dialects/backend.ts'
import { chunksOf, type Counts, wholeOf } from './chat-chunks.ts'
import { printJson } from '../../../core/dialects/print-json.ts'
import { type MediaBackend, type MediaUpstream, type PostToBackend, mediaBackend } from './media-backend.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'

/** How a server of the common chat format differs from it. */
export interface ChatBackend extends MediaBackend {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Where a path is found when not under `baseUrl`; the model is null for the list of models. */
  url?(path: string, model: string | null): string
  /** False for a backend that ends its streams without `[DONE]`. */
  readonly marksEnd?: boolean
  /** Fields that make the backend go on from a trailing assistant message; null when it can't. */
  readonly continuation?: JsonObject | null
  /** What the backend's own list says of a model; null to leave it out. */
  modelOf?(entry: JsonObject): Model | null
  /** Fields of the common format that the model refuses; they are not sent. */
  unheard?(model: string): ReadonlySet<string>
  /** The backend's names of fields, by those of the common format. */
  readonly renames?: Readonly<Record<string, string>>
  /** The conversation as the backend takes it. */
  messages?(messages: readonly Message[]): readonly Message[]
  /** Absent when the usage already has the common counts. */
  readonly counts?: Counts
  /** Fields of every chat body, behind those of the caller. */
  chatFields?(call: ChatCall): JsonObject
}

export type ChatUpstream = Required<Pick<Upstream, 'models' | 'chat' | 'continues'>> &
  Pick<Upstream, 'unheard'> &
  MediaUpstream

/** The back door of the public chat format: everything that a server which speaks it may have. */
export const chatBackend = (it: ChatBackend): ChatUpstream => {
  const { fetch, clock, headers } = it
  const where = it.url ?? ((path: string) => it.baseUrl + path)
  const typed = { ...headers, 'content-type': 'application/json' }

  const get = async (path: string, signal: AbortSignal): Promise<Answer> =>
    accepted(await fetch.upstream(where(path, null), { method: 'GET', headers, signal }), clock)

  const post: PostToBackend = async (path, model, body, signal, type) => {
    const own = type === undefined ? typed : { ...headers, 'content-type': type }
    return accepted(await fetch.upstream(where(path, model), { method: 'POST', headers: own, body, signal }), clock)
  }

  return {
    continues: it.continuation != null,
    ...(it.unheard && { unheard: it.unheard }),

    async models(signal) {
      const data = listIn(await readText(await get('/models', signal)))
      if (data === null) throw garbled('No list of models')
      return data.map((entry) => (it.modelOf ?? plainModel)(entry as JsonObject)).filter((model) => model !== null)
    },

    async chat(call, signal) {
      const answer = await post('/chat/completions', call.model, await printJson(chatBody(it, call)), signal)
      const type = answer.header('content-type') ?? ''
      if (call.stream && !type.startsWith('application/json')) {
        if (!type.startsWith('text/html'))
          return { kind: 'chunks', chunks: chunksOf(answer, clock, it.marksEnd ?? true, it.counts) }
        answer.discard()
        throw garbled('The stream is a page', answer.status)
      }
      return wholeOf(await readText(answer), answer.status, it.counts)
    },

    ...mediaBackend(it, post),
  }
}

/** Null for a text that holds no list: some backends give the list alone, most an object with it. */
const listIn = (text: string): readonly unknown[] | null => {
  const { data } = parseObject(text.trimStart().startsWith('[') ? `{"data":${text}}` : text) ?? {}
  return Array.isArray(data) ? data : null
}

/** Null for an entry without an id. A plain list tells no types, so each model chats. */
const plainModel = ({ id, created }: JsonObject): Model | null =>
  typeof id === 'string' ? { id, type: 'CHAT', ...createdAt(created) } : null

/** When a model was made, where a list of models says so in Unix seconds. */
export const createdAt = (created: unknown): Pick<Model, 'created'> =>
  Number.isSafeInteger(created) && (created as number) > 0 ? { created: created as number } : {}

/** The body as this model takes it. Throws UpstreamFailed for a prefix that the backend cannot continue. */
const chatBody = (it: ChatBackend, call: ChatCall): JsonObject => {
  const { model, stream, prefix, body } = call
  // New fields stand in front, and undefined fields are not printed: adding to a copy, or leaving out of it, is slow.
  const asked: Record<string, unknown> = { model, stream: undefined, stream_options: undefined, ...body }
  Object.assign(asked, it.messages && { messages: it.messages(body.messages) }, it.chatFields?.(call))
  asked['stream'] = stream || undefined
  asked['stream_options'] = stream ? { ...(body['stream_options'] as object), include_usage: true } : undefined
  for (const name of it.unheard?.(model) ?? []) if (name in asked) asked[name] = undefined
  for (const [ours, theirs] of Object.entries(it.renames ?? {})) {
    if (asked[ours] === undefined) continue
    asked[theirs] ??= asked[ours]
    asked[ours] = undefined
  }
  if (prefix === undefined) return asked
  if (!it.continuation)
    throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
  return {
    ...asked,
    ...it.continuation,
    messages: [...(asked['messages'] as readonly Message[]), { role: 'assistant', content: prefix }],
  }
}
