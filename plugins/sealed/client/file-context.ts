import type { ClearRequests } from './http-request.ts'
import type { Keys } from './keys.ts'
import type { FileMemory } from './memory.ts'
import type { RecordChecks } from './record-checks.ts'

/** The parts that all work with files uses. */
export interface FileContext {
  readonly ask: ClearRequests
  readonly keys: Keys
  readonly memory: FileMemory
  readonly checks: RecordChecks
}
