import type { BackendAnswer } from './backend-evidence.ts'
import type { Push } from './platform.ts'
import type { Soon } from './soon.ts'

/** The common chat format. Other fields pass unchanged in both directions. */
export interface ChatBody {
  readonly messages: readonly Message[]
  readonly [field: string]: unknown
}

/** A turn of the conversation. */
export interface Message {
  /** `system`, `developer`, `user`, `assistant`, `tool`, or the older `function`. */
  readonly role: string
  /** Null or absent where an assistant's turn holds tool calls only. */
  readonly content?: string | readonly Part[] | null
  /** The calls that the model asked for; only in turns of the assistant. */
  readonly tool_calls?: readonly ToolCall[]
  /** The `id` of the call that this turn answers; only in turns of a tool. */
  readonly tool_call_id?: string
  readonly [field: string]: unknown
}

/** A piece of a turn with several kinds of content, such as a text beside an image. */
export interface Part {
  readonly type: string
  readonly text?: string
  /** An address or a data URL. `detail` asks the model for a coarse or a fine look. */
  readonly image_url?: { readonly url: string; readonly detail?: string }
  readonly [field: string]: unknown
}

/** A whole call of a tool, as a completion or an earlier turn holds it. */
export interface ToolCall {
  readonly id: string
  readonly type: string
  /** The arguments are JSON as text, and the model may write it wrong: readers parse it themselves. */
  readonly function: { readonly name: string; readonly arguments: string }
  readonly [field: string]: unknown
}

/**
 * The name of a format that a backend may speak in place of the common format, such as `messages`. A provider and the
 * surface that translates into its dialect agree on the name; the core only compares names.
 */
export type Dialect = string

/** A request or an answer in the form of one dialect. */
export interface Native {
  readonly dialect: Dialect
  readonly body: Readonly<Record<string, unknown>>
  /** Headers of the caller's request that belong to the dialect. */
  readonly headers: Readonly<Record<string, string>>
}

/** What a backend is asked. The same call goes to each backend of a chain, with that backend's own model. */
export interface ChatCall {
  /** The backend's own name of the model. */
  readonly model: string
  /** The caller's body without `model`, `stream` and `provider`. */
  readonly body: ChatBody
  /** A wish: the backend may answer in either form. */
  readonly stream: boolean
  /**
   * The part of the answer that the caller already has; the backend continues it. Only for models marked `continues`.
   */
  readonly prefix?: string
  /** Tries of this request before this one, for a backend that is a gateway too and bounds its own retries by it. */
  readonly tries?: number
  /** The caller's own request in the backend's dialect, without `model` and `stream`. It replaces `body`. */
  readonly native?: Native
  /** What came beside the call, by the names in `takes` of the backend. */
  readonly beside?: Readonly<Record<string, string>> | undefined
}

/** Events of a stream in the form of one dialect, as they came. */
export interface NativeEvents {
  readonly dialect: Dialect
  readonly events: readonly { readonly event?: string; readonly data: string }[]
}

/** One request on the wire of a backend, and the readers of its answer. */
export interface ChatWire {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly push: Push
  /** The backend takes the common format as the caller words it, so that bytes can go on as they came. */
  readonly isCommon?: boolean
  /** The JSON of the request, long texts as the caller wrote them; null for a long one, which is printed in turns of the loop. */
  body(texts: ReadonlyMap<string, Uint8Array>): string | Uint8Array | null
  /** False where a whole answer comes in place of the stream that was asked for. Throws UpstreamFailed for an answer that is neither. */
  streams(type: string, status: number): boolean
  /** A long answer is read in turns of the loop. Throws as `chat` does. */
  whole(bytes: Uint8Array, status: number): Soon<Whole>
  /** The reader of one stream. */
  events(status: number): WireEvents
  /** The true fault of a refusal, where the backend's status alone does not tell. */
  meant?(refusal: unknown): unknown
  /** Whether a fault says that the model is asked another way from now on. */
  learn?(fault: unknown): boolean
}

/** A member of a delta that is a text. */
export type TextField = 'content' | 'reasoning_content'

/** Reads the events of one stream from its bytes, however they are framed. */
export interface WireEvents {
  /** Members whose text changes nothing for later chunks, where it is all that an event says. */
  readonly forgets?: readonly TextField[]
  /** Adds what the bytes say to the chunks; true behind the last event. Throws UpstreamFailed for what is no event, once the chunks before it are added. */
  read(bytes: Uint8Array, into: Chunk[]): boolean
  /** Throws UpstreamFailed where the stream is over too early. */
  cut(): void
}

/** What names the counts of an answer that goes on: they pay for a stream that is cut, and no caller gets them. */
export const countedSoFar = Symbol('countedSoFar')

/** A piece of a stream, in the common chat format. */
export interface Chunk {
  readonly id: string
  readonly object: string
  /** In Unix seconds. */
  readonly created: number
  readonly model: string
  /** Empty in a chunk that carries only usage. */
  readonly choices: readonly ChunkChoice[]
  /** Null or absent until the backend has counted, which mostly is in the last chunk. */
  readonly usage?: WireUsage | null
  readonly [countedSoFar]?: WireUsage
  /** All events since the chunk before it; only where the call was in the backend's own dialect. */
  readonly native?: NativeEvents
  readonly [field: string]: unknown
}

/** The growth of one choice since the chunk before. */
export interface ChunkChoice {
  /** From 0; a request for several answers has several choices. */
  readonly index: number
  readonly delta: {
    readonly role?: string | null
    readonly content?: string | null
    /** The model's thoughts before its answer, where the backend shows them. */
    readonly reasoning_content?: string | null
    readonly tool_calls?: readonly ToolCallPart[] | null
    readonly [field: string]: unknown
  }
  /** Null in every chunk of a choice except the last one. */
  readonly finish_reason: string | null
  readonly logprobs?: unknown
  readonly [field: string]: unknown
}

/** A piece of a tool call. Pieces with one `index` make one call, and their arguments are joined. */
export interface ToolCallPart {
  readonly index: number
  /** Only the first piece of a call has `id`, `type` and the name. */
  readonly id?: string
  readonly type?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

/** A whole answer, in the common chat format. */
export interface Completion {
  readonly id: string
  readonly object: string
  /** In Unix seconds. */
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly message: Message
    /** `stop`, `length`, `tool_calls` or `content_filter`; null where the backend names no reason. */
    readonly finish_reason: string | null
    readonly logprobs?: unknown
    readonly [field: string]: unknown
  }[]
  readonly usage?: WireUsage | null
  readonly [field: string]: unknown
}

/** Usage in the spelling of the common chat format. */
export interface WireUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly [field: string]: unknown
}

/**
 * A backend may give either form; core converts between them. Chunks end normally only after the backend's own end
 * mark, otherwise they throw UpstreamFailed.
 */
export type ChatAnswer = Whole | Chunks

export interface Whole extends BackendAnswer {
  readonly kind: 'completion'
  readonly completion: Completion
  /** The completion as the backend's own JSON text; absent after a change, null where the text is too long to be kept. */
  readonly text?: string | null
  /** The completion in the backend's dialect, unchanged. */
  readonly native?: Native
}

export type Chunks = BackendAnswer & { readonly kind: 'chunks'; readonly chunks: AsyncIterable<Chunk> }

/** The ability to chat; absent when the backend lacks it. */
export interface Chats {
  /** The call on the wire, without promises; null where the backend has none for it. Throws BadRequest as `chat` does. */
  wire?(call: ChatCall): ChatWire | null
  chat?(call: ChatCall, signal: AbortSignal): Promise<ChatAnswer>
  /** Names of what the backend takes beside a call, as doors and providers agree on them; none when absent. */
  readonly takes?: readonly string[]
  /** False when no model of the backend can continue a prefix. */
  readonly continues?: boolean
  /** Fields of the common format that the model refuses: the backend never gets them, and the caller reads their names. */
  unheard?(model: string, body?: ChatBody): ReadonlySet<string>
}
