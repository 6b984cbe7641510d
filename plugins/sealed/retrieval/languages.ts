import { commonWords, type Language } from './common-words.ts'
import { folded } from './fold.ts'

/** In characters: the part of a text that tells its language. */
const read = 600

/** How many common words of a language a text has: as one of several, as all that there is, and as a share. */
const fewest = 4
const fewestOfAll = 2
const leastShare = 0.12

/** The lead over the next language, as a factor. */
const lead = 1.3

/** The language of a text by its commonest words, each of which counts once; null when they leave it open. */
export const languageOf = (text: string, least = fewest): Language | null => {
  const counts = new Map<Language, number>()
  const words = new Set(Array.from(text.slice(0, read).matchAll(/[\p{L}\p{M}]+/gu), ([word]) => folded(word)))
  for (const word of words)
    for (const language of speakers.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1)
  const [first, second] = [...counts].sort(([, one], [, other]) => other - one)
  if (first === undefined || first[1] < Math.max(least, words.size * leastShare)) return null
  return first[1] >= lead * (second?.[1] ?? 0) ? first[0] : null
}

/** The language of each text of a file. A text that leaves it open has the language of most others. */
export const languagesOf = (texts: readonly string[]): readonly Language[] => {
  const own = texts.map(languageOf)
  const counts = new Map<Language, number>()
  for (const language of own) if (language !== null) counts.set(language, (counts.get(language) ?? 0) + 1)
  const [most] = [...counts].sort(([, one], [, other]) => other - one)
  const usual = most?.[0] ?? languageOf(texts.join('\n').slice(0, read), fewestOfAll) ?? 'en'
  return own.map((language) => language ?? usual)
}

/** The languages that a question is asked in, of those of the searched texts: its own and English, or all. */
export const languagesFor = (query: string, languages: ReadonlySet<Language>): ReadonlySet<Language> => {
  const own = languageOf(query, fewestOfAll)
  const some = [...languages].filter((language) => language === own || language === 'en')
  return own !== null && languages.has(own) ? new Set(some) : languages
}

/** The languages of each common word; several languages share some words. */
const speakers = new Map<string, Language[]>()
for (const [language, words] of Object.entries(commonWords) as [Language, ReadonlySet<string>][])
  for (const word of words) speakers.set(word, [...(speakers.get(word) ?? []), language])
