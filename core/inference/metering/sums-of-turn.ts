import type { Sum } from '../../ports/metadata-store.ts'
import { sumMemory } from './sum-memory.ts'

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
