import type { Language } from './common-words.ts'
import { folded } from './fold.ts'
import { lightStem } from './light-stem.ts'
import { stem } from './stem.ts'

/** Called for each word with its compared form, its place, and whether it is a part of a longer word. */
export type HearWord = (word: string, start: number, end: number, part: boolean) => void

const spaceless = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー々'
/** Scripts without spaces, whose words a dictionary separates. */
const unspaced = '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const letter = `(?:(?![${spaceless}${unspaced}])[\\p{L}\\p{N}\\p{M}])`
/** A run of a script without spaces, or a word with its inner joints: `ERR_4711`, `e-mail`, `3.5`, `don’t`. */
const piece = new RegExp(`([${spaceless}]+)|([${unspaced}]+)|${letter}+(?:[-_.'’]${letter}+)*`, 'gu')
const plain = /^[a-z]+$/
const joint = /[-_.'’]/
/** The change of case inside an identifier. */
const hump = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const joined = /[-_.'’]|[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u

/** In characters: longer words are cut, since no query contains their ends. */
const mostWordCharacters = 40
const mostParts = 8

/**
 * Finds the words of a text, without case, accents and the endings of its language. A joined word is found whole and in
 * parts. Chinese, Japanese and Korean are found as pairs of characters, and words of one character as parts; a
 * dictionary separates Thai, Lao, Khmer and Burmese.
 */
export const eachWord = (text: string, hear: HearWord, language: Language = 'en'): void => {
  for (const found of text.matchAll(piece)) {
    const [raw, run, unspaced] = found
    const start = found.index
    if (run !== undefined) eachPair(run, start, hear)
    else if (unspaced !== undefined) eachCut(unspaced, start, hear)
    else if (!joined.test(raw)) hear(formOf(raw, language), start, start + raw.length, false)
    else eachPart(raw, start, hear, language)
  }
}

const eachPart = (raw: string, start: number, hear: HearWord, language: Language): void => {
  const end = start + raw.length
  const bare = raw.replace(/['’]s?$|['’]s$/i, '')
  const parts = bare.split(joint).flatMap((part) => part.split(hump))
  if (parts.length === 1) return hear(formOf(bare, language), start, end, false)
  hear(formOf(parts.join(''), language), start, end, false)
  for (const part of parts.slice(0, mostParts)) if (part.length > 1) hear(formOf(part, language), start, end, true)
}

const cutter = new Intl.Segmenter('th', { granularity: 'word' })

const eachCut = (run: string, start: number, hear: HearWord): void => {
  for (const { segment, index, isWordLike } of cutter.segment(run)) {
    if (isWordLike)
      hear(folded(segment.slice(0, mostWordCharacters)), start + index, start + index + segment.length, false)
  }
}

const eachPair = (run: string, start: number, hear: HearWord): void => {
  const characters = [...folded(run)]
  if (characters.length === 1) return hear(folded(run), start, start + run.length, false)
  // Folding may join or split characters, so positions are approximate.
  for (const [at, character] of characters.entries()) {
    const from = start + Math.min(at, run.length - 1)
    const next = characters[at + 1]
    if (next !== undefined) hear(`${character}${next}`, from, Math.min(from + 2, start + run.length), false)
    if (wordlike.test(character)) hear(character, from, from + 1, true)
  }
}

/** Characters that may be words. */
const wordlike = /[\p{Script=Han}\p{Script=Hangul}]/u

/** The compared form of a bare word. */
export const formOf = (raw: string, language: Language): string =>
  stemIn(language, folded(raw.slice(0, mostWordCharacters)))

/** Words in Latin letters lose English endings in a text of another script. */
const stemIn = (language: Language, word: string): string => {
  const light = language === 'en' ? null : lightStem(language, word)
  return light ?? (plain.test(word) ? stem(word) : word)
}
