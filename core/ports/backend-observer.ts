import { many } from '../container.ts'

/**
 * `left`: the call was abandoned before its first output, because another backend was faster or the caller left.
 * `broke`: the stream of the answer broke.
 */
export const outcomes = ['answered', 'failed', 'left', 'broke'] as const
export type Outcome = (typeof outcomes)[number]

/** The reason of an attempt: the first of its call, the next one after a fault or a silence, or the rescue of a broken stream. */
export type Cause = 'first' | 'next' | 'rescue'

/** What observers learn of an attempt besides its end. */
export interface SeenAttempt {
  readonly model: string
  readonly streams: boolean
  readonly cause: Cause | null
  /** The id of the request for which the backend was asked; absent for a call of the gateway's own. */
  readonly request?: string | undefined
}

/** Observes the outcome of every backend call. The enclave has no observer. */
export interface BackendObserver {
  /**
   * `ms` counts from the request, or from the start of a stream that broke. `status` is the status of a failure; null
   * without one. `attempt` tells the model and why the backend was asked; the cause is null for a stream that broke.
   */
  saw(provider: string, outcome: Outcome, ms: number, status: number | null, attempt: SeenAttempt): void
}

/** The word in quotes keeps the name of 1.0.0, so that plugins of that version still find the port. */
export const BackendObserver = many<BackendObserver>('Witness')
