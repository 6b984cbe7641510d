import { BadRequest } from '../../../core/errors.ts'
import { LongNumber } from '../../../core/ports/decide.ts'
import type { Decided, DecideCall, Distribution, OrderedJson, Question } from '../../../core/ports/upstream.ts'
import { tokensOf } from '../../../core/inference/metering/tokens.ts'

/** One unit vector a text, in their order. */
export type Embed = (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]>

/** What is fitted to one embedding on labelled decisions. */
export interface Fit {
  /** What similarities are divided by before the softmax. */
  readonly choice: number
  readonly score: number
  /** How much each of `signsOf` speaks for yes, as log-odds. */
  readonly noul: readonly number[]
}

/** Characters that one vector still holds, and how many such pieces of a state are read. */
const piece = 600
const pieces = 8
/** In characters: the longest sentence of an answer. */
const mostCharacters = 500

/** Decisions by the similarity of the state and each answer: no model reasons here, so the closest words win. */
export const decideBySimilarity = async (
  embed: Embed,
  fit: Fit,
  call: DecideCall,
  signal: AbortSignal,
): Promise<Decided> => {
  if (call.images.length > 0) {
    throw new BadRequest('This model reads no images', { validator: { images: 'expected none for this model' } })
  }
  if (proseOf(call.state).length > piece * pieces) {
    throw new BadRequest('The state is longer than the window of the model', {
      validator: { state: `expected ${piece * pieces} characters at most for this model` },
      code: 'context_length_exceeded',
    })
  }
  const near = await nearnessOf(embed, call, signal)
  const texts = [...piecesOf(proseOf(call.state)), ...call.questions.flatMap(answersOf)]
  const ignored = (['samples', 'steps'] as const).filter((field) => call[field] !== null)
  return {
    distributions: call.questions.map((question, index): Distribution => {
      const nearness = near[index] ?? []
      if (question.type !== 'noul') return { probabilities: softmax(nearness, fit[question.type]) }
      const odds = signsOf(question, nearness, call.state).reduce(
        (sum, sign, at) => sum + sign * (fit.noul[at] ?? 0),
        0,
      )
      return { probabilities: softmax([odds, 0], 1) }
    }),
    usage: { input: texts.reduce((sum, text) => sum + tokensOf(text), 0), output: 0, estimated: true },
    engine: 'embeddings',
    ...(ignored.length > 0 && { ignored }),
  }
}

/** The similarity of the state to each answer, question by question. */
export const nearnessOf = async (
  embed: Embed,
  { state, questions }: Pick<DecideCall, 'state' | 'questions'>,
  signal: AbortSignal,
): Promise<readonly (readonly number[])[]> => {
  // The state and each question go apart, so that the company they come in changes no digit.
  const [read, ...statements] = await Promise.all([
    embed(piecesOf(proseOf(state)), signal),
    ...questions.map((question) => embed(answersOf(question), signal)),
  ])
  const middle = mean(read ?? [])
  return statements.map((answers) => answers.map((answer) => dot(middle, answer)))
}

/**
 * What speaks for yes: that the state is nearer to yes than to no; and where nobody said what yes and no mean, how near it
 * is to the statement at all, that it denies what the question does not, and a constant.
 */
export const signsOf = (
  { instructions, yes, no }: Question & { readonly type: 'noul' },
  [toYes = 0, toNo = 0]: readonly number[],
  state: OrderedJson,
): readonly number[] => {
  const contrast = toYes - toNo
  if (yes !== null || no !== null) return [contrast, 0, 0, 0]
  const denied = denial.test(proseOf(state)) !== denial.test(proseOf(instructions))
  return [contrast, toYes, denied ? 1 : 0, 1]
}

const denial =
  /\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|unable|unlikely|unfortunately|sorry|still|instead|failed|refused?|declined?)\b|n['’]t\b/i

/** One sentence an answer, to be held against the state. */
export const answersOf = (question: Question): readonly string[] => {
  const sentence = proseOf(question.instructions)
    .trim()
    .replace(/(?<!\?)\?+$/, '')
  const whole = (answer: string) => cut(sentence === '' ? answer : `${sentence}: ${answer}`)
  switch (question.type) {
    case 'choice':
      return question.options.map(({ label, description }) =>
        whole(description === null ? label : `${label}: ${proseOf(description)}`),
      )
    case 'score':
      return question.levels.map((level, index) => whole(level === null ? `${index}` : proseOf(level)))
    case 'noul': {
      const { yes, no } = statementsOf(sentence)
      return [
        question.yes === null ? yes : proseOf(question.yes),
        question.no === null ? no : proseOf(question.no),
      ].map(cut)
    }
  }
}

/** A question as the two statements it is about: closer to how a state would tell it than the word yes or no. */
const statementsOf = (question: string): { readonly yes: string; readonly no: string } => {
  const [, verb, rest] = asking.exec(question) ?? []
  if (verb === undefined || rest === undefined) return { yes: question, no: `It is not true: ${question}` }
  const aside = verb.toLowerCase()
  return { yes: /^d(o|oes|id)$/.test(aside) ? rest : `${rest} ${aside}`, no: `${aside} not ${rest}` }
}

const asking = /^(do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|may|must)\s+(.+)$/is

/** Structure as a reader would say it: names before values, one after the other. */
export const proseOf = (value: OrderedJson): string => {
  if (value === null) return ''
  if (typeof value !== 'object' || value instanceof LongNumber) return String(value)
  if (isList(value)) return value.map(proseOf).join('. ')
  return [...value].map(([name, inner]) => `${name}: ${proseOf(inner)}`).join('. ')
}

const isList = (value: object): value is readonly OrderedJson[] => Array.isArray(value)

const cut = (text: string): string => text.slice(0, mostCharacters)

/** A long text in parts that end between words. */
const piecesOf = (text: string): readonly string[] => {
  const parts: string[] = []
  let rest = text
  while (rest.length > piece) {
    const space = rest.lastIndexOf(' ', piece)
    const end = space > piece / 2 ? space : piece
    parts.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...parts, rest]
}

/** The mean of unit vectors, again of length 1. */
const mean = (vectors: readonly Float32Array[]): Float32Array => {
  const [first = new Float32Array()] = vectors
  if (vectors.length === 1) return first
  const sum = first.map((_, at) => vectors.reduce((sum, vector) => sum + (vector[at] ?? 0), 0))
  const length = Math.hypot(...sum) || 1
  return sum.map((value) => value / length)
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)

/** Subtracting the largest value keeps each weight from overflowing. */
const softmax = (values: readonly number[], temperature: number): readonly number[] => {
  const most = Math.max(...values)
  const weights = values.map((value) => Math.exp((value - most) / temperature))
  const sum = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / sum)
}
