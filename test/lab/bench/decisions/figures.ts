/** One decision beside what is right. */
export interface Judged {
  readonly probabilities: readonly number[]
  readonly truth: number
  /** The place of the answer when the labels stood the other way round, counted in the first order; null when not asked. */
  readonly turned: number | null
  readonly mass: number | null
  readonly ms: number
}

export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

export const best = (probabilities: readonly number[]): number => probabilities.indexOf(Math.max(...probabilities))

const right = ({ probabilities, truth }: Judged): number => (best(probabilities) === truth ? 1 : 0)

export const accuracy = (judged: readonly Judged[]): number => mean(judged.map(right))

/** The squared distance to the truth over all labels: 0 is perfect, 2 is sure of the wrong one. */
export const brier = (judged: readonly Judged[]): number =>
  mean(
    judged.map(({ probabilities, truth }) =>
      probabilities.reduce((sum, p, place) => sum + (p - (place === truth ? 1 : 0)) ** 2, 0),
    ),
  )

/** How far the winner's probability is from how often it is right, over ten equal bins. */
export const calibrationError = (judged: readonly Judged[]): number =>
  Array.from({ length: 10 }, (_, bin) => bin)
    .map((bin) =>
      judged.filter(({ probabilities }) => Math.min(9, Math.floor(Math.max(...probabilities) * 10)) === bin),
    )
    .filter((some) => some.length > 0)
    .map((some) => {
      const claimed = mean(some.map(({ probabilities }) => Math.max(...probabilities)))
      return (some.length / judged.length) * Math.abs(claimed - accuracy(some))
    })
    .reduce((sum, value) => sum + value, 0)

/** The share of answers that the order of the labels changed; null when the order was never turned. */
export const flips = (judged: readonly Judged[]): number | null => {
  const turned = judged.filter((verdict) => verdict.turned !== null)
  return turned.length === 0
    ? null
    : mean(turned.map((verdict) => (verdict.turned === best(verdict.probabilities) ? 0 : 1)))
}

export const massOf = (judged: readonly Judged[]): number | null => {
  const masses = judged.flatMap(({ mass }) => mass ?? [])
  return masses.length === 0 ? null : mean(masses)
}

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
