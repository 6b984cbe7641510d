import { one } from '../container.ts'

/** The measurements of one process, in the form of the metrics library. */
export type Measured = readonly object[]

/** Other processes that share this process's port and callers. */
export interface Siblings {
  /** The measurements of each process. */
  measured(): Promise<readonly Measured[]>
  /**
   * The answers of the other processes, without those that failed. Values are JSON. Absent where processes share
   * measurements alone.
   */
  ask?(question: string, value: unknown): Promise<readonly unknown[]>
  /** This process answers the question from now on. */
  answer?(question: string, give: (value: unknown) => unknown): void
}

/** A gateway of one process has the plugin `alone`, without siblings. */
export const Siblings = one<Siblings>('Siblings')
