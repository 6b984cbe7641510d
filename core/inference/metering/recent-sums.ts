import type { Clock } from '../../ports/platform.ts'
import type { Sum } from '../../ports/metadata-store.ts'
import { sumMemory } from './sum-memory.ts'

/** A reading that took long is given again for so many times as long: it takes at most a fiftieth of the store's time. */
const timesReading = 50
/** Ms of a reading that is made anew each time. */
const shortReadingMs = 20
const mostRecentMs = 30_000

/** Remembers sums of days that go on for a moment, where it takes the store long to add them up. */
export const recentSums = (clock: Pick<Clock, 'now'>) => {
  const memory = sumMemory()

  return async (question: string, read: () => Promise<readonly Sum[]>): Promise<readonly Sum[]> => {
    const began = clock.now()
    memory.forget(began)
    const known = memory.get(question)
    if (known !== null) return known
    const sums = await read()
    const now = clock.now()
    const tookMs = now - began
    if (tookMs > shortReadingMs) memory.keep(question, sums, now + Math.min(mostRecentMs, timesReading * tookMs))
    return sums
  }
}
