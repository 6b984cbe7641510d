import type { Passage } from './split.ts'
import { eachWord } from './words.ts'

const longest = 400

/** The stretch of a text in which most of what was asked for stands, from the beginning of a sentence where it can be; its head when nothing does. */
export const snippetOf = (text: string, worth: (word: string) => number, most = longest): string => {
  if (text.length <= most) return text
  const heard: { readonly word: string; readonly start: number; readonly end: number; readonly worth: number }[] = []
  eachWord(text, (word, start, end) => {
    const value = worth(word)
    if (value > 0) heard.push({ word, start, end, worth: value })
  })
  let best = { from: 0, to: 0, sum: 0 }
  for (const [first, { start }] of heard.entries()) {
    const seen = new Map<string, number>()
    let to = start
    for (let at = first; at < heard.length && heard[at]!.end - start <= most; at++) {
      seen.set(heard[at]!.word, heard[at]!.worth)
      to = heard[at]!.end
    }
    const sum = [...seen.values()].reduce((sum, it) => sum + it, 0)
    if (sum > best.sum) best = { from: start, to, sum }
  }
  return best.sum === 0 ? windowOf(text, 0, most) : windowOf(text, beginning(text, best.from, best.to, most), most)
}

/** Where a window begins that holds `from` to `to`: at their sentence if it fits, else so that they stand in the middle. */
const beginning = (text: string, from: number, to: number, most: number): number => {
  const latest = Math.max(0, Math.min(from, text.length - most))
  const sentence = Math.max(
    0,
    ...[...text.slice(0, from).matchAll(/[.!?。！？]\s*|\n/g)].map((it) => it.index + it[0].length),
  )
  if (to - Math.min(sentence, latest) <= most) return Math.min(sentence, latest)
  const middle = Math.max(0, Math.round(from - (most - (to - from)) / 2))
  return Math.min(middle, latest)
}

const windowOf = (text: string, from: number, most: number): string => {
  const rough = text.slice(from, from + most)
  const head =
    from > 0 && /\S/.test(text[from - 1]!) && /\s/.test(rough.slice(0, 40)) ? rough.replace(/^\S*\s+/, '') : rough
  const whole = from + most >= text.length || /\s/.test(text[from + most]!)
  const tail = whole || !/\s/.test(head.slice(-40)) ? head : head.replace(/\s+\S*$/, '')
  return tail.trim().replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}

export interface Place {
  readonly first: number
  readonly last: number
  readonly text: string
}

/** A passage with as many of its neighbours as make a snippet, the better one first. */
export const around = (
  passages: readonly Passage[],
  row: number,
  scoreOf: (row: number) => number,
  most = longest,
): Place => {
  const { heading, page, text } = passages[row]!
  const fits = (other: number) => {
    const it = passages[other]
    return it !== undefined && it.heading === heading && it.page === page ? it : null
  }
  let place: Place = { first: row, last: row, text }
  for (;;) {
    const before = fits(place.first - 1)
    const after = fits(place.last + 1)
    const options = [
      ...(before
        ? [{ first: place.first - 1, last: place.last, text: joined(before.text, place.text), at: place.first - 1 }]
        : []),
      ...(after
        ? [{ first: place.first, last: place.last + 1, text: joined(place.text, after.text), at: place.last + 1 }]
        : []),
    ].filter(({ text }) => text.length <= most)
    const [best] = options.sort((one, other) => scoreOf(other.at) - scoreOf(one.at))
    if (best === undefined) return place
    place = best
  }
}

/** Two neighbours in one, with what both hold said once. */
const joined = (one: string, other: string): string => {
  for (let shared = Math.min(one.length, other.length, 200); shared > 0; shared--) {
    if (one.endsWith(other.slice(0, shared))) return one + other.slice(shared)
  }
  return `${one}${/ \| /.test(other) ? '\n' : ' '}${other}`
}
