import type { Clock } from '../../ports/platform.ts'
import type { Sum } from '../../ports/metadata-store.ts'

/** A reading that took long is given again for so many times as long: it takes at most a fiftieth of the store's time. */
const timesReading = 50
/** Ms of a reading that is made anew each time. */
const shortReadingMs = 20
const mostRecentMs = 30_000
/** The most names in all readings that are remembered: about 4 MB. */
const mostNames = 20_000

interface Reading {
  readonly sums: readonly Sum[]
  /** By the clock. */
  readonly until: number
}

/** Remembers sums of days that go on for a moment, where it takes the store long to add them up. */
export const recentSums = (clock: Pick<Clock, 'now'>) => {
  const known = new Map<string, Reading>()
  let names = 0

  const forgetOld = (now: number): void => {
    for (const [name, { sums, until }] of known) {
      if (until > now) continue
      known.delete(name)
      names -= 1 + sums.length
    }
  }

  return async (name: string, read: () => Promise<readonly Sum[]>): Promise<readonly Sum[]> => {
    const began = clock.now()
    forgetOld(began)
    const before = known.get(name)
    if (before !== undefined) return before.sums
    const sums = await read()
    const now = clock.now()
    const tookMs = now - began
    if (tookMs > shortReadingMs && !known.has(name) && names + sums.length < mostNames) {
      known.set(name, { sums, until: now + Math.min(mostRecentMs, timesReading * tookMs) })
      names += 1 + sums.length
    }
    return sums
  }
}
