import type { Caller } from '../../access/caller.ts'
import type { Consumption } from './price.ts'
import type { BilledModel, Mode } from './prices.ts'
import type { Estimate } from './tokens.ts'

/** What one call has taken from allowances and budgets until its true use is known. */
export interface Reservation<Truth> {
  /** `x-ratelimit-{limit,remaining,reset}-tokens`; empty without a limit. */
  readonly headers: Readonly<Record<string, string>>
  /** The first token of a stream has come. */
  began(): void
  /**
   * Corrects the allowances and writes the totals; only the first call counts, and it never rejects. A backend that
   * answered without counting is counted as reserved; where none answered, all is handed back. `served` names the model
   * where it was not known before.
   */
  settle(truth: Truth | null, backend: string | null, served?: BilledModel | null): Promise<void>
  /** No model was asked: all is handed back and nothing is counted. */
  cancel(): Promise<void>
}

/** What is reserved before calls, and settled after them. */
export interface Reservations {
  /** Throws TooMany, or Forbidden where a budget holds and the price is unknown; then nothing was taken. */
  reserve(caller: Caller, entry: BilledModel | null, estimate: Estimate, mode?: Mode): Promise<Reservation<Consumption>>
  /** As `reserve`, by the length of audio in seconds. */
  spendAudio(caller: Caller, entry: BilledModel | null, seconds: number, mode?: Mode): Promise<Reservation<number>>
  /** Resolves when nothing is being settled any more. */
  dispose(): Promise<void>
}
