import type { Part, PrintedRequest } from './sample.ts'
import type { BegunRequest, Trace } from '../../../core/ports/observer.ts'

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
