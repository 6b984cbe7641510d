import type { Work } from '../../shared/work-in-turns.ts'
import type { Language } from './common-words.ts'
import { type Postings, placeOf } from './postings.ts'
import type { Term } from './query.ts'
import type { Passage } from './split.ts'
import { cosines, type Vectors } from './vectors.ts'

/** One file's passages and their searchable forms. */
export interface IndexedFile {
  readonly fileId: string
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
  /** Approximately. */
  readonly bytes: number
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

/** Nanoseconds to look for a word in a file, and for a passage that has it. */
const [lookNs, entryNs] = [200, 20]

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
export function* rank(
  indexedFiles: readonly IndexedFile[],
  terms: readonly Term[],
  vector: Float32Array | null,
): Work<Ranked> {
  const starts: number[] = []
  let count = 0
  for (const { passages } of indexedFiles) {
    starts.push(count)
    count += passages.length
  }
  const { scores, worth } = yield* byWords(indexedFiles, terms, starts, count)
  const near = vector && (yield* byVector(indexedFiles, vector, starts, count))
  return { scores: near ? joined(scores, near) : scores, starts, worth }
}

/** Null when no file has vectors of this size. */
function* byVector(
  indexedFiles: readonly IndexedFile[],
  vector: Float32Array,
  starts: readonly number[],
  count: number,
): Work<Float32Array | null> {
  const near = new Float32Array(count)
  let some = false
  for (const [at, { vectors }] of indexedFiles.entries()) {
    if (vectors?.size !== vector.length) continue
    cosines(vectors, vector, near, starts[at] ?? 0)
    some = true
    yield vectors.values.length
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
function* byWords(
  indexedFiles: readonly IndexedFile[],
  terms: readonly Term[],
  starts: readonly number[],
  count: number,
): Work<Pick<Ranked, 'scores' | 'worth'>> {
  const scores = new Float32Array(count)
  const ofFiles = new Float32Array(indexedFiles.length)
  const worth = new Map<number, number>()
  const length = indexedFiles.reduce((sum, { postings }) => sum + postings.length, 0)
  const mean = length / count || 1
  const meanOfFiles = length / indexedFiles.length || 1
  let most = 0
  for (const { hashes, weight } of terms) {
    const found = occurrencesOf(hashes, indexedFiles)
    const passages = found.reduce((sum, { rows }) => sum + rows.length, 0)
    const value = weight * rarity(passages, count)
    const valueOfFile = fileWeight * weight * rarity(found.length, indexedFiles.length)
    for (const hash of hashes) worth.set(hash, Math.max(worth.get(hash) ?? 0, value))
    most += value + valueOfFile
    yield indexedFiles.length * hashes.length * lookNs + passages * entryNs
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
const occurrencesOf = (hashes: readonly number[], indexedFiles: readonly IndexedFile[]): readonly Occurrences[] => {
  const found: Occurrences[] = []
  for (const [indexedFile, { postings }] of indexedFiles.entries()) {
    let forms: Occurrences[] | null = null
    for (const hash of hashes) {
      const place = placeOf(postings, hash)
      if (place < 0) continue
      const [from, to] = [postings.starts[place], postings.starts[place + 1]]
      const form = { indexedFile, rows: postings.rows.subarray(from, to), counts: postings.counts.subarray(from, to) }
      if (forms === null) forms = [form]
      else forms.push(form)
    }
    if (forms !== null) found.push(joinedForms(forms))
  }
  return found
}

/** Adds up the forms of one word in a file. */
const joinedForms = (forms: readonly Occurrences[]): Occurrences => {
  const [first] = forms
  if (first !== undefined && forms.length === 1) return first
  const times = new Map<number, number>()
  for (const { rows, counts } of forms)
    for (const [entry, row] of rows.entries()) times.set(row, (times.get(row) ?? 0) + (counts[entry] ?? 0))
  return {
    indexedFile: first?.indexedFile ?? -1,
    rows: Uint32Array.from(times.keys()),
    counts: Uint8Array.from(times.values(), (count) => Math.min(count, 0xff)),
  }
}

/** The inverse document frequency of BM25; never negative. */
const rarity = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5))

/** The places of scores above 0, best first. Of equal scores, the earlier place comes first. */
export function* bestFirst(scores: Float32Array): Generator<number> {
  const places = new Uint32Array(scores.length)
  let many = 0
  for (let place = 0; place < scores.length; place++) if ((scores[place] ?? 0) > 0) places[many++] = place
  const heap = places.subarray(0, many)
  const isBefore = (one: number, other: number): boolean => {
    const lead = (scores[one] ?? 0) - (scores[other] ?? 0)
    return lead > 0 || (lead === 0 && one < other)
  }
  const sink = (from: number, size: number): void => {
    const place = heap[from] ?? 0
    let at = from
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && isBefore(heap[child + 1] ?? 0, heap[child] ?? 0)) child++
      if (isBefore(place, heap[child] ?? 0)) break
      heap[at] = heap[child] ?? 0
      at = child
    }
    heap[at] = place
  }
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(at, heap.length)
  for (let size = heap.length; size > 0; size--) {
    yield heap[0] ?? 0
    heap[0] = heap[size - 1] ?? 0
    sink(0, size - 1)
  }
}
