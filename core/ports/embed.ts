import type { BackendAnswer } from './backend-evidence.ts'
import type { Usage } from './usage.ts'

/** Both kinds of calls take these. */
interface EmbedOptions {
  /** The backend's own name of the model. */
  readonly model: string
  /** Absent means the model's own number of dimensions. */
  readonly dimensions?: number
  /** Fields of the common format that the gateway does not know. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Texts that become vectors, all by one model. */
export interface EmbedCall extends EmbedOptions {
  readonly texts: readonly string[]
}

/** Texts that the caller has already cut into tokens. */
export interface EmbedTokensCall extends EmbedOptions {
  /** Ids of the model's own tokens: one list per vector. */
  readonly tokens: readonly (readonly number[])[]
}

export interface Embedded extends BackendAnswer {
  /** All of one length. The backend decides whether they have length 1. */
  readonly vectors: readonly Float32Array[]
  readonly usage: Usage
}

/** The ability to turn texts into vectors; absent when the backend lacks it. */
export interface Embeds {
  /** One vector per text, in order. */
  embed?(call: EmbedCall, signal: AbortSignal): Promise<Embedded>
  /** One vector per list of tokens; absent when the backend takes only texts. */
  embedTokens?(call: EmbedTokensCall, signal: AbortSignal): Promise<Embedded>
}
