import type { Clock } from '../../core/ports/platform.ts'
import type { Sum } from '../../core/ports/metadata-store.ts'

/** The most names in all lists of one memory: about 4 MB. */
const mostNames = 20_000

interface Remembered {
  readonly sums: readonly Sum[]
  /** By the clock. */
  readonly until: number
}

/** Lists of sums by the question that they answer, up to a bound of names. */
const sumMemory = () => {
  const known = new Map<string, Remembered>()
  let names = 0

  return {
    /** Null for a question whose sums are not remembered. */
    get: (question: string): readonly Sum[] | null => known.get(question)?.sums ?? null,

    /** A list for which there is no room is not kept. */
    keep(question: string, sums: readonly Sum[], until: number): void {
      // Two readers of one question may end one after the other.
      if (known.has(question) || names + sums.length >= mostNames) return
      known.set(question, { sums, until })
      names += 1 + sums.length
    },

    /** Forgets the lists that were kept until this time or an earlier one. */
    forget(now: number): void {
      for (const [question, { sums, until }] of known) {
        if (until > now) continue
        known.delete(question)
        names -= 1 + sums.length
      }
    },
  }
}

/**
 * Remembers sums of days that are over. They stay until the fold has another turn, so a year that many look at is read
 * once, and then only the days since.
 */
export const sumsOfTurn = () => {
  let turn: number | null = null
  let memory = sumMemory()

  return async (now: number | null, question: string, read: () => Promise<readonly Sum[]>): Promise<readonly Sum[]> => {
    if (now !== turn) [turn, memory] = [now, sumMemory()]
    // A reading that ends in a later turn is kept where nobody asks any more.
    const ofTurn = memory
    const known = ofTurn.get(question)
    if (known !== null) return known
    const sums = await read()
    ofTurn.keep(question, sums, Infinity)
    return sums
  }
}

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
