import { type Search, matchesFrom } from '../shared/piecewise.ts'
import { mostBlanks, wordsPattern } from './pattern.ts'

/** The form in which words are compared: lower case, with single blanks. */
const folded = (text: string): string => text.toLowerCase().replace(/\s+/gu, ' ')

/** All beginnings of all words, the words themselves included. */
const beginningsOf = (words: readonly string[]): ReadonlySet<string> => {
  const all = new Set<string>()
  for (const word of words) for (let end = 1; end <= word.length; end++) all.add(word.slice(0, end))
  return all
}

/** Searches for words and phrases as a whole. `heard` takes a word that is found, and gives its replacement. */
export const searchOf = (given: readonly string[]): ((heard: (word: string) => string) => Search) => {
  // The same letters may stand as one mark, or as a letter and its accents.
  const words = [...new Set(given.flatMap((word) => [word, word.normalize('NFC'), word.normalize('NFD')].map(folded)))]
  const pattern = wordsPattern(words)
  const beginnings = beginningsOf(words)
  const most = Math.max(...words.map((word) => word.length + (word.split(' ').length - 1) * mostBlanks))

  /** The first place from which the rest begins a word of the lists; the text's end when no rest does. */
  const undecided = (text: string): number => {
    for (let at = Math.max(0, text.length - most); at < text.length; at++)
      if (beginnings.has(folded(text.slice(at)))) return at
    return text.length
  }

  return (heard) => ({
    undecided,
    find: (text, start) =>
      [...matchesFrom(pattern, text, start)].map(({ 0: word, index: from }) => ({
        from,
        to: from + word.length,
        by: () => heard(word),
      })),
  })
}
