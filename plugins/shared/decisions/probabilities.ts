import { UpstreamFailed } from '../../../core/errors.ts'
import type { Distribution, Usage } from '../../../core/ports/upstream.ts'

/**
 * Probabilities of a backend that may have rounded them: their sum may be off by half a unit of the last digit each, and
 * is made 1 again. Null when one is no probability or the sum is further off.
 */
export const normalised = (given: readonly unknown[]): readonly number[] | null => {
  if (given.length === 0 || !given.every(isProbability)) return null
  // A number shows no zeros at its end, so two digits are allowed for where fewer are seen.
  const digits = Math.max(2, ...given.map(decimals))
  const sum = given.reduce((sum, odds) => sum + odds, 0)
  if (Math.abs(sum - 1) > 1e-6 + given.length * 0.5 * 10 ** -digits) return null
  // What is off by nothing but arithmetic stays as it came, to the last digit.
  return Math.abs(sum - 1) < 1e-12 ? given : given.map((odds) => odds / sum)
}

/** NaN is none: both comparisons fail for it. */
export const isProbability = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1

const decimals = (number: number): number => {
  const [digits = '', exponent = '0'] = String(number).split('e')
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent))
}

/** One question's part of an answer, or a fault that names it by its place in the call. */
export const distributionOf = (index: number, given: readonly unknown[], labelMass?: unknown): Distribution => {
  const probabilities = normalised(given)
  if (probabilities === null) throw badAnswer(index)
  // Sums of many small numbers may end up just above 1.
  const mass = typeof labelMass === 'number' && labelMass >= 0 && labelMass < 1.001 ? Math.min(1, labelMass) : null
  return mass === null ? { probabilities } : { probabilities, labelMass: mass }
}

/** `validator` contains the question's place in the call; the caller of this function replaces the place by the id. */
export const badAnswer = (index: number, cause?: unknown): UpstreamFailed =>
  new UpstreamFailed('The backend gave no valid answer to a question', {
    again: true,
    validator: { [index]: 'the backend gave no valid answer' },
    cause,
  })

/** How a question is declined: by a refusal, or by an answer that begins with something else than a label. */
const refusals = {
  declined: 'the backend refused to answer',
  astray: 'the model answered beside the labels',
} as const
type Declined = keyof typeof refusals

/** The part of an answer in which the backend declines a question; the even probabilities say nothing. */
interface RefusedQuestion extends Distribution {
  readonly refused: Declined
}

/** A declined question with so many labels. */
export const refusal = (labels: number, refused: Declined = 'declined'): RefusedQuestion => ({
  probabilities: new Array<number>(labels).fill(1 / labels),
  refused,
})

export const isRefused = (answered: Distribution): answered is RefusedQuestion => 'refused' in answered

/** The fault of the first declined question, null where each is answered. Another try would end the same way, so none is made. */
export const refusedIn = (distributions: readonly Distribution[]): UpstreamFailed | null => {
  const index = distributions.findIndex(isRefused)
  const question = distributions[index]
  if (question === undefined || !isRefused(question)) return null
  return new UpstreamFailed('The backend refused a question', { validator: { [index]: refusals[question.refused] } })
}

/** The whole answer is in no known form. The next backend is tried. */
export const unreadable = (cause?: unknown): UpstreamFailed =>
  new UpstreamFailed('The backend answered in a form that is not known', { again: true, cause })

/** Counts as both public forms give them; none are marked as a guess. */
export const countsOf = (usage: ReadonlyMap<string, unknown> | null): Usage => {
  const count = (from: unknown, name: string) => {
    const value: unknown = from instanceof Map ? from.get(name) : undefined
    return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : null
  }
  const input = count(usage, 'input_tokens')
  const [read, made] = [usage?.get('input_tokens_details'), usage?.get('output_tokens_details')]
  const parts = {
    cached: count(read, 'cached_tokens'),
    written: count(read, 'cache_write_tokens'),
    reasoning: count(made, 'reasoning_tokens'),
  }
  return {
    input: input ?? 0,
    output: count(usage, 'output_tokens') ?? 0,
    ...Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens !== null && tokens > 0)),
    ...(input === null && { estimated: true }),
  }
}
