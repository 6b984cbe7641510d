import type { BackendAnswer } from './backend-evidence.ts'

/** The common chat format. Other fields pass unchanged in both directions. */
export interface ChatBody {
  readonly messages: readonly Message[]
  readonly [field: string]: unknown
}

export interface Message {
  readonly role: string
  readonly content?: string | readonly Part[] | null
  readonly tool_calls?: readonly ToolCall[]
  readonly tool_call_id?: string
  readonly [field: string]: unknown
}

export interface Part {
  readonly type: string
  readonly text?: string
  readonly image_url?: { readonly url: string; readonly detail?: string }
  readonly [field: string]: unknown
}

export interface ToolCall {
  readonly id: string
  readonly type: string
  readonly function: { readonly name: string; readonly arguments: string }
  readonly [field: string]: unknown
}

/** A public format that a backend may speak in place of the common format. */
export type Dialect = 'messages' | 'generate-content'

/** A request or an answer in the form of one dialect. */
export interface Native {
  readonly dialect: Dialect
  readonly body: Readonly<Record<string, unknown>>
  /** Headers of the caller's request that belong to the dialect. */
  readonly headers: Readonly<Record<string, string>>
}

export interface ChatCall {
  /** The backend's own name of the model. */
  readonly model: string
  /** The caller's body without `model`, `stream` and `provider`. */
  readonly body: ChatBody
  readonly stream: boolean
  /**
   * The part of the answer that the caller already has; the backend continues it. Only for models marked `continues`.
   */
  readonly prefix?: string
  /** The caller's own request in the backend's dialect, without `model` and `stream`. It replaces `body`. */
  readonly native?: Native
}

/** Events of a stream in the form of one dialect, as they came. */
export interface NativeEvents {
  readonly dialect: Dialect
  readonly events: readonly { readonly event?: string; readonly data: string }[]
}

export interface Chunk {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly model: string
  readonly choices: readonly ChunkChoice[]
  readonly usage?: WireUsage | null
  /** All events since the chunk before it; only where the call was in the backend's own dialect. */
  readonly native?: NativeEvents
  readonly [field: string]: unknown
}

export interface ChunkChoice {
  readonly index: number
  readonly delta: {
    readonly role?: string | null
    readonly content?: string | null
    readonly reasoning_content?: string | null
    readonly tool_calls?: readonly ToolCallPart[] | null
    readonly [field: string]: unknown
  }
  readonly finish_reason: string | null
  readonly logprobs?: unknown
  readonly [field: string]: unknown
}

export interface ToolCallPart {
  readonly index: number
  readonly id?: string
  readonly type?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

export interface Completion {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly message: Message
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
export type ChatAnswer =
  | (BackendAnswer & {
      readonly kind: 'completion'
      readonly completion: Completion
      /** The completion as the backend's own JSON text; absent after a change. */
      readonly text?: string
      /** The completion in the backend's dialect, unchanged. */
      readonly native?: Native
    })
  | (BackendAnswer & { readonly kind: 'chunks'; readonly chunks: AsyncIterable<Chunk> })

/** The ability to chat; absent when the backend lacks it. */
export interface Chats {
  chat?(call: ChatCall, signal: AbortSignal): Promise<ChatAnswer>
  /** False when no model of the backend can continue a prefix. */
  readonly continues?: boolean
  /** Fields of the common format that the model refuses: the backend never gets them, and the caller reads their names. */
  unheard?(model: string): ReadonlySet<string>
}
