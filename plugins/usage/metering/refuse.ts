import { TooMany } from '../../../core/errors.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import type { RateLimiter, Spent } from '../../../core/ports/rate-limiter.ts'
import { type Soon, soon } from '../../../core/ports/soon.ts'
import { spentBudget } from './budgets.ts'
import type { Payment } from './paid-call.ts'
import { type allowanceHeaders, overdrawnHeaders, tightestHeaders } from './token-headers.ts'

/** Throws the refusal, with what is left. Only a refused caller waits for this second look. */
export const refuse = (
  { limiter, clock }: { readonly limiter: RateLimiter; readonly clock: Clock },
  { work, budgets, quotas, charges }: Payment,
  { refused, wait }: Extract<Spent, { readonly ok: false }>,
  { tell, limit }: { readonly tell: typeof allowanceHeaders; readonly limit: string },
): Soon<never> =>
  soon(limiter.spend(charges.map((charge) => ({ ...charge, amount: 0 }))), (seen) => {
    const now = clock.now()
    const headers = tell(charges, seen.ok ? seen.left : overdrawnHeaders(charges, seen), now)
    const budget = budgets[refused - work.length]
    const quota = quotas[refused - work.length - budgets.length]
    if (quota !== undefined) {
      const full = tightestHeaders(quota.allowance.concern, [charges[refused]!], [0], now)
      throw quota.refused(wait, now, { headers: { ...headers, ...full } })
    }
    if (budget !== undefined) throw spentBudget(budget, wait, now, headers)
    if (wait === Infinity) throw new TooMany('The request is larger than its allowance', { headers, limit })
    throw new TooMany('Allowance used up', { retryAfter: Math.ceil(wait), headers, limit })
  })
