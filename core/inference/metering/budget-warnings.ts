import type { Log } from '../../ports/platform.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { UsageObserver } from '../../ports/usage-observer.ts'
import type { ReachedShare } from './budget-webhook.ts'
import type { Budget } from './budgets.ts'

const percents = [50, 80, 100] as const
/** The largest number of remembered names. Beyond it the process forgets all of them, and the limiter alone knows. */
const mostNames = 10_000

/**
 * Reports the used part of a budget to observers, the log and `tell`. Each window reports a reached share once.
 */
export const budgetWarnings = (
  limiter: RateLimiter,
  log: Log,
  observers: readonly UsageObserver[],
  tell: (share: ReachedShare) => void,
): ((budget: Budget, left: number, now: number) => Promise<void>) => {
  const told = new Map<string, number>()
  return async (budget, left, now) => {
    const { allowance, of, whose, period } = budget
    const { name, until, per } = allowance
    const part = Math.max(0, 1 - left / allowance.most)
    for (const observer of observers) observer.stands(of, whose, period, part)
    const reached = percents.filter((percent) => part * 100 >= percent - 1e-9)
    const before = told.get(name) ?? 0
    const news = reached.filter((percent) => percent > before)
    if (news.length === 0) return
    if (told.size >= mostNames) told.clear()
    told.set(name, news.at(-1)!)
    for (const percent of news) {
      // The process that takes the place is the first of all. No process gives the place back before the window ends.
      const first = await limiter.take(
        `warned/${name}/${percent}`,
        1,
        until === undefined ? per : until - now,
        'requests',
      )
      if (first === null) continue
      log.warn('budget.share', { of, whose, period, percent })
      for (const observer of observers) observer.warned(of, whose, period, percent)
      tell({ budget, percent, at: now })
    }
  }
}
