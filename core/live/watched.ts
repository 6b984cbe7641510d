import type { Part, PrintedRequest } from './sample.ts'
import type { Trace } from './trace.ts'

/** What a request is when its route and its caller are known. */
export interface BegunRequest {
  readonly id: string
  /** Unix time in ms. */
  readonly at: number
  readonly route: string
  /** Null for a request whose key was refused, as the next one. */
  readonly organization: string | null
  readonly key: string | null
}

/** What one listener reads at once. */
export interface News {
  /** The latest state of each request that changed; empty as a sign of life. */
  readonly requests: readonly PrintedRequest[]
  /** Requests that the listener did not see. */
  readonly passed: number
}

/** Requests as they run, for listeners. */
export interface WatchedRequests {
  /** False when nobody listens: then nothing is kept of a request. */
  isHeard(): boolean
  /** Null for a request outside of every sample. */
  begin(request: BegunRequest): Trace | null
  /** Processes whose requests are seen here, this one included. */
  processes(): number
  /**
   * News of a part until the signal fires; empty ones at the beginning and after `ms` of silence. Throws TooMany at its
   * first step when there are too many listeners.
   */
  listen(part: Part, ms: number, signal: AbortSignal): AsyncIterable<News>
  /** Ends the work of the stage; listeners end by their own signals. */
  dispose(): void
}
