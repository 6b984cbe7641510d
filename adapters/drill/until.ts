import { setTimeout as sleep } from 'node:timers/promises'

/** Looks again after each `every` ms; whether it came to be in `ms`. */
export const until = async (there: () => boolean | Promise<boolean>, ms = 10_000, every = 5): Promise<boolean> => {
  for (const end = performance.now() + ms; !(await there()); await sleep(every))
    if (performance.now() > end) return false
  return true
}
