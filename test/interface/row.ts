import type { Test } from 'tap'
import type { Running } from '../environments.ts'
import type { Literal } from '../fakes/literal-client.ts'
import type { Asked } from '../fakes/recorded.ts'

export interface Scene {
  readonly gateway: Running
  readonly client: Literal
  /** What the backend was asked, in this order. */
  readonly asked: Asked[]
  /** A page that tools may read. */
  readonly page: string
  /** The calls that the slow backend holds back until they are released. */
  readonly held: { waiting(): number; release(): void }
  /** A client of another user, whose key has these scopes alone. */
  scoped(...scopes: readonly string[]): Promise<Literal>
}

/** One statement of the interface, and what shows that it holds. */
export type Row = readonly [statement: string, holds: (t: Test, scene: Scene) => Promise<void>]
