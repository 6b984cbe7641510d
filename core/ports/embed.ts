import type { Usage } from './usage.ts'

export interface EmbedCall {
  readonly model: string
  readonly texts: readonly string[]
  readonly dimensions?: number
}

/** The ability to make vectors of texts; absent where the backend has none. */
export interface Embeds {
  /** One vector a text, in their order. */
  embed?(
    call: EmbedCall,
    signal: AbortSignal,
  ): Promise<{ readonly vectors: readonly Float32Array[]; readonly usage: Usage }>
}
