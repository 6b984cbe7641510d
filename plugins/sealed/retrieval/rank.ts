import type { Language } from './common-words.ts'
import type { Postings } from './postings.ts'
import type { Term } from './query.ts'
import type { Passage } from './split.ts'
import { cosines, type Vectors } from './vectors.ts'
import type { Vocabulary } from './vocabulary.ts'

/** One file's passages and their searchable forms. */
export interface IndexedFile {
  readonly fileId: string
  /** The file's number in the vocabulary. */
  readonly number: number
  /** The name of the file; null when the index has no name. */
  readonly title: string | null
  readonly passages: readonly Passage[]
  /** The language of each passage. */
  readonly languages: readonly Language[]
  readonly postings: Postings
  /** Null when the file has no vectors. */
  readonly vectors: Vectors | null
  /** The model that made the vectors; absent when the index names no model. */
  readonly model?: string
}

/** The outcome of a ranking, for the choice and the snippets of results. */
export interface Ranked {
  /** From 0 to 1, for the passages of all files in sequence. */
  readonly scores: Float32Array
  /** The index of each file's first passage. */
  readonly starts: readonly number[]
  /** The weight of each word: a rare word has a high weight. */
  readonly worth: ReadonlyMap<number, number>
}

// Tuned on the tuning half of the benchmark's questions.
/** BM25: the saturation of repeated words, and the penalty for long texts. */
const saturation = 1.2
const lengthWeight = 0.45
const lengthWeightOfFile = 0.3
/** The weight of the whole file's words beside the passage's words. */
const fileWeight = 0.2
/** The weight of a vector beside the words, at the largest distance from the mean. */
const vectorWeight = 0.4
/** In standard deviations over the mean cosine: where a vector begins to count, and the way to full weight. */
const ordinary = 2
const outstanding = 3

/**
 * Ranks passages by the words of the passage and its file (BM25). A vector adds its distance from the mean of all
 * vectors.
 */
export const rank = (
  indexedFiles: readonly IndexedFile[],
  vocabulary: Vocabulary,
  terms: readonly Term[],
  vector: Float32Array | null,
): Ranked => {
  const starts: number[] = []
  let count = 0
  for (const { passages } of indexedFiles) {
    starts.push(count)
    count += passages.length
  }
  const { scores, worth } = byWords(indexedFiles, vocabulary, terms, starts, count)
  const near = vector && byVector(indexedFiles, vector, starts, count)
  return { scores: near ? joined(scores, near) : scores, starts, worth }
}

/** Null when no file has vectors of this size. */
const byVector = (
  indexedFiles: readonly IndexedFile[],
  vector: Float32Array,
  starts: readonly number[],
  count: number,
): Float32Array | null => {
  const near = new Float32Array(count)
  let some = false
  for (const [at, { vectors }] of indexedFiles.entries()) {
    if (vectors?.size !== vector.length) continue
    cosines(vectors, vector, near, starts[at] ?? 0)
    some = true
  }
  return some ? near : null
}

/** Scales the words to their best score, so that words and vectors have the same range. */
const joined = (words: Float32Array, near: Float32Array): Float32Array => {
  const best = words.reduce((most, score) => Math.max(most, score), 0)
  const mean = near.reduce((sum, score) => sum + score, 0) / near.length
  const spread = Math.sqrt(near.reduce((sum, score) => sum + (score - mean) ** 2, 0) / near.length)
  return words.map((score, place) => {
    // Without a spread, the cosine itself counts, as for a single passage.
    const nearness = near[place] ?? 0
    const beyond = spread > 0 ? (nearness - mean) / spread - ordinary : nearness
    const outstands = Math.min(1, Math.max(0, beyond / outstanding))
    return ((best > 0 ? score / best : 0) + vectorWeight * outstands) / (1 + vectorWeight)
  })
}

/** BM25 over passages and files. The sum is divided by the most that these terms could give. */
const byWords = (
  indexedFiles: readonly IndexedFile[],
  vocabulary: Vocabulary,
  terms: readonly Term[],
  starts: readonly number[],
  count: number,
) => {
  const scores = new Float32Array(count)
  const ofFiles = new Float32Array(indexedFiles.length)
  const worth = new Map<number, number>()
  const length = indexedFiles.reduce((sum, { postings }) => sum + postings.length, 0)
  const mean = length / count || 1
  const meanOfFiles = length / indexedFiles.length || 1
  const orders = ordersOf(indexedFiles)
  let most = 0
  for (const { hashes, weight } of terms) {
    const found = occurrencesOf(hashes, vocabulary, indexedFiles, orders)
    const passages = found.reduce((sum, { rows }) => sum + rows.length, 0)
    const value = weight * rarity(passages, count)
    const valueOfFile = fileWeight * weight * rarity(found.length, indexedFiles.length)
    for (const hash of hashes) worth.set(hash, Math.max(worth.get(hash) ?? 0, value))
    most += value + valueOfFile
    for (const { indexedFile, rows, counts } of found) {
      const postings = indexedFiles[indexedFile]?.postings
      if (postings === undefined) continue
      const { lengths, length } = postings
      const start = starts[indexedFile] ?? 0
      let all = 0
      for (let entry = 0; entry < rows.length; entry++) {
        const row = rows[entry] ?? 0
        const times = counts[entry] ?? 0
        all += times
        raise(scores, start + row, value * share(times, (lengths[row] ?? 0) / mean, lengthWeight))
      }
      raise(ofFiles, indexedFile, valueOfFile * share(all, length / meanOfFiles, lengthWeightOfFile))
    }
  }
  for (const [indexedFile, { passages }] of indexedFiles.entries()) {
    const start = starts[indexedFile] ?? 0
    for (let place = start; place < start + passages.length; place++) {
      const score = scores[place] ?? 0
      if (score > 0) scores[place] = (score + (ofFiles[indexedFile] ?? 0)) / most
    }
  }
  return { scores, worth }
}

const raise = (scores: Float32Array, place: number, by: number): void => {
  scores[place] = (scores[place] ?? 0) + by
}

/** From 0 to 1: the part of a word's weight for a text that contains the word `times` times. */
const share = (times: number, length: number, held: number): number =>
  times / (times + saturation * (1 - held + held * length))

/** The passages of a file that have a word, and how often. */
interface Occurrences {
  readonly indexedFile: number
  readonly rows: Uint16Array | Uint32Array
  readonly counts: Uint8Array
}

/** Where a word stands in any of its forms. A passage with two forms has it as often as both. */
const occurrencesOf = (
  hashes: readonly number[],
  vocabulary: Vocabulary,
  indexedFiles: readonly IndexedFile[],
  orders: Int32Array,
): readonly Occurrences[] => {
  const all = hashes.flatMap((hash) => occurrencesIn(vocabulary.standing(hash), indexedFiles, orders))
  if (hashes.length < 2) return all
  const byFile = new Map<number, Occurrences[]>()
  for (const occurrence of all)
    byFile.set(occurrence.indexedFile, [...(byFile.get(occurrence.indexedFile) ?? []), occurrence])
  return [...byFile.values()].map(joinedForms)
}

/** Adds up the forms of one word in a file. */
const joinedForms = (forms: readonly Occurrences[]): Occurrences => {
  const [first] = forms
  if (first !== undefined && forms.length === 1) return first
  const times = new Map<number, number>()
  for (const { rows, counts } of forms)
    for (const [entry, row] of rows.entries()) times.set(row, (times.get(row) ?? 0) + (counts[entry] ?? 0))
  return {
    indexedFile: first?.indexedFile ?? absent,
    rows: Uint32Array.from(times.keys()),
    counts: Uint8Array.from(times.values(), (count) => Math.min(count, 0xff)),
  }
}

const occurrencesIn = (
  places: readonly number[],
  indexedFiles: readonly IndexedFile[],
  orders: Int32Array,
): readonly Occurrences[] => {
  const found: Occurrences[] = []
  for (let at = 0; at < places.length; at += 3) {
    const [number = absent, from = 0, to = 0] = [places[at], places[at + 1], places[at + 2]]
    const indexedFile = orders[number] ?? absent
    const postings = indexedFiles[indexedFile]?.postings
    if (postings === undefined) continue
    found.push({ indexedFile, rows: postings.rows.subarray(from, to), counts: postings.counts.subarray(from, to) })
  }
  return found
}

/** Maps the number of a file to its place in the search. */
const ordersOf = (indexedFiles: readonly IndexedFile[]): Int32Array => {
  const orders = new Int32Array(indexedFiles.reduce((most, { number }) => Math.max(most, number + 1), 0)).fill(absent)
  for (const [at, { number }] of indexedFiles.entries()) orders[number] = at
  return orders
}

/** The place of a file outside of the search. */
const absent = -1

/** The inverse document frequency of BM25; never negative. */
const rarity = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5))

/** The places of the highest scores above 0, best first. Of equal scores, the earlier place comes first. */
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
