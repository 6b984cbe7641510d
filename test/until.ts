import { setTimeout as sleep } from 'node:timers/promises'

/** Looks again and again; whether it came to be in so many ms. */
export const until = async (there: () => boolean | Promise<boolean>, ms = 10_000): Promise<boolean> => {
  for (const end = performance.now() + ms; !(await there()); await sleep(5)) if (performance.now() > end) return false
  return true
}
