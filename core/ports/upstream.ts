import { many } from '../container.ts'
import type { Chats, Dialect } from './chat.ts'
import type { CountsTokens } from './count.ts'
import type { Decides } from './decide.ts'
import type { Embeds } from './embed.ts'
import type { MakesMedia } from './media.ts'

export type {
  ChatAnswer,
  ChatBody,
  ChatCall,
  ChatWire,
  Chunk,
  ChunkChoice,
  Chunks,
  Completion,
  Dialect,
  Message,
  Native,
  NativeEvents,
  Part,
  TextField,
  ToolCall,
  ToolCallPart,
  Whole,
  WireEvents,
  WireUsage,
} from './chat.ts'
export type { CountCall, TokenCount } from './count.ts'
export type { DecideCall, Decided, Distribution, OrderedJson, Question } from './decide.ts'
export type { EmbedCall, EmbedTokensCall, Embedded } from './embed.ts'
export type {
  DrawCall,
  Drawn,
  EditCall,
  Media,
  MediaFile,
  Ongoing,
  Picture,
  SpeakCall,
  Spoken,
  TranscribeCall,
  TranscribeOption,
  Transcript,
  TranscriptEvent,
} from './media.ts'
export type { Usage } from './usage.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** What a model is for; the list of models shows it. */
export type ModelType = 'CHAT' | 'AUDIO_TRANSCRIPTION' | 'AUDIO_SPEECH' | 'IMAGE' | 'EMBEDDING' | 'DECISION'

/** A model as its backend lists it. */
export interface Model {
  /** The backend's own name of the model. */
  readonly id: string
  readonly type: ModelType
  readonly description?: string
  /** What the model takes besides text, such as `image`; absent when the backend does not say. */
  readonly modalities?: readonly string[]
  /** In Unix seconds. */
  readonly created?: number
}

/**
 * One backend. Each optional method is an ability. Faults: UpstreamFailed (`again` when another try may help), and
 * BadRequest when the backend blames the caller's request. The backend's text goes only into `cause`.
 */
export interface Upstream extends Chats, CountsTokens, Decides, MakesMedia, Embeds {
  /** The name that the request field `provider` pins. */
  readonly name: string
  /** The dialect that the backend takes as `native`, for all models or by model; only the common format when absent. */
  readonly dialect?: Dialect | ((model: string) => Dialect | undefined)
  /** The vendor's plugin whose price list applies; absent when the backend is not the vendor itself. */
  readonly vendor?: string
  /**
   * True when the backend asks no model. A tool uses such a backend only without any other, and search never takes its
   * vectors.
   */
  readonly pretends?: boolean
  /** Lists the models. Throws when the backend is unreachable: the call is also its health check. */
  models(signal: AbortSignal): Promise<readonly Model[]>
  dispose?(): Promise<void> | void
}

/** Each entry of the setting of backends is a fitting of its own, also where two use one plugin. */
export const Upstream = many<Upstream>('Upstream', { name: 'text', models: 'function' })
