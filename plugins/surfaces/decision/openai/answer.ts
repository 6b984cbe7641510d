import { type Answer, type Answered, wholeTokens } from '../../../shared/decisions/typed-decision-answer.ts'
import type { AskedQuestion } from './request.ts'

/** One answer in the form of OpenAI's clients. */
const printAnswer = (answer: Answer, { name, values }: AskedQuestion): unknown => {
  const advising = 'advice' in answer ? { advice: answer.advice } : {}
  switch (answer.type) {
    case 'refusal':
      return { type: 'refusal', name }
    case 'noul':
      return { type: 'predicate', name, probability: answer.noul, ...advising }
    case 'choice': {
      const labels = [...answer.probabilities.keys()]
      const probabilities = [...answer.probabilities.values()]
      return {
        ...{
          type: 'choice',
          name,
          choice: values[labels.indexOf(answer.choice)],
          confidence: answer.confidence,
          ...advising,
        },
        probabilities: values.map((value, at) => ({ value, probability: probabilities[at] })),
      }
    }
    case 'score': {
      const probabilities = [...answer.probabilities.values()]
      return {
        ...{ type: 'score', name, score: answer.score, confidence: answer.confidence, ...advising },
        probabilities: values.map((label, value) => ({ label, value, probability: probabilities[value] })),
      }
    }
  }
}

/** The answers in the order of their questions; numbers keep every digit. */
export const printOpenaiDecision = (
  { model, answers, usage }: Answered,
  questions: readonly AskedQuestion[],
): unknown => {
  const [input, output] = [wholeTokens(usage.input), wholeTokens(usage.output)]
  return {
    model,
    answers: [...answers.values()].map((answer, at) => printAnswer(answer, questions[at]!)),
    usage: {
      input_tokens: input,
      input_tokens_details: {
        cached_tokens: wholeTokens(usage.cached ?? 0),
        cache_write_tokens: wholeTokens((usage.written ?? 0) + (usage.writtenHour ?? 0)),
      },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: wholeTokens(usage.reasoning ?? 0) },
      total_tokens: input + output,
    },
  }
}
