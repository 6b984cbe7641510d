import type { Passage } from './split.ts'
import { eachWord } from './words.ts'

/** In characters: the longest snippet. */
const mostCharacters = 1400

/** Consecutive passages as one text. */
export interface PassageRun {
  readonly first: number
  readonly last: number
  readonly text: string
}

/**
 * A passage with as many neighbours under its heading as a snippet holds, better neighbours first. Neighbours without a
 * score are left out.
 */
export const passageAround = (
  passages: readonly Passage[],
  row: number,
  scoreOf: (row: number) => number | null,
): PassageRun => {
  const { heading, page, text } = passages[row]!
  let stretch: PassageRun = { first: row, last: row, text }
  for (;;) {
    const wider = [stretch.first - 1, stretch.last + 1].flatMap((other) => {
      const it = passages[other]
      if (it === undefined || it.heading !== heading || it.page !== page) return []
      const score = scoreOf(other)
      if (score === null) return []
      const before = other < stretch.first
      const text = before ? joined(it.text, stretch.text) : joined(stretch.text, it.text)
      const place = before ? { first: other, last: stretch.last } : { first: stretch.first, last: other }
      return text.length <= mostCharacters ? [{ ...place, text, score }] : []
    })
    const best = wider.reduce<(typeof wider)[number] | null>(
      (one, it) => (one && one.score >= it.score ? one : it),
      null,
    )
    if (best === null) return stretch
    stretch = { first: best.first, last: best.last, text: best.text }
  }
}

/** Joins two neighbours. Text that ends one and begins the other occurs once. */
const joined = (one: string, other: string): string => {
  for (let shared = Math.min(one.length, other.length); shared > 8; shared--) {
    if (one.endsWith(other.slice(0, shared))) return one + other.slice(shared)
  }
  return `${one}${other.includes(' | ') ? '\n' : ' '}${other}`
}

/**
 * The part of a text with most of the query's words, from the start of a sentence where possible. Without any of the
 * words, the beginning of the text.
 */
export const snippetOf = (text: string, worth: (word: string) => number): string => {
  if (text.length <= mostCharacters) return text
  const heard: Heard[] = []
  eachWord(text, (word, start, end) => {
    const value = worth(word)
    if (value > 0) heard.push({ word, start, end, value })
  })
  const { start, end } = densest(heard)
  return windowOf(text, beginning(text, start, end))
}

interface Heard {
  readonly word: string
  readonly start: number
  readonly end: number
  readonly value: number
}

const densest = (heard: readonly Heard[]): { readonly start: number; readonly end: number } => {
  let best = { start: 0, end: 0, sum: 0 }
  for (const [first, { start }] of heard.entries()) {
    const seen = new Set<string>()
    let sum = 0
    let end = start
    for (const it of heard.slice(first)) {
      if (it.end - start > mostCharacters) break
      if (!seen.has(it.word)) sum += it.value
      seen.add(it.word)
      end = it.end
    }
    if (sum > best.sum) best = { start, end, sum }
  }
  return best
}

/**
 * The start of a window that contains `start` to `end`: at their sentence when it fits, otherwise with them in the
 * middle.
 */
const beginning = (text: string, start: number, end: number): number => {
  const latest = text.length - mostCharacters
  const sentence = [...text.slice(0, start).matchAll(/[.!?]\s+|[。！？\n]/g)].at(-1)
  const from = Math.min(latest, sentence === undefined ? 0 : sentence.index + sentence[0].length)
  if (end - from <= mostCharacters) return from
  return Math.max(0, Math.min(latest, Math.round((start + end - mostCharacters) / 2)))
}

/** Never cuts a word, unless the word is very long. */
const windowOf = (text: string, from: number): string => {
  const to = Math.min(text.length, from + mostCharacters)
  let part = text.slice(from, to)
  if (from > 0 && /\S/.test(text.charAt(from - 1))) part = part.replace(/^\S{0,40}\s+/, '')
  if (to < text.length && /\S/.test(text.charAt(to))) part = part.replace(/\s+\S{0,40}$/, '')
  // A very long word may be cut inside a surrogate pair.
  return part.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '').trim()
}
