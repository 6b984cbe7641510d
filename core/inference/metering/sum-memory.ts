import type { Sum } from '../../ports/metadata-store.ts'

/** The most names in all lists that are remembered: about 4 MB. */
const mostNames = 20_000

interface Remembered {
  readonly sums: readonly Sum[]
  /** By the clock. */
  readonly until: number
}

/** Lists of sums by the question that they answer, up to a bound of names. */
export interface SumMemory {
  /** Null for a question whose sums are not remembered. */
  get(question: string): readonly Sum[] | null
  /** A list for which there is no room is not kept. */
  keep(question: string, sums: readonly Sum[], until: number): void
  /** Forgets the lists that were kept until this time or an earlier one. */
  forget(now: number): void
}

export const sumMemory = (): SumMemory => {
  const known = new Map<string, Remembered>()
  let names = 0

  return {
    get: (question) => known.get(question)?.sums ?? null,

    keep(question, sums, until) {
      // Two readers of one question may end one after the other.
      if (known.has(question) || names + sums.length >= mostNames) return
      known.set(question, { sums, until })
      names += 1 + sums.length
    },

    forget(now) {
      for (const [question, { sums, until }] of known) {
        if (until > now) continue
        known.delete(question)
        names -= 1 + sums.length
      }
    },
  }
}
