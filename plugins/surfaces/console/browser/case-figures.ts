import { randomHalves, seededFractions } from './chance.ts'
import { decisionCost, isEscalated, opinionOf } from './decision-answers.ts'
import type { CaseRun } from './case-run.ts'
import type { DraftQuestion } from './decision-draft.ts'
import { type Figures, figuresOf, isRight } from './figures.ts'
import type { Listed } from './sight.ts'
import { type KeptPromise, type ScoredAnswer, thresholdFor } from './promise.ts'

/** How surely a threshold keeps what it promises. */
export const certainty = 0.95

/** The same cases are always dealt out the same. */
const seed = 1

/** What labelled cases say of one model. */
export interface CaseFigures extends Figures {
  readonly model: string
  readonly answered: number
  readonly unanswered: number
  /** Answers that a larger model gave. */
  readonly escalated: number
  /** The lowest confidence that keeps errors rare enough; null where none does. */
  readonly promise: KeptPromise | null
  /** By the listed prices; null where one of the answers has no known cost. */
  readonly cost: number | null
}

/** Null where either is unknown. */
const added = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : one + other

/** Null without any answer. `errors` is the share that may be wrong of the answers that are taken. */
export const caseFigures = (
  listed: Listed,
  { answered, unanswered }: CaseRun,
  question: DraftQuestion,
  errors: number,
): CaseFigures | null => {
  if (answered.length === 0) return null
  const judged = answered.map(({ truth, decided }) => ({ truth, ...opinionOf(question, decided) }))
  const scored: readonly ScoredAnswer[] = judged.map((answer) => ({
    confidence: answer.confidence,
    right: isRight(answer),
  }))
  const [fit, held] = randomHalves(scored, seededFractions(seed))
  return {
    ...figuresOf(judged, seed),
    ...{ model: listed.model, answered: answered.length, unanswered },
    escalated: answered.filter(({ decided }) => isEscalated(decided)).length,
    cost: answered.reduce<number | null>((sum, { decided }) => added(sum, decisionCost(listed, decided)), 0),
    promise: held.length === 0 ? null : thresholdFor(fit, held, { errors, certainty }),
  }
}
