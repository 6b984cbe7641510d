export type QuestionType = 'choice' | 'noul' | 'score'

export interface DraftOption {
  /** Of a choice; levels and outcomes are known by their places. */
  readonly label: string
  readonly meaning: string
}

export interface DraftQuestion {
  readonly id: string
  readonly type: QuestionType
  readonly instructions: string
  /** In their order; those of `noul` are yes and no. */
  readonly options: readonly DraftOption[]
}

/** What the reader wrote, before a model is asked. */
export interface Draft {
  readonly state: string
  /** Whether the state is JSON as it stands, and no text. */
  readonly isJson: boolean
  readonly questions: readonly DraftQuestion[]
  /** Null for the gateway's own, as `steps`. */
  readonly samples: number | null
  readonly steps: number | null
  /** Empty for any backend. */
  readonly provider: string
}

/** How each option is called in an answer. */
export const labelsOf = ({ type, options }: DraftQuestion): readonly string[] =>
  options.map(({ label }, at) => (type === 'choice' ? label : type === 'score' ? `${at}` : at === 0 ? 'yes' : 'no'))

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const isRepeated = (names: readonly string[]): boolean => new Set(names).size < names.length

/** What the gateway could not tell from the body; null when nothing is wrong. */
export const flawOf = ({ state, questions, ...rest }: Draft): string | null => {
  if (rest.isJson && !isJson(state)) return 'The state is no JSON.'
  if (isRepeated(questions.map(({ id }) => id))) return 'Two questions have the same id.'
  const twice = questions.find((question) => question.type === 'choice' && isRepeated(labelsOf(question)))
  return twice === undefined ? null : `A label of the question ${twice.id} stands there twice.`
}

type Fields = readonly (readonly [name: string, json: string])[]

/** A feed alone ends a line here: JSON may hold other ends of lines inside its strings. */
const inner = (lines: readonly string[]): string =>
  lines
    .join(',\n')
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')

/** JavaScript's own objects would move names that are numbers to the front. */
const objectOf = (fields: Fields): string =>
  fields.length === 0 ? '{}' : `{\n${inner(fields.map(([name, json]) => `${JSON.stringify(name)}: ${json}`))}\n}`

const listOf = (items: readonly string[]): string => (items.length === 0 ? '[]' : `[\n${inner(items)}\n]`)

const wordsOf = (text: string): string => (text === '' ? 'null' : JSON.stringify(text))

const criteriaOf = ({ type, options }: DraftQuestion): string => {
  if (type === 'score') return listOf(options.map(({ meaning }) => wordsOf(meaning)))
  if (type === 'choice') return objectOf(options.map(({ label, meaning }) => [label, wordsOf(meaning)]))
  const outcomes = options.map(({ meaning }, at) => [at === 0 ? 'true' : 'false', meaning] as const)
  const known = outcomes.filter(([, meaning]) => meaning !== '')
  return known.length === 0 ? 'null' : objectOf(known.map(([name, meaning]) => [name, wordsOf(meaning)]))
}

const questionOf = (question: DraftQuestion): string =>
  objectOf([
    ['type', JSON.stringify(question.type)],
    ['instructions', wordsOf(question.instructions)],
    ['criteria', criteriaOf(question)],
  ])

/** The body of the decision route, with every label where the reader put it. */
export const bodyOf = (draft: Draft, model: string): string => {
  const { state, questions, samples, steps, provider } = draft
  return objectOf([
    ['model', JSON.stringify(model)],
    ['state', draft.isJson ? state.trim() : JSON.stringify(state)],
    ['questions', objectOf(questions.map((question) => [question.id, questionOf(question)]))],
    ...(samples === null ? [] : [['samples', String(samples)] as const]),
    ...(steps === null ? [] : [['steps', String(steps)] as const]),
    ...(provider === '' ? [] : [['provider', JSON.stringify(provider)] as const]),
  ])
}
