import type { Counts } from '../../core/ports/ledger.ts'
import { kind } from '../../core/ports/metadata-store.ts'

/** The counts in the order in which sums list them. Stored sums rest on the order: new ones go to its end. */
export const countNames = [
  'requests',
  'input',
  'output',
  'reasoning',
  'cached',
  'audio_seconds',
  'estimated',
  'unanswered',
  'unpriced',
  'cost_micros',
  'estimated_cost_micros',
] as const satisfies readonly (keyof Counts)[]

/** What a row counts, beside the number of times that a process wrote to it. */
interface CountedRow extends Counts {
  readonly [by: `by:${string}`]: number | null
}

/** What one key used of one model on one day (UTC). */
export interface UsageRow extends CountedRow {
  readonly organization: string
  readonly key: string
  /** Of the key. Absent in rows of 1.0.0. */
  readonly user?: string
  /** Absent for none. */
  readonly team?: string
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly model: string
}

/** Usage of keys. Each index serves one listing: by organisation, by key and by day alone. */
export const usages = kind<UsageRow>('usage', [['organization', 'day'], ['key', 'day'], ['day']])

/** What an organisation used on one day (UTC) of one backend, or under one tag. */
export interface SharedRow extends CountedRow {
  readonly organization: string
  readonly day: string
  readonly by: 'backend' | 'tag'
  readonly name: string
}

/** Their ids begin with the day, the organisation and `by`, so they need no index. */
export const shares = kind<SharedRow>('usage-share')

/** The id of a shared row. The parts stand in the order in which reports narrow their questions. */
export const sharedId = (
  { day, organization, by }: Pick<SharedRow, 'day' | 'organization' | 'by'>,
  place: string,
): string => `${day}/${organization}/${by}/${place}`
