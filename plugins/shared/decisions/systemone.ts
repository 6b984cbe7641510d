import type { DecideCall, Distribution, OrderedJson, Question, Usage } from '../../../core/ports/upstream.ts'
import { print, readOrdered } from '../../../core/dialects/json.ts'
import { sizeOf } from './decision-answer.ts'
import { badAnswer, countsOf, distributionOf, isProbability, refusal, unreadable } from './probabilities.ts'

/** Distributions in the order of the questions that were asked. */
export interface Read {
  readonly distributions: readonly Distribution[]
  readonly usage: Usage
}

type OrderedObject = ReadonlyMap<string, OrderedJson>

/** The name of a question on the way to a backend: its place, so that no id of a caller gets there. */
const nameOf = (index: number) => `q${index + 1}`

/**
 * The body in the System-One form. Backends take images in different ways: `extra` holds the fields that carry them, and
 * `state` replaces the state where they are put into it.
 */
export const printSystemOne = (
  call: DecideCall,
  extra: Readonly<Record<string, unknown>> = {},
  state: unknown = call.state,
): string =>
  print({
    model: call.model,
    state,
    questions: new Map(call.questions.map((question, index) => [nameOf(index), printQuestion(question)])),
    ...extra,
  })

/** Without a key that has nothing to say, since some backends refuse null there. */
const printQuestion = (question: Question): unknown => {
  const { type, instructions } = question
  if (question.type === 'choice') {
    const criteria = new Map(question.options.map(({ label, description }) => [label, description]))
    return { type, instructions, criteria }
  }
  if (question.type === 'score') return { type, instructions, criteria: question.levels }
  const { yes, no } = question
  if (yes === null && no === null) return { type, instructions }
  return { type, instructions, criteria: { ...(yes !== null && { true: yes }), ...(no !== null && { false: no }) } }
}

/** The state with images ahead of it, as a list of content parts. */
export const stateWithImages = ({ state, images }: Pick<DecideCall, 'state' | 'images'>): unknown =>
  images.length === 0
    ? state
    : [...images.map((url) => ({ type: 'image_url', image_url: { url } })), ...(Array.isArray(state) ? state : [state])]

/** Throws UpstreamFailed for whatever is not an answer to these questions. */
export const parseSystemOne = (text: string, questions: readonly Question[]): Read => {
  const body = fieldsOf(readAnswer(text))
  const answers = fieldsOf(body?.get('answers'))
  if (!body || !answers) throw unreadable()
  const distributions = questions.map((question, index) => {
    const answer = fieldsOf(answers.get(nameOf(index)))
    if (!answer) throw badAnswer(index)
    if (answer.get('type') === 'refusal') return refusal(sizeOf(question))
    const kind = answer.get('type')
    if (kind !== undefined && kind !== question.type) throw badAnswer(index)
    return distributionOf(
      index,
      givenFor(question, answer, index),
      answer.get('x_label_mass') ?? answer.get('label_mass'),
    )
  })
  return { distributions, usage: countsOf(fieldsOf(body.get('usage'))) }
}

const givenFor = (question: Question, answer: OrderedObject, index: number): readonly unknown[] => {
  if (question.type === 'noul') {
    const yes = answer.get('noul')
    if (!isProbability(yes)) throw badAnswer(index)
    return [yes, 1 - yes]
  }
  const labels =
    question.type === 'choice' ? question.options.map(({ label }) => label) : question.levels.map((_, at) => `${at}`)
  const given = fieldsOf(answer.get('probabilities'))
  if (!given || given.size !== labels.length) throw badAnswer(index)
  return labels.map((label) => given.get(label))
}

/** Of a backend: what is no JSON is its fault, not the caller's. */
export const readAnswer = (text: string): OrderedJson => {
  try {
    return readOrdered(text)
  } catch (cause) {
    throw unreadable(cause)
  }
}

/** The members of an object in their order; null for all else. */
export const fieldsOf = (value: OrderedJson | undefined): OrderedObject | null =>
  value instanceof Map ? (value as OrderedObject) : null
