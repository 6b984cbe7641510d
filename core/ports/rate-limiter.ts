import { one } from '../container.ts'

export interface Place {
  /** Keeps the place for another `ttl`; false when it was lost meanwhile. May throw Unavailable. */
  renew(): Promise<boolean>
  /** Twice is fine. */
  release(): Promise<void>
}

/** What a limit guards decides what happens when the limiter's store is down. */
export type Concern = 'places' | 'tokens' | 'requests' | 'money'

/**
 * A bucket that holds `most` and refills evenly, whole in `per` ms. Where `most` differs from call to call, what was used
 * stays used, and all else of the new `most` is there at once.
 */
export interface Allowance {
  readonly name: string
  readonly concern: Exclude<Concern, 'places'>
  readonly most: number
  readonly per: number
  /** Unix ms: nothing refills, and the name is not used for anything after this time. */
  readonly until?: number
  /** True where nothing is refused: the bucket may fall below zero. */
  readonly soft?: boolean
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
      /**
       * Corrects each amount once the truth is known, in the order of the charges; may drive an allowance below zero. A
       * second call does nothing. What is left then, as `left`; nothing where the limiter can't tell.
       */
      settle(actual: readonly number[]): Promise<readonly (number | null)[] | void>
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
