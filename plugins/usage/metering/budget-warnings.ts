import { observed } from '../../../core/ports/observed.ts'
import type { Observer } from '../../../core/ports/observer.ts'
import type { Log } from '../../../core/ports/platform.ts'
import type { RateLimiter } from '../../../core/ports/rate-limiter.ts'
import type { Soon } from '../../../core/ports/soon.ts'
import type { Settings } from '../../../core/settings.ts'
import type { Budget } from './budgets.ts'

const percents = [50, 80, 100] as const
/** The largest number of remembered names. Beyond it the process forgets all of them, and the limiter alone knows. */
const mostNames = 10_000

/** Reports the used part of a budget to observers, and reached shares to the log too. Each window reports a reached share once. */
export const budgetWarnings = (
  limiter: RateLimiter,
  log: Log,
  observers: readonly Observer[],
  settings: Settings,
): ((budget: Budget, left: number, now: number) => Soon<void>) => {
  const { stands, reached } = observed(observers, log)
  const told = new Map<string, { readonly percent: number; readonly until: number }>()
  const warn = async (budget: Budget, percent: number, now: number): Promise<void> => {
    const { allowance, of, whose, period } = budget
    const { name, until, per } = allowance
    const place = `warned/${name}/${percent}`
    // The process that takes the place is the first of all. No process gives the place back before the window ends.
    const first = await limiter.take(place, 1, until === undefined ? per : until - now, 'requests')
    if (first === null) return
    log.warn('budget.share', { of, whose, period, percent })
    const share = { of, whose, period, name, ...(until !== undefined && { until }), percent, at: now }
    reached(share, settings)
  }

  return (budget, left, now) => {
    const { allowance, of, whose, period } = budget
    const { name, most, per, until = now + per } = allowance
    // A call may end behind its window, of which nothing stands any more.
    if (until <= now) return
    const part = Math.max(0, 1 - left / most)
    stands(of, whose, period, part, until)
    const known = told.get(name)
    const before = known !== undefined && now < known.until ? known.percent : 0
    const news = percents.filter((percent) => part * 100 >= percent - 1e-9 && percent > before)
    const last = news.at(-1)
    if (last === undefined) return
    if (told.size >= mostNames) told.clear()
    told.set(name, { percent: last, until })
    return inOrder(news, (percent) => warn(budget, percent, now))
  }
}

const inOrder = async <T>(all: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  for (const item of all) await work(item)
}
