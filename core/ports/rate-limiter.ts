import { one } from '../container.ts'

export interface Place {
  /** Keeps the place for another `ttl`; false when it was lost meanwhile. May throw Unavailable. */
  renew(): Promise<boolean>
  /** Twice is fine. */
  release(): Promise<void>
}

/** What a limit guards decides what happens when the limiter's store is down. */
export type Concern = 'places' | 'tokens' | 'requests'

/** A bucket that holds `most` and refills evenly, whole in `per` ms. */
export interface Allowance {
  readonly name: string
  readonly concern: Exclude<Concern, 'places'>
  readonly most: number
  readonly per: number
}

export interface Charge {
  readonly allowance: Allowance
  readonly amount: number
}

export type Spent =
  | {
      readonly ok: true
      /** What is left of each allowance, in the order of the charges; null while the store is down and the limit open. */
      readonly left: readonly (number | null)[]
      /** Corrects each amount once the truth is known, in the order of the charges; may drive an allowance below zero. A second call does nothing. */
      settle(actual: readonly number[]): Promise<void>
    }
  | {
      readonly ok: false
      /** Which charge was refused. */
      readonly refused: number
      /** Milliseconds until it would fit; Infinity when it never does. */
      readonly wait: number
    }

/** Exact across all processes that share its store. When the store is down it throws Unavailable or lets pass, as declared for the concern. */
export interface RateLimiter {
  /** One of `most` places under `name`, or null when all are taken. Falls free after `ttl` ms unless renewed. What it is for (`places` unless said) decides when the store is down. */
  take(name: string, most: number, ttl: number, concern?: Concern): Promise<Place | null>
  /** All charges or none, in one step: refused work costs nothing. */
  spend(charges: readonly Charge[]): Promise<Spent>
  dispose?(): Promise<void> | void
}

export const RateLimiter = one<RateLimiter>('RateLimiter')
