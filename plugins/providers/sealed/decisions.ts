import { plainOf } from '../../../core/dialects/json.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { Decided, DecideCall, Distribution, Question } from '../../../core/ports/upstream.ts'
import { normalised, badAnswer } from '../../shared/decisions/probabilities.ts'
import type {
  Decision,
  DecisionAnswer,
  DecisionParams,
  Question as SealedQuestion,
} from '../../sealed/client/decisions.ts'

/** Bounds of the sealed route. */
const mostQuestions = 16
const mostLabels = 26

/** Asks all questions, in as many sealed calls as they need. */
export const decideSealed = async (
  call: DecideCall,
  ask: (params: DecisionParams) => Promise<Decision>,
): Promise<Decided> => {
  const parts: Decision[] = []
  for (const params of sealedParts(call)) parts.push(await ask(params))
  return distributionsOf(call.questions, parts)
}

/** A call in parts that the sealed route takes. */
const sealedParts = (call: DecideCall): readonly DecisionParams[] => {
  call.questions.forEach(refuseUnfit)
  const parts: (readonly Question[])[] = []
  for (let at = 0; at < call.questions.length; at += mostQuestions)
    parts.push(call.questions.slice(at, at + mostQuestions))
  const { model, images, samples, steps } = call
  const shared = {
    ...{ model, state: plainOf(call.state), ...(images.length > 0 && { images }) },
    ...(samples !== null && { samples }),
    ...(steps !== null && { steps }),
  }
  return parts.map((questions) => ({
    ...shared,
    questions: Object.fromEntries(questions.map((question, at) => [nameOf(at), printed(question)])),
  }))
}

const nameOf = (at: number) => `q${at + 1}`

/** Whole numbers come first in an object of JavaScript, so such labels may stand in no other order. */
const refuseUnfit = (question: Question, at: number): void => {
  if (question.type !== 'choice') return
  const labels = question.options.map(({ label }) => label)
  const kept = Object.keys(Object.fromEntries(labels.map((label) => [label, null])))
  if (labels.length <= mostLabels && kept.every((label, place) => label === labels[place])) return
  const expected =
    labels.length > mostLabels
      ? `expected ${mostLabels} labels at most for a sealed question`
      : 'expected whole numbers first and in ascending order among the labels of a sealed question'
  throw new BadRequest('The sealed route does not take the question', { validator: { [`questions.${at}`]: expected } })
}

const printed = (question: Question): SealedQuestion => {
  const { type } = question
  const instructions = plainOf(question.instructions)
  switch (question.type) {
    case 'choice':
      return {
        ...{ type, instructions },
        criteria: Object.fromEntries(question.options.map(({ label, description }) => [label, plainOf(description)])),
      }
    case 'score':
      return { type, instructions, criteria: question.levels.map(plainOf) }
    case 'noul': {
      const told = { true: plainOf(question.yes), false: plainOf(question.no) }
      return { type, instructions, ...((question.yes !== null || question.no !== null) && { criteria: told }) }
    }
  }
}

/** The answers of all parts together. Throws UpstreamFailed for what is no answer to its question. */
const distributionsOf = (questions: readonly Question[], parts: readonly Decision[]): Decided => ({
  distributions: questions.map((question, index) => {
    const answer = parts[Math.floor(index / mostQuestions)]?.answers[nameOf(index % mostQuestions)]
    return distributionOf(question, answer, index)
  }),
  usage: {
    input: parts.reduce((sum, { usage }) => sum + usage.input_tokens, 0),
    output: parts.reduce((sum, { usage }) => sum + usage.output_tokens, 0),
  },
  engine: 'sealed',
})

const distributionOf = (question: Question, answer: DecisionAnswer | undefined, index: number): Distribution => {
  const shares = answer?.probabilities ?? {}
  const given: readonly unknown[] =
    question.type === 'noul'
      ? [answer?.noul, 1 - (answer?.noul ?? NaN)]
      : question.type === 'score'
        ? question.levels.map((_, level) => shares[`${level}`])
        : question.options.map(({ label }) => (Object.hasOwn(shares, label) ? shares[label] : undefined))
  const probabilities = normalised(given)
  if (probabilities === null) throw badAnswer(index)
  const advice = answer?.advice
  return { probabilities, ...((advice === 'act' || advice === 'ask') && { advice }) }
}
