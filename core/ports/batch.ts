import type { Dialect, WireUsage } from './chat.ts'
import type { Answer, Ask } from './platform.ts'

/** A request on the vendor's own routes of batches. */
export interface BatchAsk extends Pick<Ask, 'method' | 'stream'> {
  /** Behind the address of the backend; begins with a slash. */
  readonly path: string
  readonly body?: string
  /** The media type of the body; JSON when absent. */
  readonly type?: string
  /** Headers of the caller's request that belong to the dialect. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Batches as a vendor has them. */
export interface Batches {
  /** Whose routes the paths are; a provider and a surface agree on the name. */
  readonly dialect: Dialect
  /** Sends a request under the backend's credential, once. Faults are those of `chat`. */
  send(ask: BatchAsk, signal: AbortSignal): Promise<Answer>
  /** What one line of results counts; null for a request that failed. */
  used(line: Readonly<Record<string, unknown>>): WireUsage | null
}

/** The ability to take batches; absent when the backend lacks it. */
export interface TakesBatches {
  readonly batches?: Batches
}
