import { type DraftQuestion, labelsOf } from './decision-draft.ts'
import { decimal } from './format.ts'
import { costOf } from './prices.ts'
import type { Listed } from './sight.ts'

interface Answer {
  readonly choice?: string
  readonly score?: number
  readonly noul?: number
  readonly probabilities?: Readonly<Record<string, number>>
  readonly confidence?: number
}

/** What the decision route answers, as far as the console reads it. */
export interface Decided {
  readonly model: string
  readonly answers: Readonly<Record<string, Answer>>
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
  readonly diagnostics: {
    readonly engine: string
    readonly backend: string
    readonly reads: number
    readonly timing_ms: number
    readonly ignored?: readonly string[]
    readonly calibration?: string
    readonly escalated?: { readonly model: string; readonly failed?: boolean }
    readonly questions: Readonly<Record<string, { readonly unreliable?: boolean }>>
  }
}

/** One answer, read by the question that was asked. */
export interface Opinion {
  readonly said: string
  /** In the order of the question's options. */
  readonly probabilities: readonly number[]
  /** From 0 to 1; of `noul`, which shows none, that of a choice between the two. */
  readonly confidence: number
  /** Whether the model wanted to say something else. */
  readonly unreliable: boolean
}

/** Throws for an answer that lacks the question or one of its labels. */
export const opinionOf = (question: DraftQuestion, { answers, diagnostics }: Decided): Opinion => {
  const answer = Object.hasOwn(answers, question.id) ? answers[question.id] : undefined
  if (answer === undefined) throw new Error('The answer lacks a question')
  const unreliable = diagnostics.questions[question.id]?.unreliable === true
  const { noul, score, choice, confidence, probabilities: given = {} } = answer
  if (noul !== undefined) {
    const probabilities = [noul, 1 - noul]
    return { said: noul >= 0.5 ? 'yes' : 'no', probabilities, confidence: Math.abs(2 * noul - 1), unreliable }
  }
  const probabilities = labelsOf(question).map((label) => (Object.hasOwn(given, label) ? given[label] : undefined))
  if (confidence === undefined || !probabilities.every((probability) => probability !== undefined))
    throw new Error('The answer lacks a label')
  return { said: choice ?? (score === undefined ? '–' : decimal(score)), probabilities, confidence, unreliable }
}

/** Whether a larger model gave some of the answers. */
export const isEscalated = ({ diagnostics: { escalated } }: Decided): boolean =>
  escalated !== undefined && escalated.failed !== true

/** By the listed prices; null without them, and where a larger model with its own prices answered too. */
export const decisionCost = (listed: Listed | undefined, decided: Decided): number | null =>
  listed === undefined || isEscalated(decided) ? null : costOf(listed, decided.usage)
