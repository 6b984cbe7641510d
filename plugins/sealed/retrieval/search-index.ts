import { languagesFor, languagesOf } from './languages.ts'
import { hashOf, postingsOf } from './postings.ts'
import { termsOf } from './query.ts'
import { bestOf, rank, type Ranked, type IndexedFile } from './rank.ts'
import { longestSnippet, passageAround, snippetOf } from './snippet.ts'
import type { Passage } from './split.ts'
import { vectorsOf } from './vectors.ts'
import { vocabulary } from './vocabulary.ts'

/** A passage with its vector, as the index file holds both. */
export interface Placed {
  readonly passage: Passage
  /** The vector of the passage's `embeddedTextOf` text; null when no model made one. */
  readonly vector: Float32Array | null
}

export interface Found {
  readonly fileId: string
  readonly snippet: string
  /** From 0 to 1; within one query, higher is better. */
  readonly score: number
  readonly page: number | null
  /** The heading over the passage. */
  readonly heading: string | null
  /** The name of the file; null when the index has no name. */
  readonly title: string | null
}

/** The facts of an index beside its passages. */
export interface AboutFile {
  /** The model that made the vectors. */
  readonly model?: string | null
  readonly title?: string | null
}

export interface Wanted {
  readonly query: string
  /** The vector of the query; null to search by words only. */
  readonly vector: Float32Array | null
  /** The model that made the vector; absent when the name is unknown. */
  readonly model?: string | null
  /** Absent means all files. */
  readonly fileIds?: readonly string[]
  readonly most: number
  /** In characters: the longest snippet. A longer snippet than usual shows the passages around a hit too. */
  readonly characters?: number
}

/** Passages in memory, searched by words and vectors. The order of insertion does not change the results. */
export interface SearchIndex {
  /** Stores all passages of a file in order and replaces earlier ones. */
  put(fileId: string, passages: readonly Placed[], about?: AboutFile): void
  remove(fileId: string): void
  has(fileId: string): boolean
  /** The name of a file; null when the index has no name. */
  titleOf(fileId: string): string | null
  /** Best first. No two results show the same part of a file. */
  search(wanted: Wanted): readonly Found[]
  /** The files searchable by words only, because another model made their vectors. */
  outdated(wanted: Pick<Wanted, 'vector' | 'model' | 'fileIds'>): readonly string[]
  /** Approximately, in bytes. */
  readonly size: number
}

/** An empty index. It holds plaintext, so it lives inside the enclave alone. */
export const searchIndex = (): SearchIndex => {
  const indexedFiles = new Map<string, IndexedFile>()
  const words = vocabulary()
  let numbered = 0
  const remove = (fileId: string) => {
    const indexedFile = indexedFiles.get(fileId)
    if (indexedFile === undefined) return
    indexedFiles.delete(fileId)
    words.drop(indexedFile.number, indexedFile.postings)
  }
  const named = (fileIds: readonly string[] = [...indexedFiles.keys()]): readonly IndexedFile[] =>
    [...new Set(fileIds)].sort().flatMap((fileId) => indexedFiles.get(fileId) ?? [])
  return {
    put(fileId, placed, about = {}) {
      remove(fileId)
      const indexedFile = shelfOf(fileId, numbered++, placed, about)
      indexedFiles.set(fileId, indexedFile)
      words.add(indexedFile.number, indexedFile.postings)
    },
    remove,
    has: (fileId) => indexedFiles.has(fileId),
    titleOf: (fileId) => indexedFiles.get(fileId)?.title ?? null,
    search({ query, vector, model, fileIds, most, characters = longestSnippet }) {
      const meant = named(fileIds).map((indexedFile) =>
        vector && !isOf(indexedFile, vector, model) ? { ...indexedFile, vectors: null } : indexedFile,
      )
      const languages = languagesFor(query, new Set(meant.flatMap((indexedFile) => indexedFile.languages)))
      const ranked = rank(meant, words, termsOf(query, languages, words), vector)
      // Many good passages are shown together with a better neighbour, so more candidates are taken.
      for (let count = most * 4; ; count *= 4) {
        const found = shown(meant, ranked, bestOf(ranked.scores, count), { most, characters })
        if (found.length === most || count >= ranked.scores.length) return found
      }
    },
    outdated: ({ vector, model, fileIds }) =>
      vector === null
        ? []
        : named(fileIds)
            .filter((indexedFile) => indexedFile.passages.length > 0 && !isOf(indexedFile, vector, model))
            .map(({ fileId }) => fileId),
    get size() {
      return [...indexedFiles.values()].reduce((sum, indexedFile) => sum + sizeOf(indexedFile), words.size)
    },
  }
}

/** An index of version 1.0.0 names no model: only the length of its vectors is compared. */
const isOf = ({ vectors, model: own }: IndexedFile, vector: Float32Array, model: string | null | undefined): boolean =>
  vectors?.size === vector.length && (own === undefined || model == null || own === model)

/** The weight of a word in the heading of a passage or in the name of its file. */
const timesInHeading = 3

const shelfOf = (
  fileId: string,
  number: number,
  placed: readonly Placed[],
  { model, title }: AboutFile,
): IndexedFile => {
  const passages = placed.map(({ passage }) => passage)
  const languages = languagesOf(passages.map(({ text }) => text))
  // An index of version 1.0.0 has no file name: its first heading stands over the whole file.
  const over = title ?? passages[0]?.heading ?? ''
  const worded = passages.map(({ text, heading }, row) => ({
    fields: [
      { text, times: 1 },
      ...[heading ?? '', heading === over ? '' : over].map((text) => ({ text, times: timesInHeading })),
    ],
    language: languages[row] ?? 'en',
  }))
  return {
    fileId,
    number,
    title: title ?? null,
    passages,
    languages,
    postings: postingsOf(worded),
    vectors: vectorsOf(placed.map(({ vector }) => vector)),
    ...(model && { model }),
  }
}

/** Takes places best first, and shows a stretch of a file once. */
const shown = (
  indexedFiles: readonly IndexedFile[],
  { scores, starts, worth }: Ranked,
  places: readonly number[],
  { most, characters }: { readonly most: number; readonly characters: number },
): readonly Found[] => {
  const taken = new Set<number>()
  const found: Found[] = []
  for (const place of places) {
    if (found.length === most) break
    if (taken.has(place)) continue
    const at = starts.findLastIndex((start) => start <= place)
    const start = starts[at]!
    const { fileId, title, passages, languages } = indexedFiles[at]!
    const row = place - start
    const scoreOf = (row: number) => (taken.has(start + row) ? null : (scores[start + row] ?? 0))
    const stretch = passageAround(passages, row, scoreOf, characters)
    for (let row = stretch.first; row <= stretch.last; row++) taken.add(start + row)
    const worthOf = (word: string) => worth.get(hashOf(word)) ?? 0
    const snippet = snippetOf(stretch.text, worthOf, characters, languages[row])
    const { page, heading } = passages[row]!
    found.push({ fileId, title, heading, snippet, score: scores[place] ?? 0, page })
  }
  return found
}

/** Approximately, in bytes. */
const sizeOf = ({ passages, postings, vectors }: IndexedFile): number =>
  passages.reduce((sum, { text, heading }) => sum + textSize(text) + textSize(heading ?? '') + perPassage, 0) +
  postings.bytes +
  (vectors === null ? 0 : vectors.values.byteLength + vectors.scales.byteLength)

/** An object and the headers of its strings. */
const perPassage = 96

/** In bytes: a string needs two for each character once one is outside of Latin-1. */
const textSize = (text: string): number => (/[^\0-\xff]/.test(text) ? text.length * 2 : text.length)
