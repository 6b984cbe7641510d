import { AsyncLocalStorage } from 'node:async_hooks'
import type { BackendProof } from '../../core/ports/backend-evidence.ts'
import type { Usage } from '../../core/ports/upstream.ts'

/** What one call of a model took. */
export interface ModelUse {
  /** As callers name it. */
  readonly model: string
  readonly backend: string
  /** The evidence of this backend; absent when none was required. */
  readonly proven?: BackendProof
  readonly usage: Usage | null
  readonly audioSeconds: number | null
}

/** How many jobs may wait, of all callers and of one organisation. */
export interface QueueLimits {
  readonly all: number
  readonly organization: number
}

/** A piece of work of the enclave: for whom it is done, what it may employ, and what that took. */
export interface Errand {
  readonly organization: string
  readonly key: string
  /** How many of its jobs may wait for their turn. */
  readonly queue: QueueLimits
  /** Models that may work for it; null for all. */
  readonly models: readonly string[] | null
  /** Models that have no room for it now; none when absent. */
  readonly full?: readonly string[]
  /** Models write here what they took. */
  readonly uses: ModelUse[]
}

const open = new AsyncLocalStorage<Errand>()
let errands = 0

/** Runs the work so that everything it calls, however deep within, knows the errand. */
export const runErrand = async <T>(errand: Errand, work: () => Promise<T>): Promise<T> => {
  errands++
  try {
    return await open.run(errand, work)
  } finally {
    // Following an errand slows every promise of the process.
    if (--errands === 0) open.disable()
  }
}

/** The errand that the caller works for; null outside of any. */
export const currentErrand = (): Errand | null => open.getStore() ?? null
