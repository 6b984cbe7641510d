import type { Thesaurus } from './synonyms.ts'
import { hashOf, postingsOf } from './postings.ts'
import { termsOf } from './query.ts'
import { bestOf, rank, type Ranked, type Shelf } from './rank.ts'
import { around, snippetOf } from './snippet.ts'
import { type Passage, readingOf } from './split.ts'
import { vectorsOf } from './vectors.ts'
import { vocabulary } from './vocabulary.ts'

export interface Placed {
  readonly passage: Passage
  /** What `readingOf` the passage means; null where no model was there to say it. */
  readonly vector: Float32Array | null
}

export interface Found {
  readonly fileId: string
  readonly snippet: string
  /** From 0 to 1; for one query higher is better. */
  readonly score: number
  readonly page: number | null
}

export interface Wanted {
  readonly query: string
  /** The middle of what is `soughtIn` the query; null to go by words alone. */
  readonly vector: Float32Array | null
  /** The name of the model that made the vector; absent where its name says nothing. */
  readonly model?: string | null
  /** Null to look up the words of the query alone. */
  readonly thesaurus: Thesaurus | null
  /** All files when absent. */
  readonly fileIds?: readonly string[]
  readonly most: number
}

/** Passages in memory, to be searched by words and meaning. The same contents give the same answer, in whatever order they came. */
export interface Library {
  /** All passages of a file, in their order, and the model of their vectors; replaces what there was of it. */
  put(fileId: string, passages: readonly Placed[], model?: string | null): void
  remove(fileId: string): void
  has(fileId: string): boolean
  /** The best first; no two show the same stretch of a file. */
  search(wanted: Wanted): readonly Found[]
  /** The files whose words alone can be searched, because their vectors are not of the model that made the query's. */
  outdated(wanted: Pick<Wanted, 'vector' | 'model' | 'fileIds'>): readonly string[]
  /** Bytes that are held, nearly. */
  readonly size: number
}

export const library = (): Library => {
  const shelves = new Map<string, Shelf>()
  const words = vocabulary()
  let numbered = 0
  const remove = (fileId: string) => {
    const shelf = shelves.get(fileId)
    if (shelf === undefined) return
    shelves.delete(fileId)
    words.drop(shelf.number, shelf.postings)
  }
  const named = (fileIds: readonly string[] = [...shelves.keys()]): readonly Shelf[] =>
    [...new Set(fileIds)].sort().flatMap((fileId) => shelves.get(fileId) ?? [])
  return {
    put(fileId, placed, model) {
      remove(fileId)
      const shelf = { ...shelfOf(fileId, numbered++, placed), ...(model && { model }) }
      shelves.set(fileId, shelf)
      words.add(shelf.number, shelf.postings)
    },
    remove,
    has: (fileId) => shelves.has(fileId),
    search({ query, vector, model, thesaurus, fileIds, most }) {
      const meant = named(fileIds).map((shelf) =>
        vector && !isOf(shelf, vector, model) ? { ...shelf, vectors: null } : shelf,
      )
      const ranked = rank(meant, words, termsOf(query, thesaurus), vector)
      // Most of those that are near a better one are shown with it.
      for (let count = most * 4; ; count *= 4) {
        const found = shown(meant, ranked, bestOf(ranked.scores, count), most)
        if (found.length === most || count >= ranked.scores.length) return found
      }
    },
    outdated: ({ vector, model, fileIds }) =>
      vector === null
        ? []
        : named(fileIds)
            .filter((shelf) => shelf.passages.length > 0 && !isOf(shelf, vector, model))
            .map(({ fileId }) => fileId),
    get size() {
      return [...shelves.values()].reduce((sum, shelf) => sum + sizeOf(shelf), words.size)
    },
  }
}

/** An index of version 1.0.0 doesn't name its model: the length of its vectors must tell. */
const isOf = ({ vectors, model: own }: Shelf, vector: Float32Array, model: string | null | undefined): boolean =>
  vectors?.size === vector.length && (own === undefined || model == null || own === model)

const shelfOf = (fileId: string, number: number, placed: readonly Placed[]): Shelf => {
  const passages = placed.map(({ passage }) => passage)
  // What a file is called stands over all of it.
  const title = passages[0]?.heading ?? ''
  const texts = passages.map((it) => (it.heading === title ? readingOf(it) : `${title}\n${readingOf(it)}`))
  return {
    fileId,
    number,
    passages,
    postings: postingsOf(texts),
    titles: new Set(postingsOf([title]).words),
    vectors: vectorsOf(placed.map(({ vector }) => vector)),
  }
}

const shown = (
  shelves: readonly Shelf[],
  { scores, starts, worth }: Ranked,
  places: readonly number[],
  most: number,
): readonly Found[] => {
  const taken = new Set<number>()
  const found: Found[] = []
  for (const place of places) {
    if (found.length === most) break
    if (taken.has(place)) continue
    const at = starts.findLastIndex((start) => start <= place)
    const [start, shelf] = [starts[at], shelves[at]]
    if (start === undefined || shelf === undefined) continue
    const { fileId, passages } = shelf
    const stretch = around(passages, place - start, (row) =>
      taken.has(start + row) ? null : (scores[start + row] ?? 0),
    )
    for (let row = stretch.first; row <= stretch.last; row++) taken.add(start + row)
    const snippet = snippetOf(stretch.text, (word) => worth.get(hashOf(word)) ?? 0)
    found.push({ fileId, snippet, score: scores[place] ?? 0, page: passages[place - start]?.page ?? null })
  }
  return found
}

const sizeOf = ({ passages, postings, vectors, titles }: Shelf): number =>
  passages.reduce((sum, { text, heading }) => sum + textSize(text) + textSize(heading ?? '') + perPassage, 0) +
  postings.bytes +
  titles.size * 32 +
  (vectors === null ? 0 : vectors.values.byteLength + vectors.scales.byteLength)

/** An object and the heads of its strings. */
const perPassage = 96

const textSize = (text: string): number => (/[^\0-\xff]/.test(text) ? text.length * 2 : text.length)
