import type { Caller } from '../../../core/access/caller.ts'
import { many } from '../../../core/container.ts'
import type { TooMany, TooManyFacts } from '../../../core/errors.ts'
import type { Allowance } from '../../../core/ports/rate-limiter.ts'

/** A call of a model that is about to go out. */
export interface QuotaCall {
  readonly caller: Caller
  /** Null for a sealed call, as long as nobody outside knows its model. */
  readonly model: string | null
  /** Whom the caller answers, as its request names the user. */
  readonly user: string | undefined
}

/** An allowance that a call takes from: one request, its tokens or its cost, as the concern says. */
export interface Quota {
  readonly allowance: Allowance
  /** The refusal of a call that the allowance has no room for. `wait` in ms, as the limiter tells. */
  refused(wait: number, now: number, facts: TooManyFacts): TooMany
}

/** The allowances of a call beyond those of its key and organisation. */
export interface QuotasOf {
  /** All of them; without a model, those that hold for every model. */
  of(call: QuotaCall, now: number): readonly Quota[]
  /** Those that hold for the model alone. */
  ofModel(call: QuotaCall, now: number): readonly Quota[]
  /** Models with allowances of their own. */
  readonly models: readonly string[]
}

/** Further allowances, whose code the first call loads. */
export interface Quotas {
  /** Null where no call takes from any. */
  load(): Promise<QuotasOf | null>
}

/** The port of further allowances; a call that no plugin holds takes from none. */
export const Quotas = many<Quotas>('Quotas')
