import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer, Clock, Push } from '../../../core/ports/platform.ts'
import type {
  ChatAnswer,
  ChatBody,
  ChatCall,
  ChatWire,
  CountCall,
  Message,
  Model,
  Upstream,
  WireEvents,
} from '../../../core/ports/upstream.ts'
import { accepted, garbled, parseObject, readBytes, readText } from '../../shared/backend.ts'
import { fieldsBeyondResponses } from '../../shared/dialects/responses/unsupported-fields.ts'
import { chunkEvents, chunksOf, type Counts, wholeIn } from './chat-chunks.ts'
import { chatByResponses, countByResponses, responsesWire } from './responses/responses-backend.ts'
import type { Roads } from './responses/roads.ts'
import { changedBy, type RequestChange } from './request-change.ts'
import type { LongTexts } from '../../shared/long-texts.ts'
import { printJson, printNow } from '../../shared/print-json.ts'
import { type MediaBackend, type MediaUpstream, type PostToBackend, mediaBackend } from './media-backend.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { retryCount } from '../../../core/inference/routing/tries.ts'

/** How a server of the common chat format differs from it. */
export interface ChatBackend extends MediaBackend {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Where a path is found when not under `baseUrl`; the model is null for the list of models. */
  url?(path: string, model: string | null): string
  /** The roads of a server that also speaks Responses; absent where all its models chat by chat completions. */
  readonly roads?: Roads
  /** True for a server that may be a gateway too: requests say which try they are, so that retries do not multiply. */
  readonly countsTries?: boolean
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
  /** What the operator changes in the body of each chat. */
  readonly request?: RequestChange | undefined
  /** The conversation as the backend takes it. */
  messages?(messages: readonly Message[], model: string): readonly Message[]
  /** Absent when the usage already has the common counts. */
  readonly counts?: Counts
  /** Fields of every chat body, behind those of the caller. */
  chatFields?(call: ChatCall): JsonObject
}

export type ChatUpstream = Required<Pick<Upstream, 'models' | 'chat' | 'continues'>> &
  Pick<Upstream, 'unheard' | 'dialect' | 'countTokens' | 'wire'> &
  MediaUpstream

/** The back door of the public chat format: everything that a server which speaks it may have. */
export const chatBackend = (backend: ChatBackend): ChatUpstream => {
  const { fetch, clock, headers } = backend
  const where = backend.url ?? ((path: string) => backend.baseUrl + path)
  const typed = { ...headers, 'content-type': 'application/json' }

  const get = async (path: string, signal: AbortSignal): Promise<Answer> =>
    accepted(await fetch.upstream(where(path, null), { method: 'GET', headers, signal }), clock)

  const post: PostToBackend = async (path, model, body, signal, type) => {
    const own = type === undefined ? typed : { ...headers, 'content-type': type }
    return send(path, model, body, signal, own)
  }

  const send = async (
    path: string,
    model: string,
    body: string | Uint8Array,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> =>
    accepted(await fetch.upstream(where(path, model), { method: 'POST', headers, body, signal }), clock)

  const { roads } = backend
  const ownUnheard = roads === undefined ? backend.unheard : unheardByRoad(roads, backend.unheard)
  const unheard = omitting(backend.request, ownUnheard)
  const change = changedBy(backend.request)
  const headersOf = backend.countsTries === true ? withTries(typed) : () => typed

  const byChat = async (call: ChatCall, signal: AbortSignal): Promise<ChatAnswer> => {
    const body = await printJson(change(chatBody(backend, call)))
    return answerOf(backend, call, await send('/chat/completions', call.model, body, signal, headersOf(call)), clock)
  }

  const byResponses = (call: ChatCall, signal: AbortSignal): Promise<ChatAnswer> =>
    chatByResponses(call, change, (path, body) => send(path, call.model, body, signal, headersOf(call)), clock)

  return {
    continues: backend.continuation != null,
    ...wiresOf(backend, change, where, headersOf),
    ...(unheard && { unheard }),
    ...(roads && {
      dialect: (model: string) => (roads.usual(model) === 'responses' ? 'responses' : undefined),
      countTokens: async (call: CountCall, signal: AbortSignal) =>
        roads.usual(call.model) === 'responses'
          ? countByResponses(call, change, (path, body) => send(path, call.model, body, signal, typed))
          : null,
    }),

    async models(signal) {
      const data = listIn(await readText(await get('/models', signal)))
      if (data === null) throw garbled('No list of models')
      return data.map((entry) => (backend.modelOf ?? plainModel)(entry as JsonObject)).filter((model) => model !== null)
    },

    chat: (call, signal) => byRoad(roads, call, (road) => (road === 'chat' ? byChat : byResponses)(call, signal)),

    ...mediaBackend(backend, post),
  }
}

/** Tries whose headers are made once. */
const fewTries = 4

/** The headers of a call with the number of its try. */
const withTries = (typed: Readonly<Record<string, string>>) => {
  const made: Readonly<Record<string, string>>[] = []
  return ({ tries }: ChatCall): Readonly<Record<string, string>> => {
    if (tries === undefined) return typed
    if (tries >= fewTries) return { ...typed, [retryCount]: `${tries}` }
    return (made[tries] ??= { ...typed, [retryCount]: `${tries}` })
  }
}

/** Empty where no line takes bytes by events. */
const wiresOf = (
  backend: ChatBackend,
  change: (body: JsonObject) => JsonObject,
  where: (path: string, model: string) => string,
  headersOf: (call: ChatCall) => Readonly<Record<string, string>>,
): Pick<ChatUpstream, 'wire'> => {
  const { roads, clock } = backend
  const { push } = backend.fetch
  if (push === undefined) return {}
  const isUnworded = !backend.messages && !backend.chatFields && !backend.renames && !backend.request
  return {
    wire(call) {
      const { model } = call
      const headers = headersOf(call)
      if ((roads?.of(call) ?? 'chat') === 'chat') {
        const [url, isCommon] = [where('/chat/completions', model), isUnworded && takesAsIs(backend, call)]
        return new ChatFormatWire(backend, call, { url, headers, push, change, isCommon })
      }
      const learn = (fault: unknown) => roads?.learn(model, 'responses', fault) != null
      return responsesWire(call, change, { url: where('/responses', model), headers, push, learn }, clock)
    },
  }
}

interface WireOfChat extends Required<Pick<ChatWire, 'url' | 'headers' | 'push' | 'isCommon'>> {
  change(body: JsonObject): JsonObject
}

/** The common format on the wire. A class: each call makes one. */
class ChatFormatWire implements ChatWire {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly push: Push
  readonly isCommon: boolean
  readonly #backend: ChatBackend
  readonly #call: ChatCall
  readonly #change: (body: JsonObject) => JsonObject

  constructor(backend: ChatBackend, call: ChatCall, { url, headers, push, isCommon, change }: WireOfChat) {
    this.#backend = backend
    this.#call = call
    this.url = url
    this.headers = headers
    this.push = push
    this.isCommon = isCommon
    this.#change = change
  }

  body(texts: LongTexts): string | Buffer | null {
    return printNow(this.#change(chatBody(this.#backend, this.#call)), texts)
  }

  streams(type: string, status: number): boolean {
    return isStream(type, status)
  }

  whole(bytes: Uint8Array, status: number): ReturnType<typeof wholeIn> {
    return wholeIn(bytes, status, this.#backend.counts)
  }

  events(status: number): WireEvents {
    return chunkEvents(status, this.#backend.marksEnd ?? true, this.#backend.counts)
  }

  learn(fault: unknown): boolean {
    return this.#backend.roads?.learn(this.#call.model, 'chat', fault) != null
  }
}

/** Whether the backend gets every field of the chat in the caller's words. */
const takesAsIs = (backend: ChatBackend, { model, body }: ChatCall): boolean => {
  for (const name of backend.unheard?.(model) ?? none) if (body[name] !== undefined) return false
  return !body.messages.some(hasOutline)
}

/** False for a whole answer. Throws UpstreamFailed for a page. */
const isStream = (type: string, status: number): boolean => {
  if (type.startsWith('text/html')) throw garbled('The stream is a page', status)
  return !type.startsWith('application/json')
}

/** The answer of the chat format: chunks for a stream, else the whole. */
const answerOf = async (backend: ChatBackend, call: ChatCall, answer: Answer, clock: Clock): Promise<ChatAnswer> => {
  const type = answer.header('content-type') ?? ''
  if (type.startsWith('text/html') && call.stream) answer.discard()
  if (!call.stream || !isStream(type, answer.status))
    return wholeIn(await readBytes(answer), answer.status, backend.counts)
  return { kind: 'chunks', chunks: chunksOf(answer, clock, backend.marksEnd ?? true, backend.counts) }
}

/** Asks by the model's road; a refusal that names the other road is asked once more there. */
const byRoad = async (
  roads: Roads | undefined,
  call: ChatCall,
  ask: (road: 'chat' | 'responses') => Promise<ChatAnswer>,
): Promise<ChatAnswer> => {
  const road = roads?.of(call) ?? 'chat'
  try {
    return await ask(road)
  } catch (fault) {
    const other = roads?.learn(call.model, road, fault) ?? null
    if (other === null) throw fault
    return ask(other)
  }
}

/** A request by Responses loses the fields that chat alone knows. */
const unheardByRoad =
  (roads: Roads, own: ChatBackend['unheard']) =>
  (model: string, body: ChatBody = { messages: [] }): ReadonlySet<string> =>
    roads.of({ model, body }) === 'responses' ? fieldsBeyondResponses : (own?.(model) ?? none)

/** What the operator leaves out is refused by the backend, as callers read it. */
const omitting = (request: RequestChange | undefined, own: Upstream['unheard']): Upstream['unheard'] =>
  request === undefined || request.omit.length === 0
    ? own
    : (model, body) => new Set([...(own?.(model, body) ?? []), ...request.omit])

const none: ReadonlySet<string> = new Set()

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
const chatBody = (backend: ChatBackend, call: ChatCall): JsonObject => {
  const { model, stream, prefix, body } = call
  // New fields stand in front, and undefined fields are not printed: adding to a copy, or leaving out of it, is slow.
  const fields: Record<string, unknown> = { model, stream: undefined, stream_options: undefined, ...body }
  Object.assign(
    fields,
    backend.messages && { messages: backend.messages(body.messages, model) },
    backend.chatFields?.(call),
  )
  if (body.messages.some(hasOutline))
    fields['messages'] = (fields['messages'] as readonly Message[]).map(withoutOutline)
  fields['stream'] = stream || undefined
  fields['stream_options'] = stream ? { ...(body['stream_options'] as object), include_usage: true } : undefined
  for (const name of backend.unheard?.(model) ?? []) if (name in fields) fields[name] = undefined
  for (const [ours, theirs] of Object.entries(backend.renames ?? {})) {
    if (fields[ours] === undefined) continue
    fields[theirs] ??= fields[ours]
    fields[ours] = undefined
  }
  if (prefix === undefined) return fields
  if (!backend.continuation)
    throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
  return {
    ...fields,
    ...backend.continuation,
    messages: [...(fields['messages'] as readonly Message[]), { role: 'assistant', content: prefix }],
  }
}

/** The outline of an answer by Responses, which no server of chat completions knows. */
const hasOutline = (message: Message): boolean => message['response_items'] !== undefined

const withoutOutline = ({ response_items: _, ...message }: Message): Message => message as Message
