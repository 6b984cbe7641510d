import type { DecideCall, OrderedJson, Question } from '../../../core/ports/upstream.ts'
import { print } from '../../../core/dialects/json.ts'
import { sizeOf } from './decision-answer.ts'
import { badAnswer, countsOf, distributionOf, isProbability, refusal, unreadable } from './probabilities.ts'
import { fieldsOf, readAnswer, type Read } from './systemone.ts'

/** A choice of one is no question: it has only one answer, so nobody is asked. */
export const isOpen = (question: Question) => question.type !== 'choice' || question.options.length > 1

/** Whether anything is left to ask; with nothing, `parseDecisions` needs no text. */
export const asksAnything = ({ questions }: DecideCall): boolean => questions.some(isOpen)

/** The body in the second public form: one input, and questions in a list. */
export const printDecisions = (call: DecideCall, extra: Readonly<Record<string, unknown>> = {}): string => {
  const text = wordsOf(call.state)
  const parts = [...call.images.map((image_url) => ({ type: 'input_image', image_url })), { type: 'input_text', text }]
  return print({
    model: call.model,
    input: call.images.length === 0 ? text : [{ role: 'user', content: parts }],
    questions: call.questions
      .filter(isOpen)
      .map((question, index) => ({ ...printQuestion(question), name: `q${index + 1}` })),
    ...extra,
  })
}

const printQuestion = (question: Question): Readonly<Record<string, unknown>> => {
  const instructions = wordsOf(question.instructions)
  switch (question.type) {
    case 'noul':
      return { type: 'predicate', instructions: folded(instructions, question.yes, question.no) }
    case 'choice':
      return {
        type: 'choice',
        instructions,
        choices: question.options.map(({ label, description }) => ({ value: label, ...explained(description) })),
      }
    case 'score':
      return {
        type: 'score',
        instructions,
        levels: question.levels.map((level, index) => ({ label: `${index}`, ...explained(level) })),
      }
  }
}

/** This form has no place for what the two outcomes mean. */
const folded = (instructions: string, yes: OrderedJson, no: OrderedJson): string =>
  [instructions, yes === null ? '' : `True: ${wordsOf(yes)}`, no === null ? '' : `False: ${wordsOf(no)}`]
    .filter((line) => line !== '')
    .join('\n')

const explained = (description: OrderedJson) => (description === null ? {} : { description: wordsOf(description) })

/** Text as it is, structure as JSON, nothing as nothing. */
export const wordsOf = (value: OrderedJson): string =>
  value === null ? '' : typeof value === 'string' ? value : print(value)

/** Throws UpstreamFailed for whatever is not an answer to these questions, all of them and in their order. */
export const parseDecisions = (text: string, questions: readonly Question[]): Read => {
  const body = fieldsOf(readAnswer(text))
  const answers = body?.get('answers')
  if (!body || !Array.isArray(answers) || answers.length !== questions.filter(isOpen).length) throw unreadable()
  let at = 0
  const distributions = questions.map((question, index) => {
    if (!isOpen(question)) return { probabilities: [1] }
    const answer = fieldsOf(answers[at++])
    if (!answer) throw badAnswer(index)
    if (answer.get('type') === 'refusal') return refusal(sizeOf(question))
    if ((answer.get('name') ?? `q${at}`) !== `q${at}`) throw badAnswer(index)
    return distributionOf(
      index,
      givenFor(question, answer, index),
      answer.get('label_mass') ?? answer.get('x_label_mass'),
    )
  })
  return { distributions, usage: countsOf(fieldsOf(body.get('usage'))) }
}

const givenFor = (question: Question, answer: ReadonlyMap<string, OrderedJson>, index: number): readonly unknown[] => {
  const type = question.type === 'noul' ? 'predicate' : question.type
  if (answer.get('type') !== type) throw badAnswer(index)
  if (question.type === 'noul') {
    const yes = answer.get('probability')
    if (!isProbability(yes)) throw badAnswer(index)
    return [yes, 1 - yes]
  }
  const labels: readonly OrderedJson[] =
    question.type === 'choice' ? question.options.map(({ label }) => label) : question.levels.map((_, level) => level)
  const list = answer.get('probabilities')
  if (!Array.isArray(list)) throw badAnswer(index)
  const given = new Map(
    list.map((option: OrderedJson) => [fieldsOf(option)?.get('value'), fieldsOf(option)?.get('probability')]),
  )
  if (list.length !== labels.length || given.size !== labels.length) throw badAnswer(index)
  return labels.map((label) => given.get(label))
}
