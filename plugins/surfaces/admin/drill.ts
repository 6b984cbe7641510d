import { one } from '../../../core/container.ts'
import type { Settings } from '../../../core/settings.ts'

/**
 * `partial`: right in the main, a side condition missed. `safe`: not delivered, and honestly said so. `fail`: wrong, or
 * silent about a fault.
 */
export const marks = ['pass', 'partial', 'safe', 'fail'] as const
export type Mark = (typeof marks)[number]

/**
 * How the answer ended for the caller: with its end mark, with an error in words, without either, or the caller left.
 */
export type Ending = 'whole' | 'error' | 'broken' | 'left'

/** A scene by its id, and in a few words for people. */
export interface SceneTitle {
  readonly scene: string
  readonly title: string
}

/** A backend of the chain that is drilled. */
export interface DrilledLink {
  /** Links with the lowest number are tried first. */
  readonly priority: number
  /** The share of requests among links of the same priority. */
  readonly weight: number
  /** Whether the backend can go on from a prefix. */
  readonly continues: boolean
}

/** What of a running configuration is drilled. */
export interface DrillPlan extends Pick<Settings, 'timeouts' | 'routing'> {
  /** The backends of one model by their priority; not empty. */
  readonly chain: readonly DrilledLink[]
  /** Whether a broken stream of the model may be rescued. */
  readonly continues: boolean
}

/** What the caller of a scene saw. Times are in ms, and those that the configuration would take. */
export interface CallerSaw {
  /** Null where no answer began, or the caller left. */
  readonly status: number | null
  /** Characters of the answer's text. */
  readonly characters: number
  readonly ending: Ending
  /** Null without a token, or without a stream. */
  readonly firstToken: number | null
  /** Null where the caller left. */
  readonly ms: number | null
}

/** How one scene went, with all that an operator needs to judge the mark. */
export interface SceneResult extends SceneTitle {
  readonly mark: Mark
  /** Why the mark is what it is; empty for nothing to say. */
  readonly note: string
  readonly caller: CallerSaw
  /** Calls of backends. */
  readonly asked: number
}

/** A drill plays faults of backends against a gateway of its own, which shares nothing with the gateway that serves. */
export interface Drill {
  /** In the order in which a whole drill plays them. */
  readonly scenes: readonly SceneTitle[]
  /**
   * Results in the order in which they come. Ends early when the signal fires; then nothing of the drill is left. Throws
   * Unavailable where the drill itself fails.
   */
  play(plan: DrillPlan, scenes: readonly string[], signal: AbortSignal): AsyncIterable<SceneResult>
}

/** A gateway without a drill has a plugin with no scenes, so that its routes stay the same. */
export const Drill = one<Drill>('Drill')
