import type { Meaning, WordNet } from './wordnet.ts'

/** A word that means nearly what another does. */
export interface Kin {
  readonly word: string
  /** 1 for the same meaning, towards 0 the farther. */
  readonly nearness: number
}

/** The kin of a word, the nearest first; none for a word that is not known. */
export type Thesaurus = (word: string) => readonly Kin[]

// Found on the half of the bench's questions that is for tuning, where most of them may be a third more or less for a hundredth of recall.
/** What is left of a meaning's weight for the next rarer one. */
const rarer = 0.6
const mostMeanings = 4
/** What is left of a meaning behind a pointer: derived words, narrower and like meanings, wider ones, and all others. */
const derived = 0.9
const narrower = 0.7
const wider = 0.6
const other = 0.5
const left: Readonly<Record<string, number>> = {
  '+': derived,
  '\\': derived,
  '<': derived,
  '~': narrower,
  '&': narrower,
  '@': wider,
  '^': other,
  '*': other,
  '>': other,
  $: other,
  '=': other,
  '!': other,
  '#m': other,
  '#s': other,
  '#p': other,
  '%m': other,
  '%s': other,
  '%p': other,
}
/** Pointers that are followed one behind the other: two lead from a thing to others of its kind. */
const depth = 2
/** Meanings that are gone on from at once, so that `person` costs no more than others. */
const breadth = 400
const least = 0.15

/** Spreads out from what a word may mean, along what WordNet points to. */
export const kinIn =
  ({ meanings, words, pointers }: WordNet): Thesaurus =>
  (word) => {
    const reached = new Map<Meaning, number>()
    const kin = new Map<string, number>()
    let front = new Map<Meaning, number>()
    for (const its of meanings(word)) {
      for (const [at, meaning] of its.slice(0, mostMeanings).entries()) raise(front, meaning, rarer ** at)
    }
    for (let step = 0; step <= depth; step++) {
      const next = new Map<Meaning, number>()
      for (const [meaning, nearness] of front) {
        if (!raise(reached, meaning, nearness)) continue
        // What is said in several words is looked up in none.
        for (const it of words(meaning)) if (!it.includes('_')) raise(kin, it, nearness)
        if (step === depth) continue
        for (const { kind, to } of pointers(meaning)) {
          const there = nearness * (left[kind] ?? 0)
          if (there >= least) raise(next, to, there)
        }
      }
      front = next.size > breadth ? new Map(nearestOf(next).slice(0, breadth)) : next
    }
    return nearestOf(kin).map(([word, nearness]) => ({ word, nearness }))
  }

/** Whether it was lower before. */
const raise = <K>(all: Map<K, number>, key: K, to: number): boolean => {
  if ((all.get(key) ?? 0) >= to) return false
  all.set(key, to)
  return true
}

const nearestOf = <K>(all: ReadonlyMap<K, number>): readonly (readonly [K, number])[] =>
  [...all].sort(([, one], [, another]) => another - one)
