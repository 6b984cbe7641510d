import { functions, one } from '../container.ts'
import type { Soon } from './soon.ts'

/** A taken place, such as the slot of a running request. */
export interface Place {
  /** Keeps the place for another `ttl`; false when the place was lost meanwhile. May throw Unavailable. */
  renew(): Soon<boolean>
  /** A second call does nothing. */
  release(): Soon<void>
}

/** The concern of a limit decides what happens when the limiter's store is down. */
export type Concern = 'places' | 'tokens' | 'requests' | 'money'

/**
 * A bucket that holds `most` and refills evenly, completely in `per` ms. When `most` changes between calls, the used
 * amount stays, and the rest of the new `most` is available at once.
 */
export interface Allowance {
  /** Names the bucket in the shared store: equal names are one bucket in all processes. */
  readonly name: string
  readonly concern: Exclude<Concern, 'places'>
  /** In the unit of its concern, such as requests, tokens or millionths of the currency. */
  readonly most: number
  readonly per: number
  /** In Unix ms: the bucket never refills, and its name is unused after this time. */
  readonly until?: number
  /** True when no charge is refused: the bucket may fall below zero. */
  readonly soft?: boolean
}

/** An amount that one bucket has to give. */
export interface Charge {
  readonly allowance: Allowance
  /** In the unit of the allowance. 0 is allowed, and only asks for what is left. */
  readonly amount: number
}

/** The answer to charges that belong together. */
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
      settle(actual: readonly number[]): Soon<readonly (number | null)[] | void>
    }
  | {
      readonly ok: false
      /** The index of the refused charge. */
      readonly refused: number
      /** In ms until the charge fits; Infinity when it never fits. */
      readonly wait: number
    }

/**
 * Exact across all processes that share its store. A store in this process answers at once, any other by a promise. While the store is down, the concern decides: Unavailable is thrown,
 * or the call passes.
 */
export interface RateLimiter {
  /**
   * Takes one of `most` places under `name`; null when all are taken. A place expires after `ttl` ms unless it is
   * renewed. `concern` (`places` by default) decides while the store is down.
   */
  take(name: string, most: number, ttl: number, concern?: Concern): Soon<Place | null>
  /** Books all charges or none, in one step: refused work costs nothing. */
  spend(charges: readonly Charge[]): Soon<Spent>
  dispose?(): Promise<void> | void
}

/** The store of the limiter decides how far a limit reaches: one process, or all replicas. */
export const RateLimiter = one<RateLimiter>('RateLimiter', functions('take', 'spend'))
