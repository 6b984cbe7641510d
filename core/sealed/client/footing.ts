import type { Ask } from './http-request.ts'
import type { Keys } from './keys.ts'
import type { Memory } from './memory.ts'
import type { Checks } from './proof.ts'

/** What all work with files stands on. */
export interface Footing {
  readonly ask: Ask
  readonly keys: Keys
  readonly memory: Memory
  readonly checks: Checks
}
