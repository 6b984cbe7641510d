import { many } from '../container.ts'
import type { Chats, Dialect } from './chat.ts'
import type { Decides } from './decide.ts'
import type { Embeds } from './embed.ts'
import type { MakesMedia } from './media.ts'

export type {
  ChatAnswer,
  ChatBody,
  ChatCall,
  Chunk,
  ChunkChoice,
  Completion,
  Dialect,
  Message,
  Native,
  Part,
  ToolCall,
  ToolCallPart,
  WireUsage,
} from './chat.ts'
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

export type ModelType = 'CHAT' | 'AUDIO_TRANSCRIPTION' | 'AUDIO_SPEECH' | 'IMAGE' | 'EMBEDDING' | 'DECISION'

export interface Model {
  /** The backend's own name. */
  readonly id: string
  readonly type: ModelType
  readonly description?: string
  readonly modalities?: readonly string[]
  /** Unix seconds. */
  readonly created?: number
}

/**
 * One backend. Each optional method is a capability. Faults: UpstreamFailed (`again` when another try may help), BadRequest
 * for what the backend refuses as the caller's mistake; the text of the backend goes into `cause` and nowhere else.
 */
export interface Upstream extends Chats, Decides, MakesMedia, Embeds {
  /** What the request field `provider` pins. */
  readonly name: string
  /** The dialect in which the backend takes a call that has it as `native`; the common one alone when absent. */
  readonly dialect?: Dialect
  /** Whose price list holds, by the name of the vendor's plugin; absent where it is not the vendor itself that is asked. */
  readonly vendor?: string
  /** True when it asks no model. Such a backend works for a tool only where no other can, and never makes vectors for search. */
  readonly pretends?: boolean
  /** Throws when the backend is out of reach; that is its health. */
  models(signal: AbortSignal): Promise<readonly Model[]>
  dispose?(): Promise<void> | void
}

export const Upstream = many<Upstream>('Upstream')
