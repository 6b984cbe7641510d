import type { Work } from '../../shared/work-in-turns.ts'
import type { Hit } from '../../../core/ports/tool.ts'
import { commonWords, type Language } from './common-words.ts'
import type { KnownWords } from './compounds.ts'
import { folded } from './fold.ts'
import { hashOf, placeOf, postingsOf } from './postings.ts'
import { termsOf } from './query.ts'
import { bestFirst, rank, type Ranked, type IndexedFile } from './rank.ts'
import { longestSnippet, passageAround, snippetOf } from './snippet.ts'
import type { Passage } from './split.ts'
import { vectorsOf } from './vectors.ts'

/** A passage with its vector, as the index file holds both. */
export interface Placed {
  readonly passage: Passage
  /** The vector of the passage's `embeddedTextOf` text; null when no model made one. */
  readonly vector: Float32Array | null
}

export type Found = Required<Omit<Hit, 'created'>>

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
  put(fileId: string, passages: readonly Placed[], about?: AboutFile): Work<void>
  remove(fileId: string): void
  /** The name of a file; null when the index has no name. */
  titleOf(fileId: string): string | null
  /** Best first. No two results show the same part of a file. */
  search(wanted: Wanted): Work<readonly Found[]>
  /** The files searchable by words only, because another model made their vectors. */
  outdated(wanted: Pick<Wanted, 'vector' | 'model' | 'fileIds'>): readonly string[]
  /** Approximately, in bytes. */
  readonly size: number
}

/** An empty index. It holds plaintext, so it lives inside the enclave alone. */
export const searchIndex = (): SearchIndex => {
  const indexedFiles = new Map<string, IndexedFile>()
  let size = 0
  const remove = (fileId: string) => {
    size -= indexedFiles.get(fileId)?.bytes ?? 0
    indexedFiles.delete(fileId)
  }
  const named = (fileIds: readonly string[] = [...indexedFiles.keys()]): readonly IndexedFile[] =>
    [...new Set(fileIds)].sort().flatMap((fileId) => indexedFiles.get(fileId) ?? [])
  return {
    *put(fileId, placed, about = {}) {
      const indexedFile = yield* indexedFileOf(fileId, placed, about)
      remove(fileId)
      size += indexedFile.bytes
      indexedFiles.set(fileId, indexedFile)
    },
    remove,
    titleOf: (fileId) => indexedFiles.get(fileId)?.title ?? null,
    *search({ query, vector, model, fileIds, most, characters = longestSnippet }) {
      const meant = named(fileIds).map((indexedFile) =>
        vector && !isOf(indexedFile, vector, model) ? { ...indexedFile, vectors: null } : indexedFile,
      )
      const languages = languagesFor(query, new Set(meant.flatMap((indexedFile) => indexedFile.languages)))
      const terms = yield* termsOf(query, languages, knownIn(meant))
      return yield* shown(meant, yield* rank(meant, terms, vector), { most, characters })
    },
    outdated: ({ vector, model, fileIds }) =>
      vector === null
        ? []
        : named(fileIds)
            .filter((indexedFile) => indexedFile.passages.length > 0 && !isOf(indexedFile, vector, model))
            .map(({ fileId }) => fileId),
    get size() {
      return size
    },
  }
}

/** The words of some files. */
const knownIn = (indexedFiles: readonly IndexedFile[]): KnownWords => ({
  compounds: {
    *[Symbol.iterator]() {
      for (const { postings } of indexedFiles) yield* postings.compounds
    },
  },
  knows(word) {
    const hash = hashOf(word)
    return indexedFiles.some(({ postings }) => placeOf(postings, hash) >= 0)
  },
})

/** An index of version 1.0.0 names no model: only the length of its vectors is compared. */
const isOf = ({ vectors, model: own }: IndexedFile, vector: Float32Array, model: string | null | undefined): boolean =>
  vectors?.size === vector.length && (own === undefined || model == null || own === model)

/** The weight of a word in the heading of a passage or in the name of its file. */
const timesInHeading = 3

function* indexedFileOf(fileId: string, placed: readonly Placed[], { model, title }: AboutFile): Work<IndexedFile> {
  const passages = placed.map(({ passage }) => passage)
  const languages = yield* languagesOf(passages.map(({ text }) => text))
  // An index of version 1.0.0 has no file name: its first heading stands over the whole file.
  const over = title ?? passages[0]?.heading ?? ''
  const worded = passages.map(({ text, heading }, row) => ({
    fields: [
      { text, times: 1 },
      ...[heading ?? '', heading === over ? '' : over].map((text) => ({ text, times: timesInHeading })),
    ],
    language: languages[row] ?? 'en',
  }))
  const postings = yield* postingsOf(worded)
  const vectors = yield* vectorsOf(placed.map(({ vector }) => vector))
  const held = { title: title ?? null, passages, languages, postings, vectors, ...(model && { model }) }
  return { fileId, ...held, bytes: sizeOf(held) }
}

/** Nanoseconds for a hit: the longest snippet takes the longest. */
const hitNs = 1_000_000

/** Takes places best first, and shows a stretch of a file once. */
function* shown(
  indexedFiles: readonly IndexedFile[],
  { scores, starts, worth }: Ranked,
  { most, characters }: { readonly most: number; readonly characters: number },
): Work<readonly Found[]> {
  const taken = new Set<number>()
  const found: Found[] = []
  for (const place of bestFirst(scores)) {
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
    yield hitNs
  }
  return found
}

/** Approximately, in bytes. */
const sizeOf = ({ passages, postings, vectors }: Omit<IndexedFile, 'fileId' | 'bytes'>): number =>
  passages.reduce((sum, { text, heading }) => sum + textSize(text) + textSize(heading ?? '') + perPassage, 0) +
  postings.bytes +
  (vectors === null ? 0 : vectors.values.byteLength + vectors.scales.byteLength)

/** An object and the headers of its strings. */
const perPassage = 96

/** In bytes: a string needs two for each character once one is outside of Latin-1. */
const textSize = (text: string): number => (/[^\0-\xff]/.test(text) ? text.length * 2 : text.length)

/** In characters: the part of a text that tells its language. */
const read = 600

/** How many common words of a language a text has: as one of several, as all that there is, and as a share. */
const fewest = 4
const fewestOfAll = 2
const leastShare = 0.12

/** Nanoseconds to tell the language of a text. */
const languageNs = 30_000

/** The lead over the next language, as a factor. */
const lead = 1.3

/** The language of a text by its commonest words, each of which counts once; null when they leave it open. */
export const languageOf = (text: string, least = fewest): Language | null => {
  const counts = new Map<Language, number>()
  const words = new Set(Array.from(text.slice(0, read).matchAll(/[\p{L}\p{M}]+/gu), ([word]) => folded(word)))
  for (const word of words)
    for (const language of speakers.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1)
  const [first, second] = [...counts].sort(([, one], [, other]) => other - one)
  if (first === undefined || first[1] < Math.max(least, words.size * leastShare)) return null
  return first[1] >= lead * (second?.[1] ?? 0) ? first[0] : null
}

/** The language of each text of a file. A text that leaves it open has the language of most others. */
export function* languagesOf(texts: readonly string[]): Work<readonly Language[]> {
  const own: (Language | null)[] = []
  for (const text of texts) {
    own.push(languageOf(text))
    yield languageNs
  }
  const counts = new Map<Language, number>()
  for (const language of own) if (language !== null) counts.set(language, (counts.get(language) ?? 0) + 1)
  const [most] = [...counts].sort(([, one], [, other]) => other - one)
  const usual = most?.[0] ?? languageOf(texts.join('\n').slice(0, read), fewestOfAll) ?? 'en'
  return own.map((language) => language ?? usual)
}

/** The languages that a question is asked in, of those of the searched texts: its own and English, or all. */
const languagesFor = (query: string, languages: ReadonlySet<Language>): ReadonlySet<Language> => {
  const own = languageOf(query, fewestOfAll)
  const some = [...languages].filter((language) => language === own || language === 'en')
  return own !== null && languages.has(own) ? new Set(some) : languages
}

/** The languages of each common word; several languages share some words. */
const speakers = new Map<string, Language[]>()
for (const [language, words] of Object.entries(commonWords) as [Language, ReadonlySet<string>][])
  for (const word of words) speakers.set(word, [...(speakers.get(word) ?? []), language])
