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
 * Finds the words of a text, without case, accents and endings. A joined word is found whole and in parts. Chinese,
 * Japanese and Korean are found as pairs of characters; a dictionary separates Thai, Lao, Khmer and Burmese.
 */
export const eachWord = (text: string, hear: HearWord): void => {
  for (const found of text.matchAll(piece)) {
    const [raw, run, unspaced] = found
    const start = found.index
    if (run !== undefined) eachPair(run, start, hear)
    else if (unspaced !== undefined) eachCut(unspaced, start, hear)
    else if (!joined.test(raw)) hear(formOf(raw), start, start + raw.length, false)
    else eachPart(raw, start, hear)
  }
}

const eachPart = (raw: string, start: number, hear: HearWord): void => {
  const end = start + raw.length
  const bare = raw.replace(/['’]s?$|['’]s$/i, '')
  const parts = bare.split(joint).flatMap((part) => part.split(hump))
  if (parts.length === 1) return hear(formOf(bare), start, end, false)
  hear(formOf(parts.join('')), start, end, false)
  for (const part of parts.slice(0, mostParts)) if (part.length > 1) hear(formOf(part), start, end, true)
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
  if (characters.length === 1) return hear(run, start, start + run.length, false)
  // Folding may join or split characters, so positions are approximate.
  for (let at = 0; at + 1 < characters.length; at++) {
    const from = start + Math.min(at, run.length - 1)
    hear(`${characters[at]}${characters[at + 1]}`, from, Math.min(from + 2, start + run.length), false)
  }
}

const formOf = (raw: string): string => {
  const word = folded(raw.slice(0, mostWordCharacters))
  return plain.test(word) ? stem(word) : word
}

/** Removes case and accents. */
const folded = (raw: string): string => {
  const lower = raw.toLowerCase()
  if (plain.test(lower)) return lower
  return lower
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(/[ßæœøłđð]/g, (it) => unaccented[it] ?? it)
}

const unaccented: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
}
