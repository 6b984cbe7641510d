import { wordsOf } from './decisions.ts'
import type { ChatBody, OrderedJson, Question } from '../../../core/ports/upstream.ts'
import type { Order } from './label-orders.ts'

/** What the model answers with in place of each label, in the order shown. */
export const marksOf = (question: Question, order: Order): readonly string[] =>
  order.map((place, shown) => {
    if (question.type === 'choice') return String.fromCharCode(65 + shown)
    return question.type === 'score' ? `${place}` : place === 0 ? 'yes' : 'no'
  })

const closing = {
  choice: 'Answer with the letter of one option and nothing else.',
  score: 'Answer with the number of one level and nothing else.',
  noul: 'Answer with yes or no and nothing else.',
} as const

const weighing = 'Give each of these a weight from 0 to 100, by how likely it is the right one. Answer in JSON.'

/** The images, the state and one question; nothing of other questions and no id. */
export const messagesFor = (
  question: Question,
  order: Order,
  state: OrderedJson,
  images: readonly string[],
  weights = false,
): ChatBody['messages'] => {
  const marks = marksOf(question, order)
  const lines = order.map((place, shown) => line(question, place, marks[shown]!))
  const text = [
    wordsOf(state),
    '',
    wordsOf(question.instructions),
    ...lines,
    '',
    weights ? weighing : closing[question.type],
  ].join('\n')
  if (images.length === 0) return [{ role: 'user', content: text }]
  const pictures = images.map((url) => ({ type: 'image_url', image_url: { url } }))
  return [{ role: 'user', content: [...pictures, { type: 'text', text }] }]
}

const line = (question: Question, place: number, mark: string): string => {
  if (question.type === 'choice') {
    const { label, description } = question.options[place]!
    return description === null ? `${mark}: ${label}` : `${mark}: ${label} - ${wordsOf(description)}`
  }
  const meaning = question.type === 'score' ? question.levels[place]! : place === 0 ? question.yes : question.no
  return meaning === null ? mark : `${mark}: ${wordsOf(meaning)}`
}

/** One token, and beside it the likeliest others with their log-probabilities. */
export const oneToken = { max_tokens: 1, temperature: 0, logprobs: true, top_logprobs: 20 } as const

/** Two ways to ask a model that thinks not to: a first token of a thought is no answer. */
export const unthinking = { chat_template_kwargs: { enable_thinking: false }, reasoning_effort: 'none' } as const

/** For backends that show no log-probabilities: one weight a label, as JSON. */
export const weightsFor = (marks: readonly string[]) => ({
  temperature: 0,
  response_format: {
    type: 'json_schema',
    json_schema: {
      name: 'weights',
      strict: true,
      schema: {
        type: 'object',
        properties: Object.fromEntries(marks.map((mark) => [mark, { type: 'number', minimum: 0, maximum: 100 }])),
        required: [...marks],
        additionalProperties: false,
      },
    },
  },
})
