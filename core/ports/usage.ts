/** The tokens of a call. */
export interface Usage {
  /** Tokens of the prompt, with those from the cache. */
  readonly input: number
  /** Tokens of the answer, with those of its thoughts. */
  readonly output: number
  /** Part of `output`. */
  readonly reasoning?: number
  /** The part of `input` from the backend's prompt cache. */
  readonly cached?: number
  /** The part of `input` that was written to that cache for five minutes. */
  readonly written?: number
  /** The part of `input` that was written to that cache for an hour. */
  readonly writtenHour?: number
  /** The part of `input` that was sound. */
  readonly audioInput?: number
  /** The part of `output` that is sound. */
  readonly audioOutput?: number
  /** True when the counts are the gateway's estimate, because the backend gave none. */
  readonly estimated?: boolean
}
