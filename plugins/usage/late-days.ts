import { kind, type MetadataStore } from '../../core/ports/metadata-store.ts'
import type { Clock } from '../../core/ports/platform.ts'
import { dayAfter } from './spans.ts'
import type { SheetRow } from './usage-book.ts'

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

/** A day that is over and has new counts, so that its sums are made anew. */
export interface LateDay {
  readonly organization: string
  readonly day: string
}

/** Marks of late days. Their ids begin with the day, so the oldest day is made anew first. */
export const lates = kind<LateDay>('usage-late')

/** Ms before the end of a day in which a process with a fast clock may already make its sums. */
export const fastMs = 3_600_000

/** Marks rows that are written after their day, or after the day of a process whose clock is fast. */
export const lateDays =
  (rows: MetadataStore, clock: Clock) =>
  async ({ organization, day }: SheetRow, mark: string): Promise<void> => {
    const now = clock.now()
    if (day >= dayOf(now + fastMs)) return
    if (day >= dayOf(now) && !mayBeRead(await foldCursor(rows), day, now)) return
    await rows.create(lates, `${day}/${mark}`, { organization, day })
  }

/** Whether the sums of a day are made, or are being made. */
const mayBeRead = (cursor: Cursor | null, day: string, now: number): boolean =>
  cursor !== null && (cursor.day >= day || (cursor.until > now && cursor.day >= dayAfter(day, -1)))

/** The day of a time, in UTC. */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)
