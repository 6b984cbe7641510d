import type { Ask } from './http-request.ts'
import type { Keys } from './keys.ts'
import type { Memory } from './memory.ts'
import type { Checks } from './proof.ts'

/** The parts that all work with files uses. */
export interface Footing {
  readonly ask: Ask
  readonly keys: Keys
  readonly memory: Memory
  readonly checks: Checks
}
