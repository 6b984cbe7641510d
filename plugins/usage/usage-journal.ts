import { one } from '../../core/container.ts'

/** The lines of a process that counts usage, in their order. */
export interface Journal {
  /** Whole lines, each with its end, outlive the process from now on. The power may take their end. Throws the system's error. */
  append(lines: string): void
  /** Puts these lines in the place of all lines, in one step. Throws the system's error. */
  replace(lines: readonly string[]): void
  /** Shows that the process lives. False when another process has taken the journal meanwhile. */
  beat(): boolean
  /** Removes the journal with its lines. */
  remove(): void
}

/** A journal of a process that ended before its counts were written. */
export interface TakenJournal {
  readonly journal: Journal
  readonly lines: readonly string[]
}

/** Keeps what a killed process had not yet written to the store. */
export interface UsageJournal {
  /** Whether journals outlive their process. */
  readonly lasting: boolean
  /** A journal of this process; null where nothing outlives it. Throws the system's error. */
  open(): Journal | null
  /** Takes the journal of a process that is gone, so that no other process takes it; null when there is none. */
  take(): TakenJournal | null
}

export const UsageJournal = one<UsageJournal>('UsageJournal')
