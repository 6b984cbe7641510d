import { entriesOf, type Postings } from './postings.ts'
import type { Term } from './query.ts'
import type { Passage } from './split.ts'
import { cosines, type Vectors } from './vectors.ts'

/** One file's passages, and what is searched of them. */
export interface Shelf {
  readonly fileId: string
  readonly passages: readonly Passage[]
  readonly postings: Postings
  /** The words of the file's title. */
  readonly titles: ReadonlySet<number>
  /** Null when the file was put in without. */
  readonly vectors: Vectors | null
}

export interface Ranked {
  /** From 0 to 1, for the passages of all shelves one behind the other. */
  readonly scores: Float32Array
  /** Where each shelf's passages begin. */
  readonly starts: readonly number[]
  /** How much it says that a word stands somewhere. */
  readonly worth: ReadonlyMap<number, number>
}

// Found on the half of the bench's questions that is for tuning. All three parts are used as they are, not by rank or
// stretched to what was found: how near the best one is says how much to make of it.
const meaning = 0.6
const company = 0.3
const nameWeight = 3
/** A word in so many of the titles names what those files are about. */
const fewTitles = 0.05
/** How soon a word that comes again says nothing more, and how much longer passages are held back. */
const saturation = 1.2
const lengthWeight = 0.4

/** By what a passage means (its vector), by its words (BM25), and by the words of the file around it. */
export const rank = (shelves: readonly Shelf[], terms: readonly Term[], vector: Float32Array | null): Ranked => {
  const starts: number[] = []
  let count = 0
  for (const { passages } of shelves) {
    starts.push(count)
    count += passages.length
  }
  const { words, files, worth } = lexical(shelves, starts, count, terms)
  const scores = words
  const near = new Float32Array(count)
  for (const [at, { passages, vectors }] of shelves.entries()) {
    const start = starts[at]!
    const meant = vector !== null && vectors?.size === vector.length ? vectors : null
    if (meant) cosines(meant, vector!, near, start)
    for (let row = 0; row < passages.length; row++) {
      const place = start + row
      const own = meant && meant.scales[row]! > 0
      const passage = own ? meaning * Math.max(0, near[place]!) + (1 - meaning) * words[place]! : words[place]!
      scores[place] = (passage + company * files[at]!) / (1 + company)
    }
  }
  return { scores, starts, worth }
}

/** What share of the query's words, by their worth, is in each passage and in each file. */
const lexical = (shelves: readonly Shelf[], starts: readonly number[], count: number, terms: readonly Term[]) => {
  const words = new Float32Array(count)
  const files = new Float32Array(shelves.length)
  const worth = new Map<number, number>()
  let all = 0
  let allOfFiles = 0
  const mean = shelves.reduce((sum, { postings }) => sum + postings.length, 0) / count || 1
  for (const { hash, weight, name } of terms) {
    const entries = shelves.map(({ postings }) => entriesOf(postings, hash))
    const passagesWith = entries.reduce((sum, [from, to]) => sum + to - from, 0)
    const filesWith = entries.reduce((sum, [from, to]) => sum + (to > from ? 1 : 0), 0)
    const strength = weight * (name || inFewTitles(shelves, hash) ? nameWeight : 1)
    const value = strength * rarity(passagesWith, count)
    const valueOfFile = strength * rarity(filesWith, shelves.length)
    worth.set(hash, value)
    all += value
    allOfFiles += valueOfFile
    for (const [at, [from, to]] of entries.entries()) {
      if (from === to) continue
      const { rows, counts, lengths } = shelves[at]!.postings
      files[at]! += valueOfFile
      for (let entry = from; entry < to; entry++) {
        const row = rows[entry]!
        const times = counts[entry]!
        const held = saturation * (1 - lengthWeight + (lengthWeight * lengths[row]!) / mean)
        words[starts[at]! + row]! += (value * times * (saturation + 1)) / (times + held)
      }
    }
  }
  return {
    words: words.map((sum) => Math.min(1, sum / (all || 1))),
    files: files.map((sum) => sum / (allOfFiles || 1)),
    worth,
  }
}

const rarity = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5))

const inFewTitles = (shelves: readonly Shelf[], hash: number): boolean => {
  const having = shelves.reduce((sum, { titles }) => sum + (titles.has(hash) ? 1 : 0), 0)
  return having > 0 && having <= Math.max(2, shelves.length * fewTitles)
}

/** The places of the highest scores above 0, the highest first, of equals the earlier. */
export const bestOf = (scores: Float32Array, most: number): readonly number[] => {
  const best: number[] = []
  for (let place = 0; place < scores.length; place++) {
    const score = scores[place]!
    if (score <= 0 || (best.length === most && score <= scores[best[most - 1]!]!)) continue
    let at = best.length
    while (at > 0 && scores[best[at - 1]!]! < score) at--
    best.splice(at, 0, place)
    if (best.length > most) best.pop()
  }
  return best
}
