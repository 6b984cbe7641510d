import type { Work } from '../../shared/work-in-turns.ts'
import type { Language } from './common-words.ts'
import { formOf } from './words.ts'

/** The words of an index, as they are compared. */
export interface KnownWords {
  /** The long words, some of them more than once. */
  readonly compounds: Iterable<string>
  knows(word: string): boolean
}

/** The shortest part of a word, and the shortest part beside an unknown one; both in letters. */
const shortest = 3
const telling = 4

/** In letters: a word with known parts, and one with an unknown part. */
const long = 7
const longer = 8

/** The largest number of words that one word is looked for in. */
const mostFound = 100

/** True for languages that write joined words without a space. */
export const joinsWords = (language: Language): boolean => language === 'de' || language === 'nl'

/** True for a word that may be joined from others. */
export const isLong = (word: string): boolean => word.length >= long

/**
 * Words of an index beside a word of a question, in groups of one meaning each: all that the word is a part of, and the
 * parts that the word is joined from.
 */
export function* relatedWords(
  word: string,
  language: Language,
  known: KnownWords,
): Work<readonly (readonly string[])[]> {
  const around = yield* joinedWith(word, language, known)
  const parts = partsOf(word, language, known).map((part) => [part])
  return [around, ...parts].filter((group) => group.length > 0)
}

/** Compounds between two looks at the time, and nanoseconds for each. */
const [atOnce, compoundNs] = [4096, 100]

/** Long words of the index that begin or end with the word; a shorter compound comes first. */
function* joinedWith(word: string, language: Language, known: KnownWords): Work<readonly string[]> {
  if (word.length < shortest) return []
  const isRest = (rest: string): boolean =>
    (word.length >= telling && (word.length + rest.length >= longer || rest === 'ung')) ||
    known.knows(formOf(rest, language))
  let found = new Set<string>()
  let seen = 0
  for (const compound of known.compounds) {
    if (++seen % atOnce === 0) yield atOnce * compoundNs
    const length = compound.length - word.length
    if (length < shortest) continue
    const fits =
      (compound.endsWith(word) && isRest(compound.slice(0, length))) ||
      (compound.startsWith(word) && isRest(compound.slice(word.length)))
    if (fits) found.add(compound)
    if (found.size === 10 * mostFound) found = new Set(shortestOf(found))
  }
  yield (seen % atOnce) * compoundNs
  return shortestOf(found)
}

/** The order of the files has no say in what is left out. */
const shortestOf = (found: ReadonlySet<string>): readonly string[] =>
  [...found].sort((one, other) => one.length - other.length || (one < other ? -1 : 1)).slice(0, mostFound)

/** Endings that make a noun or an adjective of a shorter word. */
const derived = /(?:ung|heit|keit|lich|isch|ing|heid|lijk)$/

/** The two known parts of a word, or its longest known part alone; and what stands before an ending. */
const partsOf = (word: string, language: Language, { knows }: KnownWords): readonly string[] => {
  if (!isLong(word)) return []
  const splits = Array.from({ length: word.length - 2 * shortest + 1 }, (_, at) => shortest + at).map((at) =>
    [word.slice(0, at), word.slice(at)].map((part) => formOf(part, language)),
  )
  const known = splits.map((parts) => parts.filter((part) => part.length >= shortest && knows(part)))
  const [even] = known.filter((parts) => parts.length === 2).sort((one, other) => shorter(other) - shorter(one))
  const [largest] = known
    .flat()
    .filter(isTelling(word))
    .sort((one, other) => other.length - one.length)
  const base = word.replace(derived, '')
  return [
    ...(even ?? (largest === undefined ? [] : [largest])),
    ...(base !== word && base.length >= telling && knows(base) ? [base] : []),
  ]
}

/** The part needs five letters and its rest four: shorter ones are parts of words by chance. */
const isTelling =
  (word: string) =>
  (part: string): boolean =>
    part.length > telling && word.length - part.length >= telling

/** The length of the shorter half: a split near the middle is the likelier one. */
const shorter = (parts: readonly string[]): number => Math.min(...parts.map(({ length }) => length))
