import { kind, type MetadataStore } from '../../core/ports/metadata-store.ts'
import type { Clock } from '../../core/ports/platform.ts'
import type { SheetRow } from './usage-book.ts'

/** A day that is over and has new counts, so that its sums are made anew. */
export interface LateDay {
  readonly organization: string
  readonly day: string
}

/** Marks of late days. Their ids begin with the day, so the oldest day is made anew first. */
export const lates = kind<LateDay>('usage-late')

/** Marks rows that are written after their day. */
export const lateDays =
  (rows: MetadataStore, clock: Clock) =>
  async ({ organization, day }: SheetRow, mark: string): Promise<void> => {
    if (day >= dayOf(clock.now())) return
    await rows.create(lates, `${day}/${mark}`, { organization, day })
  }

/** The day of a time, in UTC. */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)
