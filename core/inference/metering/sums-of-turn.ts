import type { Sum } from '../../ports/metadata-store.ts'

/** The most names in all lists that are remembered: about 4 MB. */
const mostNames = 20_000

/**
 * Remembers sums of days that are over. They stay until the fold has another turn, so a year that many look at is read
 * once, and then only the days since.
 */
export const sumsOfTurn = () => {
  let turn: number | null = null
  let names = 0
  const known = new Map<string, readonly Sum[]>()

  return async (now: number | null, name: string, read: () => Promise<readonly Sum[]>): Promise<readonly Sum[]> => {
    if (now !== turn) {
      known.clear()
      ;[turn, names] = [now, 0]
    }
    const before = known.get(name)
    if (before !== undefined) return before
    const sums = await read()
    // The fold may have gone on meanwhile.
    if (now === turn && names + sums.length < mostNames) {
      known.set(name, sums)
      names += 1 + sums.length
    }
    return sums
  }
}
