import type { Postings } from './postings.ts'
import type { Term } from './query.ts'
import type { Passage } from './split.ts'
import { cosines, type Vectors } from './vectors.ts'
import type { Vocabulary } from './vocabulary.ts'

/** One file's passages and their search index. */
export interface Shelf {
  readonly fileId: string
  /** As the vocabulary knows it. */
  readonly number: number
  readonly passages: readonly Passage[]
  readonly postings: Postings
  /** The words of the file's title. */
  readonly titles: ReadonlySet<number>
  /** Null when the file was put in without. */
  readonly vectors: Vectors | null
  /** The name of the model that made the vectors; absent where the index doesn't say it. */
  readonly model?: string
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
const meaning = 0.5
const company = 0.3
const nameWeight = 3
/** A word in so many of the titles names what those files are about. */
const fewTitles = 0.05
/** How soon a word that comes again says nothing more, and how much longer passages are held back. */
const saturation = 1.2
const lengthWeight = 0.4
/** Kin of one word that are looked up; what is farther says nothing, nor what stands in a larger share of the passages. */
const mostKin = 60
const commonKin = 1 / 8
/** What it counts that some kin of a word stands in a file, beside the word itself: in a whole file there is some of many. */
const kinOfFile = 0.5

/** By what a passage means (its vector), by its words and their kin (BM25), and by the words of the file around it. */
export const rank = (
  shelves: readonly Shelf[],
  vocabulary: Vocabulary,
  terms: readonly Term[],
  vector: Float32Array | null,
): Ranked => {
  const starts: number[] = []
  let count = 0
  for (const { passages } of shelves) {
    starts.push(count)
    count += passages.length
  }
  const { words, files, worth } = lexical(shelves, vocabulary, starts, count, terms)
  const scores = words
  const near = new Float32Array(count)
  for (const [at, { passages, vectors }] of shelves.entries()) {
    const start = starts[at] ?? 0
    const meant = vector !== null && vectors?.size === vector.length ? vectors : null
    if (meant && vector) cosines(meant, vector, near, start)
    for (let row = 0; row < passages.length; row++) {
      const place = start + row
      const heard = words[place] ?? 0
      const own = meant && (meant.scales[row] ?? 0) > 0
      const passage = own ? meaning * Math.max(0, near[place] ?? 0) + (1 - meaning) * heard : heard
      scores[place] = (passage + company * (files[at] ?? 0)) / (1 + company)
    }
  }
  return { scores, starts, worth }
}

/** Gives where a word stands among these shelves. */
const standings = (shelves: readonly Shelf[], vocabulary: Vocabulary, order: Int32Array, count: number) => {
  return (hash: number): Standing => {
    const places = vocabulary.standing(hash)
    let passages = 0
    let filesWith = 0
    for (let at = 0; at < places.length; at += 3) {
      if ((order[places[at] ?? -1] ?? absent) === absent) continue
      passages += (places[at + 2] ?? 0) - (places[at + 1] ?? 0)
      filesWith++
    }
    return { places, passages, rarity: rarity(passages, count), rarityOfFile: rarity(filesWith, shelves.length) }
  }
}

/** The share of the query's words, by their worth, in each passage and in each file; of a word and its kin the highest counts. */
const lexical = (
  shelves: readonly Shelf[],
  vocabulary: Vocabulary,
  starts: readonly number[],
  count: number,
  terms: readonly Term[],
) => {
  const words = tally(count)
  const files = tally(shelves.length)
  const worth = new Map<number, number>()
  const order = new Int32Array(shelves.reduce((most, { number }) => Math.max(most, number + 1), 0)).fill(absent)
  for (const [at, { number }] of shelves.entries()) order[number] = at
  const mean = shelves.reduce((sum, { postings }) => sum + postings.length, 0) / count || 1
  const standingOf = standings(shelves, vocabulary, order, count)
  const note = (hash: number, { places }: Standing, value: number, valueOfFile: number) => {
    worth.set(hash, Math.max(value, worth.get(hash) ?? 0))
    for (let place = 0; place < places.length; place += 3) {
      const at = order[places[place] ?? -1] ?? absent
      if (at === absent) continue
      const shelf = shelves[at]
      if (shelf === undefined) continue
      const { rows, counts, lengths } = shelf.postings
      const [start, end] = [starts[at] ?? 0, places[place + 2] ?? 0]
      files.raise(at, valueOfFile)
      for (let entry = places[place + 1] ?? 0; entry < end; entry++) {
        const row = rows[entry] ?? 0
        const times = counts[entry] ?? 0
        const held = saturation * (1 - lengthWeight + (lengthWeight * (lengths[row] ?? 0)) / mean)
        words.raise(start + row, (value * times * (saturation + 1)) / (times + held))
      }
    }
  }
  let all = 0
  let allOfFiles = 0
  for (const { hash, weight, name, kin } of terms) {
    const named = name || inFewTitles(shelves, hash)
    const strength = weight * (named ? nameWeight : 1)
    const own = standingOf(hash)
    all += strength * own.rarity
    allOfFiles += strength * own.rarityOfFile
    note(hash, own, strength * own.rarity, strength * own.rarityOfFile)
    let left = named ? 0 : mostKin
    for (const [other, nearness] of kin) {
      if (left === 0) break
      const its = standingOf(other)
      if (its.passages === 0 || its.passages > Math.max(1, count * commonKin)) continue
      left--
      // Kin that is rarer than the word was asked for no more than the word.
      const value = strength * nearness * Math.min(own.rarity, its.rarity)
      note(other, its, value, strength * nearness * kinOfFile * Math.min(own.rarityOfFile, its.rarityOfFile))
    }
    words.next()
    files.next()
  }
  return {
    words: words.sums.map((sum) => Math.min(1, sum / (all || 1))),
    files: files.sums.map((sum) => sum / (allOfFiles || 1)),
    worth,
  }
}

/** Where a word stands, as the vocabulary says it, and how much it says by that. */
interface Standing {
  readonly places: readonly number[]
  readonly passages: number
  readonly rarity: number
  readonly rarityOfFile: number
}

/** Sums by place, of each round the highest. */
const tally = (size: number) => {
  const sums = new Float32Array(size)
  const highest = new Float32Array(size)
  const touched: number[] = []
  return {
    sums,
    raise(place: number, to: number) {
      const before = highest[place] ?? 0
      if (to <= before) return
      if (before === 0) touched.push(place)
      sums[place] = (sums[place] ?? 0) + to - before
      highest[place] = to
    },
    next() {
      for (const place of touched) highest[place] = 0
      touched.length = 0
    },
  }
}

const absent = -1

const rarity = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5))

const inFewTitles = (shelves: readonly Shelf[], hash: number): boolean => {
  const having = shelves.reduce((sum, { titles }) => sum + (titles.has(hash) ? 1 : 0), 0)
  return having > 0 && having <= Math.max(2, shelves.length * fewTitles)
}

/** The places of the highest scores above 0, the highest first, of equals the earlier. */
export const bestOf = (scores: Float32Array, most: number): readonly number[] => {
  const best: number[] = []
  const scoreAt = (rank: number): number => scores[best[rank] ?? -1] ?? 0
  for (let place = 0; place < scores.length; place++) {
    const score = scores[place] ?? 0
    if (score <= 0 || (best.length === most && score <= scoreAt(most - 1))) continue
    let at = best.length
    while (at > 0 && scoreAt(at - 1) < score) at--
    best.splice(at, 0, place)
    if (best.length > most) best.pop()
  }
  return best
}
