import { one } from './container.ts'

/** Whether the gateway still takes work: readiness turns before the last streams have ended. */
export interface Lifecycle {
  /** Fires when the gateway begins to drain: what could go on for long ends. */
  readonly draining: AbortSignal
  /** How many parts of the start still hold readiness back. */
  held: number
  /** Fires when the gateway closes: what goes on behind the requests ends. */
  readonly closing: AbortSignal
}

export const Lifecycle = one<Lifecycle>('Lifecycle')
