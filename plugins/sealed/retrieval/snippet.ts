import type { Language } from './common-words.ts'
import type { Passage } from './split.ts'
import { eachWord } from './words.ts'

/** In characters: the longest snippet where a search names no length. */
export const longestSnippet = 1400

/** Consecutive passages as one text. */
export interface PassageRun {
  readonly first: number
  readonly last: number
  readonly text: string
}

/**
 * A passage with as many neighbours as a snippet holds, better neighbours first, then nearer ones. Neighbours without a
 * score are left out. A snippet of the usual length stays under its heading.
 */
export const passageAround = (
  passages: readonly Passage[],
  row: number,
  scoreOf: (row: number) => number | null,
  most = longestSnippet,
): PassageRun => {
  const { heading, page, text } = passages[row]!
  let stretch: PassageRun = { first: row, last: row, text }
  for (;;) {
    const wider = [stretch.first - 1, stretch.last + 1].flatMap((other) => {
      const passage = passages[other]
      if (passage === undefined || (most <= longestSnippet && (passage.heading !== heading || passage.page !== page)))
        return []
      const score = scoreOf(other)
      if (score === null) return []
      const text =
        other < stretch.first
          ? joined(passage, passage.text, passages[stretch.first]!, stretch.text)
          : joined(passages[stretch.last]!, stretch.text, passage, passage.text)
      const place = { first: Math.min(other, stretch.first), last: Math.max(other, stretch.last) }
      return text.length <= most ? [{ ...place, text, score, far: Math.abs(other - row) }] : []
    })
    const best = wider.reduce<(typeof wider)[number] | null>(
      (one, other) => (one && !isBetter(other, one) ? one : other),
      null,
    )
    if (best === null) return stretch
    stretch = { first: best.first, last: best.last, text: best.text }
  }
}

interface Neighbour {
  readonly score: number
  /** In passages from the hit. */
  readonly far: number
}

const isBetter = (one: Neighbour, other: Neighbour): boolean =>
  one.score > other.score || (one.score === other.score && one.far < other.far)

/** Joins two neighbours with their texts so far. Text that ends one and begins the other occurs once. */
const joined = (earlier: Passage, one: string, later: Passage, other: string): string => {
  if (later.heading !== earlier.heading)
    return `${one}\n\n${later.heading === null ? '' : `${later.heading}\n`}${other}`
  for (let shared = Math.min(one.length, other.length); shared > 8; shared--) {
    if (one.endsWith(other.slice(0, shared))) return one + other.slice(shared)
  }
  return `${one}${other.includes(' | ') ? '\n' : ' '}${other}`
}

/** The part of a text with most of the query's words, from the start of a sentence; else its beginning. */
export const snippetOf = (
  text: string,
  worth: (word: string) => number,
  most = longestSnippet,
  language: Language = 'en',
): string => {
  if (text.length <= most) return text
  const heard: Heard[] = []
  const hear = (word: string, start: number, end: number) => {
    const value = worth(word)
    if (value > 0) heard.push({ word, start, end, value })
  }
  eachWord(text, hear, language)
  const { start, end } = densest(heard, most)
  return windowOf(text, beginning(text, start, end, most), most)
}

/** A word of the query in the text; `end` is exclusive. */
interface Heard {
  readonly word: string
  readonly start: number
  readonly end: number
  readonly value: number
}

/** The stretch of at most `most` characters with the highest sum. A repeated word counts once. */
const densest = (heard: readonly Heard[], most: number): { readonly start: number; readonly end: number } => {
  let best = { start: 0, end: 0, sum: 0 }
  for (const [first, { start }] of heard.entries()) {
    const seen = new Set<string>()
    let sum = 0
    let end = start
    for (const word of heard.slice(first)) {
      if (word.end - start > most) break
      if (!seen.has(word.word)) sum += word.value
      seen.add(word.word)
      end = word.end
    }
    if (sum > best.sum) best = { start, end, sum }
  }
  return best
}

/** The start of a window that contains `start` to `end`: at their sentence, else with them in the middle. */
const beginning = (text: string, start: number, end: number, most: number): number => {
  const latest = text.length - most
  const sentence = [...text.slice(0, start).matchAll(/[.!?]\s+|[。！？\n]/g)].at(-1)
  const from = Math.min(latest, sentence === undefined ? 0 : sentence.index + sentence[0].length)
  if (end - from <= most) return from
  return Math.max(0, Math.min(latest, Math.round((start + end - most) / 2)))
}

/** Never cuts a word, unless the word is very long. */
const windowOf = (text: string, from: number, most: number): string => {
  const to = Math.min(text.length, from + most)
  let part = text.slice(from, to)
  if (from > 0 && /\S/.test(text.charAt(from - 1))) part = part.replace(/^\S{0,40}\s+/, '')
  if (to < text.length && /\S/.test(text.charAt(to))) part = part.replace(/(?<!\s)\s+\S{0,40}$/, '')
  // A very long word may be cut inside a surrogate pair.
  return part.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '').trim()
}
