/** The tokens of a call. */
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
