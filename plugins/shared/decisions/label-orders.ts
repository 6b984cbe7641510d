import type { Distribution, Question } from '../../../core/ports/upstream.ts'
import { best, sizeOf } from './decision-answer.ts'
import { isRefused } from './probabilities.ts'

/** The places of the labels in the order in which one read shows them. */
export type Order = readonly number[]

/** Reads of a question: never twice the same, since a prompt that is repeated tells nothing new. */
export const readsOf = (question: Question, samples: number): number =>
  Math.min(samples, question.type === 'score' ? 2 : sizeOf(question))

/**
 * One order a read, the caller's own first. Choices and outcomes are rotated by even steps, a scale is only reversed.
 */
export const ordersOf = (question: Question, samples: number): readonly Order[] => {
  const own = [...new Array(sizeOf(question)).keys()]
  const reads = readsOf(question, samples)
  if (reads === 1) return [own]
  if (question.type === 'score') return [own, own.toReversed()]
  return Array.from({ length: reads }, (_, read) => {
    const turn = Math.floor((read * own.length) / reads)
    return [...own.slice(turn), ...own.slice(0, turn)]
  })
}

/** The mean of several reads, and how far they agree on it. A question is declined where one of its reads is. */
export const average = (reads: readonly Distribution[]): Distribution => {
  const declined = reads.find(isRefused)
  if (declined !== undefined) return declined
  const first = reads[0]!
  if (reads.length === 1) return alone(first)
  const mean = (of: (read: Distribution) => number) => reads.reduce((sum, read) => sum + of(read), 0) / reads.length
  const probabilities = first.probabilities.map((_, index) => mean((read) => read.probabilities[index]!))
  const winner = best(probabilities)
  const variance = mean((read) => (read.probabilities[winner]! - probabilities[winner]!) ** 2)
  return {
    probabilities,
    ...(reads.every(({ labelMass }) => labelMass !== undefined) && { labelMass: mean(({ labelMass }) => labelMass!) }),
    truncated: reads.some(({ truncated }) => truncated === true),
    reads: reads.length,
    agreement: mean((read) => (best(read.probabilities) === winner ? 1 : 0)),
    stderr: Math.sqrt(variance / (reads.length - 1)),
  }
}

/** Each member is listed: V8 looks up the shape of a spread anew each time. */
const alone = ({ probabilities, labelMass, truncated = false }: Distribution): Distribution =>
  labelMass === undefined ? { probabilities, truncated, reads: 1 } : { probabilities, labelMass, truncated, reads: 1 }
