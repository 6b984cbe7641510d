import { one } from '../container.ts'

export interface Place {
  /** Keeps the place for another `ttl`; false when the place was lost meanwhile. May throw Unavailable. */
  renew(): Promise<boolean>
  /** A second call does nothing. */
  release(): Promise<void>
}

/** The concern of a limit decides what happens when the limiter's store is down. */
export type Concern = 'places' | 'tokens' | 'requests' | 'money'

/**
 * A bucket that holds `most` and refills evenly, completely in `per` ms. When `most` changes between calls, the used
 * amount stays, and the rest of the new `most` is available at once.
 */
export interface Allowance {
  readonly name: string
  readonly concern: Exclude<Concern, 'places'>
  readonly most: number
  readonly per: number
  /** In Unix ms: the bucket never refills, and its name is unused after this time. */
  readonly until?: number
  /** True when no charge is refused: the bucket may fall below zero. */
  readonly soft?: boolean
}

export interface Charge {
  readonly allowance: Allowance
  readonly amount: number
}

export type Spent =
  | {
      readonly ok: true
      /**
       * The remaining amount of each allowance, in the order of the charges. Null while the store is down and the limit
       * is open.
       */
      readonly left: readonly (number | null)[]
      /**
       * Corrects each amount to its actual value, in the order of the charges. An allowance may fall below zero. A
       * second call does nothing. Returns the remaining amounts like `left`; nothing when the limiter does not know
       * them.
       */
      settle(actual: readonly number[]): Promise<readonly (number | null)[] | void>
    }
  | {
      readonly ok: false
      /** The index of the refused charge. */
      readonly refused: number
      /** In ms until the charge fits; Infinity when it never fits. */
      readonly wait: number
    }

/**
 * Exact across all processes that share its store. While the store is down, the concern decides: Unavailable is thrown,
 * or the call passes.
 */
export interface RateLimiter {
  /**
   * Takes one of `most` places under `name`; null when all are taken. A place expires after `ttl` ms unless it is
   * renewed. `concern` (`places` by default) decides while the store is down.
   */
  take(name: string, most: number, ttl: number, concern?: Concern): Promise<Place | null>
  /** Books all charges or none, in one step: refused work costs nothing. */
  spend(charges: readonly Charge[]): Promise<Spent>
  dispose?(): Promise<void> | void
}

export const RateLimiter = one<RateLimiter>('RateLimiter')
