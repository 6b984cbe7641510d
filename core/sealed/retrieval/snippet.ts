import type { Passage } from './split.ts'
import { eachWord } from './words.ts'

/** Characters of a snippet at most. */
const longest = 1400

/** Passages one behind the other, as one text. */
export interface Stretch {
  readonly first: number
  readonly last: number
  readonly text: string
}

/** A passage with as many of its neighbours under one heading as a snippet holds, the better first; those without a score stay out. */
export const around = (passages: readonly Passage[], row: number, scoreOf: (row: number) => number | null): Stretch => {
  const { heading, page, text } = passages[row]!
  let stretch: Stretch = { first: row, last: row, text }
  for (;;) {
    const wider = [stretch.first - 1, stretch.last + 1].flatMap((other) => {
      const it = passages[other]
      if (it === undefined || it.heading !== heading || it.page !== page) return []
      const score = scoreOf(other)
      if (score === null) return []
      const before = other < stretch.first
      const text = before ? joined(it.text, stretch.text) : joined(stretch.text, it.text)
      const place = before ? { first: other, last: stretch.last } : { first: stretch.first, last: other }
      return text.length <= longest ? [{ ...place, text, score }] : []
    })
    const best = wider.reduce<(typeof wider)[number] | null>(
      (one, it) => (one && one.score >= it.score ? one : it),
      null,
    )
    if (best === null) return stretch
    stretch = { first: best.first, last: best.last, text: best.text }
  }
}

/** Two neighbours in one, with what both begin or end with said once. */
const joined = (one: string, other: string): string => {
  for (let shared = Math.min(one.length, other.length); shared > 8; shared--) {
    if (one.endsWith(other.slice(0, shared))) return one + other.slice(shared)
  }
  return `${one}${other.includes(' | ') ? '\n' : ' '}${other}`
}

/** The stretch of a text with most of the query's words, from the start of a sentence where possible; the head of a text without them. */
export const snippetOf = (text: string, worth: (word: string) => number): string => {
  if (text.length <= longest) return text
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
      if (it.end - start > longest) break
      if (!seen.has(it.word)) sum += it.value
      seen.add(it.word)
      end = it.end
    }
    if (sum > best.sum) best = { start, end, sum }
  }
  return best
}

/** Where a window begins that holds all from `start` to `end`: with their sentence if it fits, else so that they stand in its middle. */
const beginning = (text: string, start: number, end: number): number => {
  const latest = text.length - longest
  const sentence = [...text.slice(0, start).matchAll(/[.!?]\s+|[。！？\n]/g)].at(-1)
  const from = Math.min(latest, sentence === undefined ? 0 : sentence.index + sentence[0].length)
  if (end - from <= longest) return from
  return Math.max(0, Math.min(latest, Math.round((start + end - longest) / 2)))
}

/** Never begins or ends within a word, unless the word is endless. */
const windowOf = (text: string, from: number): string => {
  const to = Math.min(text.length, from + longest)
  let part = text.slice(from, to)
  if (from > 0 && /\S/.test(text.charAt(from - 1))) part = part.replace(/^\S{0,40}\s+/, '')
  if (to < text.length && /\S/.test(text.charAt(to))) part = part.replace(/\s+\S{0,40}$/, '')
  // An endless word may have been cut within a character.
  return part.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '').trim()
}
