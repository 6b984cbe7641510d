import { seededFractions } from './chance.ts'

/** Probabilities of one question beside the place of its right answer. */
export interface Judged {
  readonly probabilities: readonly number[]
  readonly truth: number
}

export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

const greatest = ({ probabilities }: Judged): number => Math.max(...probabilities)

export const isRight = (judged: Judged): boolean => judged.probabilities.indexOf(greatest(judged)) === judged.truth

const accuracy = (judged: readonly Judged[]): number => mean(judged.map((answer) => Number(isRight(answer))))

/** The squared distance to the truth over all labels: 0 is perfect, 2 is sure of the wrong one. */
export const brier = (judged: readonly Judged[]): number =>
  mean(
    judged.map(({ probabilities, truth }) =>
      probabilities.reduce((sum, p, place) => sum + (p - (place === truth ? 1 : 0)) ** 2, 0),
    ),
  )

/** Answers that claim about the same. */
export interface Bin {
  /** The mean of their greatest probabilities, and how many of them are right. */
  readonly claimed: number
  readonly right: number
  /** Of all answers. */
  readonly share: number
}

const bins = 10

const binned = (answers: readonly (readonly [claimed: number, right: number])[]): readonly Bin[] =>
  Array.from({ length: bins }, (_, bin) =>
    answers.filter(([claimed]) => Math.min(bins - 1, Math.floor(claimed * bins)) === bin),
  )
    .filter(({ length }) => length > 0)
    .map((some) => ({
      claimed: mean(some.map(([claimed]) => claimed)),
      right: mean(some.map(([, right]) => right)),
      share: some.length / answers.length,
    }))

const gap = (some: readonly Bin[]): number =>
  some.reduce((sum, { claimed, right, share }) => sum + share * Math.abs(claimed - right), 0)

/** Ten of equal width; empty ones are left out. */
export const binsOf = (judged: readonly Judged[]): readonly Bin[] =>
  binned(judged.map((answer) => [greatest(answer), Number(isRight(answer))]))

/** How far claims are from how often they are right: the ECE. */
export const calibrationError = (judged: readonly Judged[]): number => gap(binsOf(judged))

const rounds = 200

/** The error that these claims show where every one is true: with few answers chance alone makes one. */
export const errorByChance = (judged: readonly Judged[], fraction: () => number): number => {
  const claims = judged.map(greatest)
  const drawn = () => gap(binned(claims.map((claim) => [claim, Number(fraction() < claim)])))
  return mean(Array.from({ length: rounds }, drawn))
}

export interface Figures {
  readonly accuracy: number
  /** How far claims are from how often they are right. */
  readonly ece: number
  readonly byChance: number
  /** The error above that of chance. */
  readonly excess: number
  readonly brier: number
  readonly bins: readonly Bin[]
}

/** All figures of some answers; the seed draws the error by chance. */
export const figuresOf = (judged: readonly Judged[], seed: number): Figures => {
  const [ece, byChance] = [calibrationError(judged), errorByChance(judged, seededFractions(seed))]
  return {
    accuracy: accuracy(judged),
    ece,
    byChance,
    excess: Math.max(0, ece - byChance),
    brier: brier(judged),
    bins: binsOf(judged),
  }
}
