import type { Postings } from './postings.ts'

/** The shelves of each word, so that a search for an unknown word costs nothing. */
export interface Vocabulary {
  /** Adds a shelf under its number. */
  add(shelf: number, postings: Postings): void
  drop(shelf: number, postings: Postings): void
  /** Three numbers for each shelf with the word: the shelf's number, and the range of its entries. */
  standing(word: number): readonly number[]
  /** Approximately, in bytes. */
  readonly size: number
}

export const vocabulary = (): Vocabulary => {
  const held = new Map<number, number[]>()
  let numbers = 0
  return {
    add(shelf, { words, starts }) {
      for (const [at, word] of words.entries()) {
        const places = held.get(word)
        const place = [shelf, starts[at] ?? 0, starts[at + 1] ?? 0] as const
        if (places === undefined) held.set(word, [...place])
        else places.push(...place)
      }
      numbers += words.length * 3
    },
    drop(shelf, { words }) {
      for (const word of words) {
        const left = (held.get(word) ?? []).filter((_, at, all) => all[at - (at % 3)] !== shelf)
        if (left.length === 0) held.delete(word)
        else held.set(word, left)
      }
      numbers -= words.length * 3
    },
    standing: (word) => held.get(word) ?? nowhere,
    get size() {
      return numbers * 8 + held.size * perWord
    },
  }
}

const nowhere: readonly number[] = []
/** A list and its entry. */
const perWord = 80
