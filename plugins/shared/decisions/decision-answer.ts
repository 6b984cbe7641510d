import type { AdvisedDistribution } from './advice.ts'
import type { Answer } from './typed-decision-answer.ts'
import { badAnswer } from './probabilities.ts'
import type { Distribution, OrderedJson, Question } from '../../../core/ports/upstream.ts'

/** Below it diagnostics call an answer unreliable. */
const shaky = 0.5

/** How many labels, levels or outcomes a question has. */
export const sizeOf = (question: Question): number =>
  question.type === 'choice' ? question.options.length : question.type === 'score' ? question.levels.length : 2

/** Throws UpstreamFailed that names the question by its place: what is wrong is never mended into a guess. */
export const checkDistribution = (question: Question, given: Distribution | undefined, index: number): Distribution => {
  const probabilities = given?.probabilities
  const sound =
    Array.isArray(probabilities) &&
    probabilities.length === sizeOf(question) &&
    probabilities.every((odds) => typeof odds === 'number' && odds >= 0 && odds <= 1) &&
    Math.abs(sumOf(probabilities) - 1) <= 1e-6
  if (!sound) throw badAnswer(index)
  return given!
}

/** The answer in public form. The distribution must have passed `checkDistribution` before. */
export const answerOf = (question: Question, { probabilities, advice }: AdvisedDistribution): Answer => {
  const advising = advice === undefined ? {} : { advice }
  switch (question.type) {
    case 'choice': {
      const labels = question.options.map(({ label }) => label)
      return {
        type: 'choice',
        choice: labels[best(probabilities)]!,
        probabilities: new Map(labels.map((label, index) => [label, probabilities[index]!])),
        confidence: certaintyOf(probabilities),
        ...advising,
      }
    }
    case 'noul':
      return { type: 'noul', noul: probabilities[0]!, ...advising }
    case 'score': {
      const { levels } = question
      return {
        type: 'score',
        score: Math.min(levels.length - 1, sumOf(probabilities.map((p, level) => p * level))),
        legend: new Map(levels.map((level, index): [string, OrderedJson] => [`${index}`, level ?? `${index}`])),
        probabilities: new Map(probabilities.map((p, index) => [`${index}`, p])),
        confidence: closeness(probabilities),
        ...advising,
      }
    }
  }
}

/** Of every type, from 0 to 1; for noul, which shows none, that of a choice between the two. */
export const confidenceOf = (question: Question, { probabilities }: Distribution): number =>
  question.type === 'score' ? closeness(probabilities) : certaintyOf(probabilities)

/** The first of the greatest. */
export const best = (probabilities: readonly number[]): number => probabilities.indexOf(Math.max(...probabilities))

/** How far the winner stands above chance. */
const certaintyOf = (probabilities: readonly number[]): number => {
  const n = probabilities.length
  if (n === 1) return 1
  return Math.max(0, (Math.max(...probabilities) - 1 / n) / (1 - 1 / n))
}

/** How near to the most likely level the mass lies, against levels that are all alike. */
const closeness = (probabilities: readonly number[]): number => {
  const n = probabilities.length
  const mode = best(probabilities)
  const spread = sumOf(probabilities.map((p, level) => p * Math.abs(level - mode)))
  const even = sumOf(probabilities.map((_, level) => Math.abs(level - (n - 1) / 2))) / n
  return Math.max(0, 1 - spread / even)
}

/** What diagnostics say of one question. */
export const measure = ({ probabilities, labelMass, truncated, agreement, stderr }: Distribution) => ({
  label_mass: labelMass ?? null,
  entropy: entropyOf(probabilities),
  truncated: truncated ?? false,
  ...(agreement !== undefined && { agreement }),
  ...(stderr !== undefined && { stderr }),
  ...(labelMass !== undefined && labelMass < shaky && { unreliable: true }),
})

/** In nats. */
const entropyOf = (probabilities: readonly number[]): number =>
  Math.max(0, -sumOf(probabilities.map((p) => (p > 0 ? p * Math.log(p) : 0))))

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)
