import type { Distribution } from '../../../core/ports/upstream.ts'

/** Advises to `act` on an answer that keeps the promised error, and to `ask` a person about any other. */
export type Advice = 'act' | 'ask'

/** An answer of a model with a calibration, ours or that of a gateway behind this one. */
export interface AdvisedDistribution extends Distribution {
  /** Absent without a calibration. */
  readonly advice?: Advice
}
