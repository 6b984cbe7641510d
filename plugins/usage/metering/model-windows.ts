import type { Caller } from '../../../core/access/caller.ts'
import type { Consumption } from '../../../core/inference/metering/consumption.ts'
import type { BilledModel, FullModel } from '../../../core/inference/metering/meter.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import type { Charge, RateLimiter, Spent } from '../../../core/ports/rate-limiter.ts'
import type { QuotasOf } from '../quotas/port.ts'
import { chargesFor } from './charges.ts'
import type { Prices } from './prices.ts'

/** A sealed call, of which the caller and a guess at the use are known. */
interface SealedCall {
  readonly caller: Caller
  readonly user: string | undefined
  readonly used: Consumption
  /** The models that the enclave serves, with their prices. */
  readonly sealed: readonly BilledModel[]
}

interface WindowNeeds extends Pick<Prices, 'mostOf'> {
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly quotas: readonly QuotasOf[]
}

/** Windows of single models, for a call whose model nobody outside knows before its end. */
export interface ModelWindows {
  /** Models of which a window has no room. */
  readonly full: readonly FullModel[]
  /** Takes what the call used from the windows of the model that served it. */
  settle(model: string, actual: Readonly<Record<Charge['allowance']['concern'], number>>): Promise<void>
}

type Seen = Spent & { readonly ok: true }

/** Whether a window of the model has no room for what the call may use. */
const isShort = (seen: Spent, wants: readonly Charge[]): boolean =>
  !seen.ok || wants.some(({ amount }, at) => (seen.left[at] ?? Infinity) < amount)

/**
 * Looks at the windows of each model that has some. Nothing is taken before the model is known, so calls at once may
 * pass a window by what they use.
 */
export const modelWindows = async (
  { limiter, clock, quotas, mostOf }: WindowNeeds,
  { caller, user, used, sealed }: SealedCall,
  amountWithin: Parameters<typeof chargesFor>[3],
): Promise<ModelWindows> => {
  const now = clock.now()
  const full: FullModel[] = []
  const open = new Map<string, { readonly seen: Seen; readonly wants: readonly Charge[] }>()
  for (const model of new Set(quotas.flatMap(({ models }) => models))) {
    const held = quotas.flatMap((of) => of.ofModel({ caller, model, user }, now))
    if (held.length === 0) continue
    const entry = sealed.find(({ name }) => name === model)
    // A cost that nobody knows has no room in a window of costs.
    const costOf = (counts: Consumption) => (entry && mostOf(entry, 'confidential', counts)) ?? Infinity
    const wants = held.map(chargesFor(used, costOf({ ...used, output: 0 }), costOf(used), amountWithin))
    const seen = await limiter.spend(wants.map(({ allowance }) => ({ allowance, amount: 0 })))
    if (isShort(seen, wants))
      full.push({ model, wait: Math.max(...held.map(({ allowance: { until = now } }) => until - now)) })
    else if (seen.ok) open.set(model, { seen, wants })
  }
  return {
    full,
    async settle(model, actual) {
      const found = open.get(model)
      await found?.seen.settle(found.wants.map(({ allowance }) => actual[allowance.concern]))
    },
  }
}
