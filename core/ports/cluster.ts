import { one } from '../container.ts'

/** What one process has measured, as the metrics library gives it out. */
export type Measured = readonly object[]

/** Other processes that share this one's port and its callers. */
export interface Siblings {
  /** What each of them has measured. */
  measured(): Promise<readonly Measured[]>
}

export const Siblings = one<Siblings>('Siblings')
