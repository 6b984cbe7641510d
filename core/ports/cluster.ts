import { one } from '../container.ts'

/** The measurements of one process, in the form of the metrics library. */
export type Measured = readonly object[]

/** Other processes that share this process's port and callers. */
export interface Siblings {
  /** The measurements of each process. */
  measured(): Promise<readonly Measured[]>
}

export const Siblings = one<Siblings>('Siblings')
