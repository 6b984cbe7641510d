import type { Postings } from './postings.ts'

/** The files of each word, so that a search for an unknown word costs nothing. */
export interface Vocabulary {
  /** Adds a file under its number. */
  add(indexedFile: number, postings: Postings): void
  drop(indexedFile: number, postings: Postings): void
  /** Three numbers for each file with the word: the file's number, and the range of its entries. */
  standing(word: number): readonly number[]
  /** The long words of all files, with the number of files of each. */
  readonly compounds: ReadonlyMap<string, number>
  /** Approximately, in bytes. */
  readonly size: number
}

export const vocabulary = (): Vocabulary => {
  const held = new Map<number, number[]>()
  const compounds = new Map<string, number>()
  let numbers = 0
  return {
    add(indexedFile, { words, starts, compounds: own }) {
      for (const word of own) compounds.set(word, (compounds.get(word) ?? 0) + 1)
      for (const [at, word] of words.entries()) {
        const places = held.get(word)
        const place = [indexedFile, starts[at] ?? 0, starts[at + 1] ?? 0] as const
        if (places === undefined) held.set(word, [...place])
        else places.push(...place)
      }
      numbers += words.length * 3
    },
    drop(indexedFile, { words, compounds: own }) {
      for (const word of own) {
        const left = (compounds.get(word) ?? 0) - 1
        if (left > 0) compounds.set(word, left)
        else compounds.delete(word)
      }
      for (const word of words) {
        const left = (held.get(word) ?? []).filter((_, at, all) => all[at - (at % 3)] !== indexedFile)
        if (left.length === 0) held.delete(word)
        else held.set(word, left)
      }
      numbers -= words.length * 3
    },
    standing: (word) => held.get(word) ?? nowhere,
    compounds,
    get size() {
      return numbers * 8 + held.size * perWord
    },
  }
}

const nowhere: readonly number[] = []
/** A list and its entry. */
const perWord = 80
