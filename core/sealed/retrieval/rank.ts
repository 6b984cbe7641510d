import type { Postings } from './postings.ts'
import type { Term } from './query.ts'
import type { Passage } from './split.ts'
import { cosines, type Vectors } from './vectors.ts'
import type { Vocabulary } from './vocabulary.ts'

/** One file's passages, and what is searched of them. */
export interface Shelf {
  readonly fileId: string
  /** As the vocabulary knows it. */
  readonly number: number
  /** The name of the file; null where its index doesn't say it. */
  readonly title: string | null
  readonly passages: readonly Passage[]
  readonly postings: Postings
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

// Found on the half of the bench's questions that is for tuning.
/** BM25: how soon a word that comes again says nothing more, and how much longer texts are held back. */
const saturation = 1.2
const lengthWeight = 0.45
const lengthWeightOfFile = 0.3
/** What the words of the whole file count beside those of the passage. */
const fileWeight = 0.2
/** What a vector may count beside the words, when it stands out as far as vectors do. */
const vectorWeight = 0.4
/** Standard deviations over the mean cosine from which on a passage stands out, and which more are as far as it goes. */
const ordinary = 2
const outstanding = 3

/** Passages by their words and their file's (BM25); where there is a vector, also by how far they stand out among the vectors. */
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
  const { scores, worth } = byWords(shelves, vocabulary, terms, starts, count)
  const near = vector && byVector(shelves, vector, starts, count)
  return { scores: near ? joined(scores, near) : scores, starts, worth }
}

/** Null where no file has vectors of this size. */
const byVector = (
  shelves: readonly Shelf[],
  vector: Float32Array,
  starts: readonly number[],
  count: number,
): Float32Array | null => {
  const near = new Float32Array(count)
  let some = false
  for (const [at, { vectors }] of shelves.entries()) {
    if (vectors?.size !== vector.length) continue
    cosines(vectors, vector, near, starts[at] ?? 0)
    some = true
  }
  return some ? near : null
}

const joined = (words: Float32Array, near: Float32Array): Float32Array => {
  const best = words.reduce((most, score) => Math.max(most, score), 0)
  const mean = near.reduce((sum, it) => sum + it, 0) / near.length
  const spread = Math.sqrt(near.reduce((sum, it) => sum + (it - mean) ** 2, 0) / near.length)
  return words.map((score, place) => {
    // Passages that all mean the same stand out as little as one that stands alone.
    const nearness = near[place] ?? 0
    const beyond = spread > 0 ? (nearness - mean) / spread - ordinary : nearness
    const outstands = Math.min(1, Math.max(0, beyond / outstanding))
    return ((best > 0 ? score / best : 0) + vectorWeight * outstands) / (1 + vectorWeight)
  })
}

const byWords = (
  shelves: readonly Shelf[],
  vocabulary: Vocabulary,
  terms: readonly Term[],
  starts: readonly number[],
  count: number,
) => {
  const scores = new Float32Array(count)
  const ofFiles = new Float32Array(shelves.length)
  const worth = new Map<number, number>()
  const length = shelves.reduce((sum, { postings }) => sum + postings.length, 0)
  const mean = length / count || 1
  const meanOfFiles = length / shelves.length || 1
  const orders = ordersOf(shelves)
  let most = 0
  for (const { hash, weight } of terms) {
    const found = standingsOf(vocabulary.standing(hash), orders)
    const passages = found.reduce((sum, { from, to }) => sum + to - from, 0)
    const value = weight * rarity(passages, count)
    const valueOfFile = fileWeight * weight * rarity(found.length, shelves.length)
    worth.set(hash, value)
    most += value + valueOfFile
    for (const { shelf, from, to } of found) {
      const postings = shelves[shelf]?.postings
      if (postings === undefined) continue
      const { rows, counts, lengths, length } = postings
      const start = starts[shelf] ?? 0
      let all = 0
      for (let entry = from; entry < to; entry++) {
        const row = rows[entry] ?? 0
        const times = counts[entry] ?? 0
        all += times
        raise(scores, start + row, value * share(times, (lengths[row] ?? 0) / mean, lengthWeight))
      }
      raise(ofFiles, shelf, valueOfFile * share(all, length / meanOfFiles, lengthWeightOfFile))
    }
  }
  for (const [shelf, { passages }] of shelves.entries()) {
    const start = starts[shelf] ?? 0
    for (let place = start; place < start + passages.length; place++) {
      const score = scores[place] ?? 0
      if (score > 0) scores[place] = (score + (ofFiles[shelf] ?? 0)) / most
    }
  }
  return { scores, worth }
}

const raise = (scores: Float32Array, place: number, by: number): void => {
  scores[place] = (scores[place] ?? 0) + by
}

/** From 0 to 1: how much of a word's value a text has in which the word stands so many times. */
const share = (times: number, length: number, held: number): number =>
  times / (times + saturation * (1 - held + held * length))

/** A shelf, and where its entries for a word begin and end. */
interface Standing {
  readonly shelf: number
  readonly from: number
  readonly to: number
}

const standingsOf = (places: readonly number[], orders: Int32Array): readonly Standing[] => {
  const found: Standing[] = []
  for (let at = 0; at < places.length; at += 3) {
    const [number = absent, from = 0, to = 0] = [places[at], places[at + 1], places[at + 2]]
    const shelf = orders[number] ?? absent
    if (shelf !== absent) found.push({ shelf, from, to })
  }
  return found
}

/** By the number of a shelf its place among those that are searched. */
const ordersOf = (shelves: readonly Shelf[]): Int32Array => {
  const orders = new Int32Array(shelves.reduce((most, { number }) => Math.max(most, number + 1), 0)).fill(absent)
  for (const [at, { number }] of shelves.entries()) orders[number] = at
  return orders
}

const absent = -1

const rarity = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5))

/** The places of the highest scores above 0, the highest first, of equals the earlier. */
export const bestOf = (scores: Float32Array, most: number): readonly number[] => {
  const best: number[] = []
  const scoreOf = (rank: number): number => scores[best[rank] ?? absent] ?? 0
  for (const [place, score] of scores.entries()) {
    if (score <= 0 || (best.length === most && score <= scoreOf(most - 1))) continue
    let at = best.length
    while (at > 0 && scoreOf(at - 1) < score) at--
    best.splice(at, 0, place)
    if (best.length > most) best.pop()
  }
  return best
}
