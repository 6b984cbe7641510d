import { one } from '../../container.ts'
import type { Caller } from '../../access/caller.ts'
import type { RequestRecord } from '../../ports/observer.ts'
import type { Soon } from '../../ports/soon.ts'
import type { Entry } from '../models/catalog-entry.ts'
import type { Consumption } from './consumption.ts'
import type { Estimate } from './tokens.ts'

/** What is charged for; without its backends only the configuration can tell its price. */
export type BilledModel = Pick<Entry, 'name' | 'settings'> &
  Partial<Pick<Entry, 'candidates'>> & {
    /** What came beside the call and pays for it: a backend that takes it costs nothing. */
    readonly paidWith?: string
    /** The name of terms that change the price; the price is unknown where it does not name them. */
    readonly terms?: string
  }

/** A model that has no room for a call, for so many ms. */
export interface FullModel {
  readonly model: string
  readonly wait: number
}

/** What one call has taken from allowances and budgets until its true use is known. */
export interface Reservation<Truth> {
  /** `x-ratelimit-{limit,remaining,reset}-tokens`; empty without a limit. */
  readonly headers: Readonly<Record<string, string>>
  /** Models that a sealed call may not ask for; absent where every model has room. */
  readonly full?: readonly FullModel[] | undefined
  /** The first token of a stream has come. */
  began(): void
  /**
   * Corrects the allowances and writes the totals; only the first call counts, and it never rejects. A backend that
   * answered without counting is counted as reserved; where none answered, all is handed back. `served` is the model where
   * it was not known before, and else the id of the candidate that answered, whose price counts.
   */
  settle(truth: Truth | null, backend: string | null, served?: BilledModel | string | null): Soon<void>
  /** No model was asked: all is handed back and nothing is counted. */
  cancel(): Soon<void>
}

/** The models that the enclave serves, with their prices. A sealed call asks for one of them. */
export type SealedModels = () => Promise<readonly BilledModel[]>

/** What a call asks for. A function stands for a sealed call: it is asked where a budget holds. */
export type Billed = BilledModel | SealedModels

/** A call that waits until the ledger has kept its lines. */
export interface WaitingCall {
  /** The call behind it. A list in old memory would keep each call alive until the next full collection. */
  next: WaitingCall | null
  /** The lines are written, so the request or the end of the answer may go out. */
  kept(): void
}

/**
 * What keys and organisations use: taken from their allowances and budgets before a call and counted after it. The record
 * of a request takes the figures of its calls.
 */
export interface Meter {
  /** As `reserve`, for a caller that lets nothing go out before `keep`, or before `waits` goes on with its call. */
  open(caller: Caller, entry: BilledModel, estimate: Estimate, record?: RequestRecord): Soon<Reservation<Consumption>>
  keep(): void
  /** Keeps the lines of all calls of this turn of the loop in one write, and goes on with the calls. */
  waits(call: WaitingCall): void
  /** Throws TooMany, or Forbidden where a budget holds and the price is unknown; then nothing was taken. */
  reserve(caller: Caller, billed: Billed, estimate: Estimate, record?: RequestRecord): Soon<Reservation<Consumption>>
  /** As `reserve`, for calls that a backend has answered before: exact, and taken from budgets alone. */
  book(caller: Caller, billed: BilledModel, used: Consumption, record?: RequestRecord): Soon<Reservation<Consumption>>
  /** As `reserve`, by the length of audio in seconds. */
  spendAudio(caller: Caller, billed: Billed, seconds: number, record?: RequestRecord): Soon<Reservation<number>>
  /** Resolves when nothing is being settled any more. */
  dispose(): Promise<void>
}

/** The port of the meter. */
export const Meter = one<Meter>('Meter')
