import type { AttemptStart, BegunRequest, Counted } from '../../../core/ports/observer.ts'

/** A backend that was asked. All times are Unix times in ms. */
export interface RecordedAttempt extends AttemptStart {
  readonly from: number
  to: number | null
  outcome: 'answered' | 'failed' | 'left' | 'broke' | null
  status: number | null
}

/** A request as its spans tell it: names, times and counts, and no word of a caller. */
export interface RecordedRequest {
  readonly begun: BegunRequest
  readonly attempts: RecordedAttempt[]
  model: string | null
  firstToken: number | null
  readonly used: Counted[]
}
