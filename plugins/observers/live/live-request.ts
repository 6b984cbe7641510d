import type { Cause, Outcome } from '../../../core/ports/observer.ts'

/** One call of a backend for a request. All times are in ms. */
export interface Attempt {
  readonly backend: string
  /** The backend's own name of the model. */
  readonly model: string
  readonly cause: Cause
  /** Since the beginning of the request. */
  readonly from: number
  /** Until the answer, the first token of a stream, or the fault; null while the attempt waits. */
  ms: number | null
  /** Null while the attempt waits. */
  outcome: Outcome | null
  /** The status of a failure; null without one. */
  status: number | null
  /** True when the answer is a stream. */
  readonly streams: boolean
}

/** The sum over all calls of the request. */
export interface Tokens {
  input: number
  output: number
  cached: number
  reasoning: number
}

/** A request while it runs and after its end: ids, names of the configuration, counts and times, and no text of a user. */
export interface LiveRequest {
  readonly id: string
  /** Unix time in ms. */
  readonly at: number
  readonly route: string
  /** Null for a request whose key was refused, as the next one. */
  readonly organization: string | null
  /** The id of the key. */
  readonly key: string | null
  /** Null until a model is chosen. */
  model: string | null
  /** Why a rule chose the model; absent without one. */
  rule?: string
  /** The backend that answers; null before. */
  backend: string | null
  readonly attempts: Attempt[]
  /** Attempts that the list has no room for. */
  attempts_left_out: number
  /** Ms until the first token; null for an answer that is no stream. */
  first_token: number | null
  tokens: Tokens | null
  /** Null while the request runs, as the next one. */
  status: number | null
  /** In ms, from the head of the request to the last byte of the answer. */
  ms: number | null
}
