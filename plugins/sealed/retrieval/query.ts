import type { Work } from '../../shared/work-in-turns.ts'
import { commonWords, type Language } from './common-words.ts'
import { joinsWords, type KnownWords, relatedWords } from './compounds.ts'
import { folded } from './fold.ts'
import { hashOf } from './postings.ts'
import { eachWord } from './words.ts'

/** A word of the query in all its forms. */
export interface Term {
  /** One for each language in which the word has another form, or for each word that it is a part of. */
  readonly hashes: readonly number[]
  /** From 0 to 1: lower for a part of a longer word, and for words that most questions contain. */
  readonly weight: number
}

// Tuned on the tuning half of the benchmark's questions.
const partWeight = 0.5
const commonWeight = 0.3

/** The weight of a word of the index that a word of the query is a part of, or that is a part of it. */
const relatedWeight = 0.7

/** The largest number of words of a query that are looked for in compounds. */
const mostRelated = 20

/** Nanoseconds for a word of a query. */
const wordNs = 5_000

/** The terms of a query in the languages of the searched passages. */
export function* termsOf(query: string, languages: ReadonlySet<Language>, known: KnownWords): Work<readonly Term[]> {
  const terms = new Map<string, Term>()
  const note = (words: readonly string[], weight: number) => {
    const hashes = [...new Set(words.map(hashOf))].sort((one, other) => one - other)
    const key = hashes.join()
    if ((terms.get(key)?.weight ?? 0) < weight) terms.set(key, { hashes, weight })
  }
  let related = 0
  for (const { raw, part, forms } of heardIn(query, languages)) {
    yield wordNs
    const words = [...forms.values()]
    // The pairs of a run stand for its characters.
    if (part && words.every((word) => [...word].length === 1)) continue
    const common = isCommon(raw, languages)
    const weight = (part ? partWeight : 1) * (common ? commonWeight : 1)
    note(words, weight)
    if (common || part) continue
    for (const [language, word] of forms) {
      if (!joinsWords(language) || ++related > mostRelated) continue
      for (const group of yield* relatedWords(word, language, known)) note(group, relatedWeight)
    }
  }
  return [...terms.values()]
}

interface Heard {
  readonly raw: string
  readonly part: boolean
  /** The compared form by language. */
  readonly forms: Map<Language, string>
}

/** The words of the query in order. Languages differ in the forms of the words alone. */
const heardIn = (query: string, languages: ReadonlySet<Language>): readonly Heard[] => {
  const heard: Heard[] = []
  for (const language of languages) {
    let at = 0
    eachWord(
      query,
      (word, start, end, part) => {
        const spoken = (heard[at++] ??= { raw: query.slice(start, end), part, forms: new Map() })
        spoken.forms.set(language, word)
      },
      language,
    )
  }
  return heard
}

/** Questions in English are asked of files in any language. */
const isCommon = (raw: string, languages: ReadonlySet<Language>): boolean =>
  [...new Set<Language>(['en', ...languages])].some((language) => commonWords[language].has(folded(raw)))
