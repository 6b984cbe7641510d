import type { Clock } from '../../../core/ports/platform.ts'
import type { Part } from './sample.ts'

/** What one process asks of the others: its listeners' parts, and how many requests a second of each. */
export interface Want {
  /** Of the asking process; the same as long as it runs. */
  readonly from: string
  readonly parts: readonly Part[]
  readonly perSecond: number
}

/** Ms after which a process that asks no more has no listeners any more. */
const leaseMs = 15_000

/** The wants of other processes, as long as they are renewed. */
export const wantsOf = (clock: Clock) => {
  const all = new Map<string, { readonly want: Want; readonly until: number }>()
  return {
    /** A want without parts ends the one before. */
    hear(want: Want): void {
      if (want.parts.length === 0) all.delete(want.from)
      else all.set(want.from, { want, until: clock.now() + leaseMs })
    },
    parts(): ReadonlySet<Part> {
      const now = clock.now()
      for (const [from, { until }] of all) if (until <= now) all.delete(from)
      return new Set([...all.values()].flatMap(({ want }) => want.parts))
    },
    /** The least of what they ask for; infinite when none asks. */
    perSecond: (): number => Math.min(Infinity, ...[...all.values()].map(({ want }) => want.perSecond)),
  }
}
