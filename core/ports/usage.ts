/** The tokens of a call. */
export interface Usage {
  readonly input: number
  readonly output: number
  /** Part of `output`. */
  readonly reasoning?: number
  /** Part of `input` that came from the backend's prompt cache. */
  readonly cached?: number
  /** Part of `input` that was written to that cache, to stay for five minutes. */
  readonly written?: number
  /** The same for an hour. */
  readonly writtenHour?: number
  /** Part of `input` that was sound. */
  readonly audioInput?: number
  /** Part of `output` that is sound. */
  readonly audioOutput?: number
  /** True when the backend gave no counts and these are ours. */
  readonly estimated?: boolean
}
