import { kind, type MetadataStore } from '../../core/ports/metadata-store.ts'

/** How far the sums have come. */
export interface Cursor {
  /** The last day that has sums. */
  readonly day: string
  /** The process that goes on with them, until this time in Unix ms. */
  readonly by: string
  readonly until: number
  /** Of the next reading: sums of a later turn take the place of earlier ones. No two readings share a turn. */
  readonly turn: number
}

export const cursors = kind<Cursor>('usage-fold')
export const cursorId = 'cursor'

/** The cursor as stored; null before the first sums were begun. */
export const foldCursor = (rows: MetadataStore): Promise<Cursor | null> => rows.get(cursors, cursorId)
