import type { Test } from 'tap'
import type { Running } from '../environments.ts'
import type { Literal } from '../fakes/literal-client.ts'

export interface Scene {
  readonly it: Running
  readonly client: Literal
}

/** One statement of the interface, and what shows that it holds. */
export type Row<S = Scene> = readonly [statement: string, holds: (t: Test, scene: S) => Promise<void>]
