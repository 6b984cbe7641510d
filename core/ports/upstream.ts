import { many } from '../container.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export interface Usage {
  readonly input: number
  readonly output: number
  /** Part of `output`. */
  readonly reasoning?: number
  /** Part of `input` that came from the backend's prompt cache. */
  readonly cached?: number
  /** True when the backend gave no counts and these are ours. */
  readonly estimated?: boolean
}

export type ModelType = 'CHAT' | 'AUDIO_TRANSCRIPTION' | 'AUDIO_SPEECH' | 'IMAGE' | 'EMBEDDING' | 'DECISION'

export interface Model {
  /** The backend's own name. */
  readonly id: string
  readonly type: ModelType
  readonly description?: string
  readonly modalities?: readonly string[]
}

/** The common chat format. What is not named here goes through untouched, both ways. */
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

export interface ChatCall {
  /** The backend's own name of the model. */
  readonly model: string
  /** The caller's body without `model`, `stream` and `provider`. */
  readonly body: ChatBody
  readonly stream: boolean
  /** What the caller has already been given: the answer goes on from there. Only for models marked `continues`. */
  readonly prefix?: string
}

export interface Chunk {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly model: string
  readonly choices: readonly ChunkChoice[]
  readonly usage?: WireUsage | null
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

/** Usage as the common chat format spells it. */
export interface WireUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly [field: string]: unknown
}

/** The backend may give either; core folds or unfolds. Chunks end normally only after the backend's own end mark, otherwise they throw UpstreamFailed. */
export type ChatAnswer =
  | {
      readonly kind: 'completion'
      readonly completion: Completion
      /** The same as JSON, as the backend wrote it; absent where something had to be changed. */
      readonly text?: string
    }
  | { readonly kind: 'chunks'; readonly chunks: AsyncIterable<Chunk> }

/** JSON whose objects are Maps, so that keys keep the order they were sent in. */
export type OrderedJson = null | boolean | number | string | readonly OrderedJson[] | ReadonlyMap<string, OrderedJson>

export type Question =
  | {
      readonly type: 'choice'
      readonly instructions: OrderedJson
      readonly options: readonly { readonly label: string; readonly description: OrderedJson }[]
    }
  | { readonly type: 'noul'; readonly instructions: OrderedJson; readonly yes: OrderedJson; readonly no: OrderedJson }
  | { readonly type: 'score'; readonly instructions: OrderedJson; readonly levels: readonly OrderedJson[] }

export interface DecideCall {
  readonly model: string
  readonly state: OrderedJson
  /** Without their ids: no id ever reaches a backend. */
  readonly questions: readonly Question[]
  /** Data URLs: one image, or the four frames of a video. */
  readonly images: readonly string[]
  /** How many reads to average, and denoising steps; null when the caller named none. */
  readonly samples: number | null
  readonly steps: number | null
}

/** What a backend thinks of one question. */
export interface Distribution {
  /** In the order of options or levels; for noul first yes, then no. Sums to 1. */
  readonly probabilities: readonly number[]
  /** Mass on the labels before normalising, where known. */
  readonly labelMass?: number
  /** A label was out of sight and could have mattered. */
  readonly truncated?: boolean
  /** How many reads stand behind it, how far they agreed on the answer (0 to 1), and the standard error of the winner. */
  readonly reads?: number
  readonly agreement?: number
  readonly stderr?: number
}

export interface Decided {
  /** One a question, in their order. */
  readonly distributions: readonly Distribution[]
  readonly usage: Usage
  /** How it was read off: `native`, `logprobs`, `structured`, `embeddings`, … */
  readonly engine: string
  /** Request fields that the backend can't honour. */
  readonly ignored?: readonly ('samples' | 'steps')[]
}

export interface TranscribeCall {
  readonly model: string
  readonly audio: { readonly name: string; readonly mime: string; readonly bytes: Uint8Array }
  /** Into English instead of the spoken language. */
  readonly translate?: boolean
  readonly language?: string
  readonly prompt?: string
  readonly temperature?: number
  readonly diarize?: boolean
  readonly smartFormat?: boolean
  readonly granularities?: readonly ('word' | 'segment')[]
}

export interface Spoken {
  readonly text: string
  /** Seconds. */
  readonly start: number
  readonly end: number
  readonly speaker?: number
  readonly confidence?: number
}

export interface Transcript {
  readonly text: string
  readonly language: string | null
  /** Seconds, where the backend tells. */
  readonly duration: number | null
  readonly segments: readonly Spoken[]
  readonly words: readonly Spoken[]
  /** The backend's own answer, when it already has `metadata` and `results`. */
  readonly native?: Readonly<Record<string, unknown>>
}

export interface SpeakCall {
  readonly model: string
  readonly text: string
  readonly voice?: string
  /** How to speak; backends that don't take it leave it. */
  readonly instructions?: string
  /** mp3, opus, aac, flac, wav or pcm. */
  readonly format?: string
  readonly speed?: number
}

export interface DrawCall {
  readonly model: string
  readonly prompt: string
  readonly count?: number
  readonly size?: string
  /** Fields of the common format that the gateway does not know. */
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface Media {
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface EmbedCall {
  readonly model: string
  readonly texts: readonly string[]
  readonly dimensions?: number
}

/**
 * One backend. Each optional method is a capability. Faults: UpstreamFailed (`again` when another try may help), BadRequest
 * for what the backend refuses as the caller's mistake; the text of the backend goes into `cause` and nowhere else.
 */
export interface Upstream {
  /** What the request field `provider` pins. */
  readonly name: string
  /** Throws when the backend is out of reach; that is its health. */
  models(signal: AbortSignal): Promise<readonly Model[]>
  chat?(call: ChatCall, signal: AbortSignal): Promise<ChatAnswer>
  /** Probabilities only; core makes answers of them. */
  decide?(call: DecideCall, signal: AbortSignal): Promise<Decided>
  transcribe?(call: TranscribeCall, signal: AbortSignal): Promise<Transcript>
  speak?(call: SpeakCall, signal: AbortSignal): Promise<Media>
  draw?(call: DrawCall, signal: AbortSignal): Promise<readonly Media[]>
  /** One vector a text, in their order. */
  embed?(
    call: EmbedCall,
    signal: AbortSignal,
  ): Promise<{ readonly vectors: readonly Float32Array[]; readonly usage: Usage }>
  dispose?(): Promise<void> | void
}

export const Upstream = many<Upstream>('Upstream')
