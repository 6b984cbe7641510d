import type { Log } from '../../ports/platform.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { UsageObserver } from '../../ports/usage-observer.ts'
import type { Share } from './budget-webhook.ts'
import type { Budget } from './budgets.ts'

const percents = [50, 80, 100] as const
/** Names that are remembered as told; beyond that all are forgotten, and the limiter alone knows. */
const most = 10_000

/** Tells observers, the log and `tell` how much of a budget is used; a share that is reached is told once for each window. */
export const budgetWarnings = (
  limiter: RateLimiter,
  log: Log,
  observers: readonly UsageObserver[],
  tell: (share: Share) => void,
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
    if (told.size >= most) told.clear()
    told.set(name, news.at(-1)!)
    for (const percent of news) {
      // Whoever takes the place is the first of all processes; nobody gives it back before the window ends.
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
