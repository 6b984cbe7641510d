import type { Saw } from '../../ports/observer.ts'
import type { Clock } from '../../ports/platform.ts'
import type { Candidate } from '../models/catalog-entry.ts'
import type { Served } from '../task.ts'
import type { Breaker } from './breaker.ts'
import type { StreamedSoFar } from './continue-stream.ts'
import type { Search } from './failover.ts'
import type { OpenedStream } from './open-stream.ts'

/** The facts of a stream, during the stream and after its end. */
export type StreamState = { -readonly [Fact in keyof Omit<Served, 'answer' | 'tried'>]: Served[Fact] } & {
  readonly tried: string[]
}

/** A broken stream that another backend may go on with. */
export interface BrokenStream {
  readonly candidate: Candidate<'chat'>
  readonly given: StreamedSoFar
}

/** What one stream is made by: its limits, its rescues, and the search for its backend. */
export interface StreamPlan {
  readonly clock: Clock
  /** Ms between two chunks. */
  readonly idle: number
  /** Ms that the whole may take. */
  readonly longest: number
  /** How often a broken stream may be gone on with. */
  readonly rescues: number
  /** How many finish reasons make the answer whole. */
  readonly choices: number
  /** Null where it may not be gone on with. */
  readonly given: StreamedSoFar | null
  /** A stream that broke before it came here: it is gone on with, or its reader learns the fault. */
  readonly broken?: { readonly candidate: Candidate<'chat'>; readonly fault: unknown }
  readonly signal: AbortSignal
  readonly live: StreamState
  breakerOf(id: string): Breaker
  saw: Saw
  /** The search is for a first token; with `broken`, for a stream that goes on from what the caller has. */
  search(broken: BrokenStream | null): Search<OpenedStream, 'chat'>
}
