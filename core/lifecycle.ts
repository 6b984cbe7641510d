import { one } from './container.ts'

/** Whether the gateway still takes work: readiness turns before the last streams have ended. */
export interface Lifecycle {
  draining: boolean
}

export const Lifecycle = one<Lifecycle>('Lifecycle')
