import type { Work } from '../../shared/work-in-turns.ts'
import type { Language } from './common-words.ts'
import { isLong, joinsWords } from './compounds.ts'
import { eachWord } from './words.ts'

/** The words of a file by passage. Words are stored as hashes; a collision affects only the rank. */
export interface Postings {
  /** The number of words of each passage, and their sum. */
  readonly lengths: Uint16Array
  readonly length: number
  /** In ascending order. The entries of word `at` go from `starts[at]` to `starts[at + 1]`. */
  readonly words: Uint32Array
  readonly starts: Uint32Array
  /** Passages in ascending order within a word, and the count of the word in each. */
  readonly rows: Uint16Array | Uint32Array
  readonly counts: Uint8Array
  /** The long words of languages that join words, as they are compared. */
  readonly compounds: ReadonlySet<string>
  /** Approximately, in bytes. */
  readonly bytes: number
}

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

/** Nanoseconds for a character and a word that are read, and for one step of the order of an entry. */
const [characterNs, wordNs, orderNs] = [100, 800, 20]
/** Entries between two looks at the time. */
const atOnce = 16_384

/** Reads each passage once. Typed arrays take a fraction of the memory of objects. */
export function* postingsOf(passages: readonly Worded[]): Work<Postings> {
  const lengths = new Uint16Array(passages.length)
  const compounds = new Set<string>()
  const entries = entriesOf()
  for (const [row, { fields, language }] of passages.entries()) {
    const joins = joinsWords(language)
    const found = new Map<number, number>()
    let [length, ns] = [0, 0]
    for (const { text, times } of fields) {
      ns += text.length * characterNs
      eachWord(
        text,
        (word, _, __, part) => {
          ns += wordNs
          if (!part) length += times
          if (joins && !part && isLong(word)) compounds.add(word)
          const hash = hashOf(word)
          found.set(hash, (found.get(hash) ?? 0) + times)
        },
        language,
      )
    }
    lengths[row] = Math.min(length, 0xffff)
    entries.add(row, found)
    yield ns
  }
  const length = lengths.reduce((sum, length) => sum + length, 0)
  const grouped = yield* entries.grouped(passages.length > 0xffff)
  const bytes = lengths.byteLength + grouped.bytes + compounds.size * perCompound
  return { lengths, length, compounds, ...grouped, bytes }
}

/** The words of passages as they come: a word beside the row of its passage and, in eight bits, its count there. */
const entriesOf = () => {
  let size = 0
  let [words, places] = [new Uint32Array(64), new Uint32Array(64)]
  return {
    add(row: number, counts: ReadonlyMap<number, number>): void {
      if (size + counts.size > words.length) {
        const [olderWords, olderPlaces] = [words, places]
        ;[words, places] = [new Uint32Array(2 * (size + counts.size)), new Uint32Array(2 * (size + counts.size))]
        words.set(olderWords)
        places.set(olderPlaces)
      }
      for (const [word, times] of counts) {
        words[size] = word
        places[size++] = row * 256 + Math.min(times, 0xff)
      }
    },
    *grouped(isLarge: boolean) {
      const order = yield* orderOf(words.subarray(0, size))
      const rows = new (isLarge ? Uint32Array : Uint16Array)(size)
      const counts = new Uint8Array(size)
      let [many, last] = [0, -1]
      for (const [to, at] of order.entries()) {
        if (words[at] !== last) many++
        last = words[at] ?? 0
        if (to % atOnce === atOnce - 1) yield atOnce * orderNs
      }
      const [distinct, starts] = [new Uint32Array(many), new Uint32Array(many + 1)]
      ;[many, last] = [0, -1]
      for (const [to, at] of order.entries()) {
        const [word, place] = [words[at] ?? 0, places[at] ?? 0]
        if (word !== last) {
          starts[many] = to
          distinct[many++] = last = word
        }
        rows[to] = place >>> 8
        counts[to] = place & 0xff
        if (to % atOnce === atOnce - 1) yield atOnce * orderNs
      }
      starts[many] = size
      const own = { words: distinct, starts, rows, counts }
      return { ...own, bytes: Object.values(own).reduce((sum, { byteLength }) => sum + byteLength, 0) }
    },
  }
}

/** The places of words in ascending order, digit by digit. Equal words stay in the order in which they came. */
function* orderOf(words: Uint32Array): Work<Uint32Array> {
  let order = new Uint32Array(words.length)
  for (let at = 0; at < order.length; at++) order[at] = at
  for (let shift = 0; shift < 32; shift += 8) {
    const starts = new Uint32Array(257)
    const next = new Uint32Array(words.length)
    for (const [at, word] of words.entries()) {
      const digit = (word >>> shift) & 0xff
      starts[digit + 1] = (starts[digit + 1] ?? 0) + 1
      if (at % atOnce === atOnce - 1) yield atOnce * orderNs
    }
    for (let digit = 1; digit < 257; digit++) starts[digit] = (starts[digit] ?? 0) + (starts[digit - 1] ?? 0)
    for (const [at, place] of order.entries()) {
      const digit = ((words[place] ?? 0) >>> shift) & 0xff
      const to = starts[digit] ?? 0
      next[to] = place
      starts[digit] = to + 1
      if (at % atOnce === atOnce - 1) yield atOnce * orderNs
    }
    order = next
  }
  return order
}

/** The place of a word among those of a file; -1 where the file does not have it. */
export const placeOf = ({ words }: Postings, word: number): number => {
  let [low, high] = [0, words.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((words[middle] ?? 0) < word) low = middle + 1
    else high = middle
  }
  return words[low] === word ? low : -1
}

/** In bytes: a string of some 15 letters, and its place in a set. */
const perCompound = 70

/** FNV-1a over UTF-16. */
export const hashOf = (word: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
