import { many } from '../container.ts'

/**
 * `left`: the call was abandoned before its first output, because another backend was faster or the caller left.
 * `broke`: the stream of the answer broke.
 */
export const outcomes = ['answered', 'failed', 'left', 'broke'] as const
export type Outcome = (typeof outcomes)[number]

/** Observes the outcome of every backend call. The enclave has no observer. */
export interface BackendObserver {
  /**
   * `ms` counts from the request, or from the start of a stream that broke. `status` is the status of a failure; null
   * without one. `streams` is true where an answer begins with the first token of a stream.
   */
  saw(provider: string, outcome: Outcome, ms: number, status: number | null, streams?: boolean): void
}

/** The word in quotes keeps the name of 1.0.0, so that plugins of that version still find the port. */
export const BackendObserver = many<BackendObserver>('Witness')

/** The name of 1.0.0. */
export { BackendObserver as Witness }
