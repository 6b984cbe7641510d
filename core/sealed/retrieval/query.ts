import { hashOf } from './postings.ts'
import { eachWord } from './words.ts'

/** A word of the query. */
export interface Term {
  readonly hash: number
  /** From 0 to 1: lower for a part of a longer word, and for words that most questions contain. */
  readonly weight: number
}

// Tuned on the tuning half of the benchmark's questions.
const partWeight = 0.5
const commonWeight = 0.3

export const termsOf = (query: string): readonly Term[] => {
  const terms = new Map<number, Term>()
  eachWord(query, (word, start, end, part) => {
    const hash = hashOf(word)
    const common = commonWords.has(query.slice(start, end).toLowerCase())
    const weight = (part ? partWeight : 1) * (common ? commonWeight : 1)
    if ((terms.get(hash)?.weight ?? 0) < weight) terms.set(hash, { hash, weight })
  })
  return [...terms.values()]
}

/** Words of most questions. A matching text may lack these words. */
const commonWords = new Set(
  `a an and any are as at be been but by can could did do does for from had has have how i if in into is it its may me
  might must my no nor not of off on or our should so some than that the their them then there these they this those to
  was we were what when where which who whom whose why will with would you your`.split(/\s+/),
)
