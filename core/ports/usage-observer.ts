import { many } from '../container.ts'

/** The owner of a budget. */
export type Holder = 'key' | 'team' | 'organization' | 'gateway'

/** The recorded usage of a call. */
export interface Used {
  readonly model: string
  /** The provider that answered. */
  readonly backend: string
  /** In tokens, like the next three. `cached` is a part of `input`, and `reasoning` a part of `output`. */
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
  /** In millionths of the currency; null when the price is unknown. */
  readonly cost: number | null
  /** Who asked; `team` is null for a key without a team. */
  readonly organization: string
  readonly team: string | null
  /** The id of the key. */
  readonly key: string
  /** Pairs such as `feature=search` that the caller gave to the request. */
  readonly tags: readonly string[]
}

/** Observes the usage of calls and the rest of budgets; never sees a caller's text. */
export interface UsageObserver {
  /** Called once for each call that was recorded. */
  used(use: Used): void
  /** In ms from the reservation to the first token. */
  began(model: string, ms: number): void
  /** The used or reserved part of a budget. `whose` is the name of an organisation, `organization/team`, or the id of a key. */
  stands(of: Holder, whose: string, period: string, part: number): void
  /** The part has reached this percentage. Called once per window among all processes that share a limiter. */
  warned(of: Holder, whose: string, period: string, percent: number): void
}

/** Observers write metrics and logs; none is needed for counting. */
export const UsageObserver = many<UsageObserver>('UsageObserver')
