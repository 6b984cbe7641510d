import type { Passage } from './split.ts'

export interface Placed {
  readonly passage: Passage
  readonly vector: Float32Array | null
}

export interface Found {
  readonly fileId: string
  readonly snippet: string
  readonly score: number
  readonly page: number | null
}

export interface Wanted {
  readonly query: string
  readonly vector: Float32Array | null
  readonly fileIds?: readonly string[]
  readonly most: number
}

export interface Library {
  put(fileId: string, passages: readonly Placed[]): void
  remove(fileId: string): void
  search(wanted: Wanted): readonly Found[]
  readonly size: number
}

export const library = (): Library => {
  const files = new Map<string, readonly Placed[]>()
  return {
    put: (id, passages) => void files.set(id, passages),
    remove: (id) => void files.delete(id),
    search: ({ query, most }) =>
      [...files]
        .flatMap(([fileId, all]) =>
          all
            .filter(({ passage }) => passage.text.toLowerCase().includes(query.toLowerCase()))
            .map(({ passage }) => ({ fileId, snippet: passage.text, score: 1, page: passage.page })),
        )
        .slice(0, most),
    get size() {
      return files.size
    },
  }
}
