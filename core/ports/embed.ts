import type { Usage } from './usage.ts'

interface Wish {
  readonly model: string
  readonly dimensions?: number
  /** Fields of the common format that the gateway does not know. */
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface EmbedCall extends Wish {
  readonly texts: readonly string[]
}

export interface EmbedTokensCall extends Wish {
  /** Ids of the model's own tokens, a list for each vector. */
  readonly tokens: readonly (readonly number[])[]
}

export interface Embedded {
  readonly vectors: readonly Float32Array[]
  readonly usage: Usage
}

/** The ability to make vectors of texts; absent where the backend has none. */
export interface Embeds {
  /** One vector a text, in their order. */
  embed?(call: EmbedCall, signal: AbortSignal): Promise<Embedded>
  /** One vector a list of tokens; absent where the backend takes texts alone. */
  embedTokens?(call: EmbedTokensCall, signal: AbortSignal): Promise<Embedded>
}
