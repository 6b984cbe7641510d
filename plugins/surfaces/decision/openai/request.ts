import * as v from 'valibot'
import { ModelName } from '../../../../core/dialects/model-name.ts'
import type { OrderedJson, Question } from '../../../../core/ports/upstream.ts'
import {
  type DecisionRequest,
  escalationOf,
  invalid,
  type Named,
  type OrderedObject,
  type Report,
  wideBounds,
} from '../../../shared/decisions/typed-decision.ts'
import { contentOf, inputOf, objectOf } from './input.ts'

/** What an answer repeats of its question. */
export interface AskedQuestion {
  readonly name: string | null
  /** The labels of a scale, or the values of a choice. A text and a boolean are two values. */
  readonly values: readonly (string | boolean)[]
}

/** A request of OpenAI's clients. */
export interface OpenaiDecision {
  readonly request: DecisionRequest
  readonly questions: readonly AskedQuestion[]
}

/** Members that mean something to the vendor alone. */
const vendorsOwn = ['prompt_cache_key', 'prompt_cache_options', 'safety_identifier'] as const

/** Throws BadRequest that says, path by path, what was expected. */
export const readOpenaiDecision = (body: OrderedJson): OpenaiDecision => {
  const flaws: [path: string, expected: string][] = []
  const report: Report = (path, expected) => void flaws.push([path, expected])
  const fields = objectOf(body)
  if (fields === null) throw invalid([['body', 'expected an object']])
  const { success, output: model } = v.safeParse(ModelName, fields.get('model'))
  if (!success) report('model', 'expected the name of a model')
  const { state, images } = inputOf(fields.get('input'), report)
  const questions = questionsOf(fields.get('questions'), report)
  const escalate = escalationOf(fields.get('escalate'), report)
  if (fields.get('stream')) report('stream', 'expected no stream: this route answers at once')
  if (flaws.length > 0) throw invalid(flaws)
  const dropped = vendorsOwn.filter((name) => fields.get(name) != null)
  return {
    request: {
      ...{ model: String(model), provider: null, state, images, videos: [], samples: null, steps: null },
      ...{ questions: questions.map(({ named }) => named), escalate, dropped },
    },
    questions: questions.map(({ printed }) => printed),
  }
}

interface ReadQuestion {
  readonly named: Named
  readonly printed: AskedQuestion
}

const questionsOf = (value: OrderedJson | undefined, report: Report): readonly ReadQuestion[] => {
  if (!Array.isArray(value) || value.length < 1 || value.length > wideBounds.questions) {
    report('questions', `expected a list of 1 to ${wideBounds.questions} questions`)
    return []
  }
  return (value as readonly OrderedJson[]).flatMap((item, at) => questionOf(item, `questions.${at}`, `${at}`, report))
}

/** The place of a question is its id, so faults name the place. */
const questionOf = (item: OrderedJson, path: string, id: string, report: Report): readonly ReadQuestion[] => {
  const fields = objectOf(item) ?? new Map<string, OrderedJson>()
  const name = fields.get('name') ?? null
  if (name !== null && typeof name !== 'string') report(`${path}.name`, 'expected a text')
  const instructions = contentOf(fields.get('instructions'), `${path}.instructions`, report, (_, where) => {
    report(where, 'expected no image here: an image stands in the input')
    return null
  })
  const read = (question: Question, values: AskedQuestion['values'] = []): readonly ReadQuestion[] => [
    { named: { id, question }, printed: { name: name as string | null, values } },
  ]
  switch (fields.get('type')) {
    case 'predicate':
      return read({ type: 'noul', instructions, yes: null, no: null })
    case 'choice': {
      const { options, values } = choicesOf(fields.get('choices'), `${path}.choices`, report)
      return read({ type: 'choice', instructions, options }, values)
    }
    case 'score': {
      const { levels, labels } = levelsOf(fields.get('levels'), `${path}.levels`, report)
      return read({ type: 'score', instructions, levels }, labels)
    }
    default:
      report(`${path}.type`, 'expected predicate, choice or score')
      return []
  }
}

const listOf = (
  value: OrderedJson | undefined,
  path: string,
  most: number,
  report: Report,
): readonly OrderedObject[] => {
  if (Array.isArray(value) && value.length >= 2 && value.length <= most)
    return (value as readonly OrderedJson[]).map((item) => objectOf(item) ?? new Map<string, OrderedJson>())
  report(path, `expected a list of 2 to ${most} items`)
  return []
}

const descriptionOf = (fields: OrderedObject, path: string, report: Report): string | null => {
  const description = fields.get('description') ?? null
  if (description === null || typeof description === 'string') return description
  report(`${path}.description`, 'expected a text')
  return null
}

const choicesOf = (value: OrderedJson | undefined, path: string, report: Report) => {
  const met = new Set<OrderedJson>()
  const choices = listOf(value, path, wideBounds.labels, report).map((fields, at) => {
    const own = fields.get('value')
    const fits = (typeof own === 'string' && own !== '') || typeof own === 'boolean'
    if (!fits) report(`${path}.${at}.value`, 'expected a text or a boolean')
    else if (met.has(own)) report(`${path}.${at}.value`, 'expected a value that no other choice has')
    met.add(own ?? null)
    return { own: fits ? own : '', description: descriptionOf(fields, `${path}.${at}`, report) }
  })
  const texts = new Set(choices.map(({ own }) => own))
  /** Labels differ for a model too, where a text reads like a boolean. */
  const labelOf = (own: string | boolean): string => {
    let label = String(own)
    while (typeof own === 'boolean' && texts.has(label)) label += ' (boolean)'
    return label
  }
  return {
    options: choices.map(({ own, description }) => ({ label: labelOf(own), description })),
    values: choices.map(({ own }) => own),
  }
}

/** As many as the digits by which a chat model names them. */
const mostLevels = 10

const levelsOf = (value: OrderedJson | undefined, path: string, report: Report) => {
  const levels = listOf(value, path, mostLevels, report).map((fields, at) => {
    const label = fields.get('label')
    const fits = typeof label === 'string' && label !== ''
    if (!fits) report(`${path}.${at}.label`, 'expected a text')
    return { label: fits ? label : '', description: descriptionOf(fields, `${path}.${at}`, report) }
  })
  return {
    // A label that is only the number of its level says nothing beside a description.
    levels: levels.map(({ label, description }, at) =>
      description === null ? label : label === `${at}` ? description : `${label}: ${description}`,
    ),
    labels: levels.map(({ label }) => label),
  }
}
