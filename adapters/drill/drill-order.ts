import type { DrillPlan, SceneResult } from '../../plugins/surfaces/admin/drill.ts'

/** The order that a thread plays. */
export interface DrillOrder {
  readonly plan: DrillPlan
  readonly scenes: readonly string[]
}

/** A result from the thread; null behind the last one. */
export type DrillWord = SceneResult | null
