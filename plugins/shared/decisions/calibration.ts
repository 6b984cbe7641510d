import type { Distribution, Question } from '../../../core/ports/upstream.ts'
import type { AdvisedDistribution } from './advice.ts'
import type { Calibration } from './settings.ts'
import { confidenceOf } from './decision-answer.ts'
import { isRefused } from './probabilities.ts'

/** Probabilities whose logarithms are divided by the temperature. */
export const softened = (probabilities: readonly number[], temperature: number): readonly number[] => {
  const cooled = probabilities.map((odds) => (odds === 0 ? 0 : Math.pow(odds, 1 / temperature)))
  const total = cooled.reduce((sum, odds) => sum + odds, 0)
  return cooled.map((odds) => odds / total)
}

/** Reads were averaged before: the calibration was fitted to answers as callers get them. */
export const calibrated = (
  distributions: readonly Distribution[],
  calibration: Calibration | undefined,
): readonly Distribution[] => {
  if (calibration === undefined) return distributions
  const { temperature, byOptions } = calibration
  return distributions.map((distribution) => ({
    ...distribution,
    probabilities: softened(distribution.probabilities, byOptions[distribution.probabilities.length] ?? temperature),
  }))
}

/** Answers with the advice of their calibration. A calibration without a promise advises to ask. */
export const advised = (
  distributions: readonly Distribution[],
  questions: readonly Question[],
  calibration: Calibration | undefined,
): readonly AdvisedDistribution[] => {
  if (calibration === undefined) return distributions
  const { confidence: least = Infinity } = calibration.promise ?? {}
  return distributions.map((distribution, at) => ({
    ...distribution,
    advice: !isRefused(distribution) && confidenceOf(questions[at]!, distribution) >= least ? 'act' : 'ask',
  }))
}
