import { many } from '../container.ts'

/** Whose budget it is. */
export type Holder = 'key' | 'team' | 'organization' | 'gateway'

/** What a call used, as it was written down. */
export interface Used {
  readonly model: string
  /** The provider that answered. */
  readonly backend: string
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
  /** Millionths of the currency; null where the price is unknown. */
  readonly cost: number | null
}

/** Is told what calls use and how much of a budget is left; never what a caller wrote. */
export interface UsageObserver {
  used(use: Used): void
  /** Ms from the reservation to the first token. */
  began(model: string, ms: number): void
  /** The part of a budget that is used or reserved; `whose` is the name of an organisation, `organization/team`, or the id of a key. */
  stands(of: Holder, whose: string, period: string, part: number): void
  /** The part has reached so many percent; once for a window among all processes that share a limiter. */
  warned(of: Holder, whose: string, period: string, percent: number): void
}

export const UsageObserver = many<UsageObserver>('UsageObserver')
