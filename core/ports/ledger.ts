import { functions, one } from '../container.ts'

/** The counts of calls. */
export interface Counts {
  readonly requests?: number
  /** Tokens; `reasoning` is a part of the output, and `cached` a part of the input. */
  readonly input?: number
  readonly output?: number
  readonly reasoning?: number
  readonly cached?: number
  readonly audio_seconds?: number
  /** Requests whose counts are partly our guess. */
  readonly estimated?: number
  /** Requests that no backend answered, or that were left before the first token. */
  readonly unanswered?: number
  /** Millionths of the price table's currency, over the requests whose price is known. */
  readonly cost_micros?: number
  /** Part of `cost_micros`, over the requests whose counts are partly our guess. */
  readonly estimated_cost_micros?: number
  /** Requests whose price is not known. */
  readonly unpriced?: number
}

/** Where the counts of a call belong. */
export interface Place {
  readonly organization: string
  readonly key: string
  readonly user?: string
  /** Absent for none. */
  readonly team?: string
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly model: string
  /** Absent where no backend answered. */
  readonly backend?: string
  /** Absent for none. */
  readonly tags?: readonly string[]
}

/** Counts calls. No call waits for its store. */
export interface Ledger {
  /** A call that goes out once `keep` was called. When the process is killed, another one counts the guess, once. */
  open(place: Place, guess: () => Counts): number
  /** The counts of an open call; `keep` keeps them. */
  settle(call: number, place: Place, counts: Counts): void
  /** Keeps what was opened and settled since the last time, in one write. */
  keep(): void
  /** An open call that never went out. */
  cancel(call: number): void
  /** Writes what is left. */
  dispose?(): Promise<void>
}

/** A gateway without a ledger counts for limits alone. */
export const Ledger = one<Ledger>('Ledger', functions('open', 'settle', 'keep', 'cancel'))
