import type { Language } from './common-words.ts'
import { isLong, joinsWords } from './compounds.ts'
import { eachWord } from './words.ts'

/** The words of a file by passage. Words are stored as hashes; a collision affects only the rank. */
export type Postings = Readonly<ReturnType<typeof postingsOf>>

/** A part of a passage. Each of its words counts `times` times. */
export interface Field {
  readonly text: string
  readonly times: number
}

/** A passage in the language by which its words are compared. */
export interface Worded {
  readonly fields: readonly Field[]
  readonly language: Language
}

/** Reads each passage once. Typed arrays take a fraction of the memory of objects. */
export const postingsOf = (passages: readonly Worded[]) => {
  const lengths = new Uint16Array(passages.length)
  const found = new Map<number, number[]>()
  const compounds = new Set<string>()
  for (const [row, { fields, language }] of passages.entries()) {
    const joins = joinsWords(language)
    let length = 0
    for (const { text, times } of fields) {
      eachWord(
        text,
        (word, _, __, part) => {
          if (!part) length += times
          if (joins && !part && isLong(word)) compounds.add(word)
          note(found, hashOf(word), row, times)
        },
        language,
      )
    }
    lengths[row] = Math.min(length, 0xffff)
  }
  const words = Uint32Array.from(found.keys()).sort()
  const starts = new Uint32Array(words.length + 1)
  for (const [at, word] of words.entries()) starts[at + 1] = (starts[at] ?? 0) + (found.get(word)?.length ?? 0) / 2
  const rows = new (passages.length > 0xffff ? Uint32Array : Uint16Array)(starts[words.length] ?? 0)
  const counts = new Uint8Array(rows.length)
  for (const [at, word] of words.entries()) {
    const pairs = found.get(word) ?? []
    for (let pair = 0, to = starts[at] ?? 0; pair < pairs.length; pair += 2, to++) {
      rows[to] = pairs[pair] ?? 0
      counts[to] = Math.min(pairs[pair + 1] ?? 0, 0xff)
    }
  }
  const numbers = [lengths, words, starts, rows, counts].reduce((sum, { byteLength }) => sum + byteLength, 0)
  const bytes = numbers + compounds.size * perCompound
  return {
    /** The number of words of each passage, and their sum. */
    lengths,
    length: lengths.reduce((sum, length) => sum + length, 0),
    /** In ascending order. The entries of word `at` go from `starts[at]` to `starts[at + 1]`. */
    words,
    starts,
    /** Passages in ascending order within a word, and the count of the word in each. */
    rows,
    counts,
    /** The long words of languages that join words, as they are compared. */
    compounds,
    bytes,
  }
}

/** In bytes: a string of some 15 letters, and its place in a set and in the vocabulary. */
const perCompound = 110

/** FNV-1a over UTF-16. */
export const hashOf = (word: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/** Pairs of passage and count. Passages come in order, so only the last pair can be of the same one. */
const note = (found: Map<number, number[]>, word: number, row: number, times: number): void => {
  const pairs = found.get(word)
  if (pairs === undefined) found.set(word, [row, times])
  else if (pairs.at(-2) === row) pairs.push((pairs.pop() ?? 0) + times)
  else pairs.push(row, times)
}
