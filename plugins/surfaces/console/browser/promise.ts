/** An answer by its confidence, and whether it is right. */
export interface ScoredAnswer {
  readonly confidence: number
  readonly right: boolean
}

export interface PromiseOptions {
  /** The most that may be wrong of the answers that are taken automatically. */
  readonly errors: number
  /** How surely the promise shall hold. */
  readonly certainty: number
}

export interface KeptPromise {
  /** Answers of at least this confidence are taken. */
  readonly confidence: number
  /** Of the held-out answers: how many are taken, and how many of those are wrong. */
  readonly automated: number
  readonly wrong: number
}

const steps = 20

/** The chance of at most so many successes in so many tries. */
const atMost = (successes: number, tries: number, chance: number): number => {
  if (successes >= tries || chance <= 0) return 1
  if (chance >= 1) return 0
  let log = tries * Math.log1p(-chance)
  let sum = Math.exp(log)
  for (let wins = 0; wins < successes; wins++) {
    log += Math.log(((tries - wins) / (wins + 1)) * (chance / (1 - chance)))
    sum += Math.exp(log)
  }
  return Math.min(1, sum)
}

/** Clopper and Pearson's upper bound of a share. */
export const upperBound = (wrong: number, tries: number, certainty: number): number => {
  let [low, high] = [tries === 0 ? 1 : wrong / tries, 1]
  while (high - low > 1e-9) {
    const middle = (low + high) / 2
    if (atMost(wrong, tries, middle) > 1 - certainty) low = middle
    else high = middle
  }
  return high
}

const taken = (some: readonly ScoredAnswer[], from: number) => {
  const these = some.filter(({ confidence }) => confidence >= from)
  return { tries: these.length, wrong: these.filter(({ right }) => !right).length }
}

/** What answers of at least this confidence have kept, and whether that proves the promise. */
export interface CheckedPromise extends KeptPromise {
  /** The share of errors that the answers leave possible. */
  readonly atMost: number
  readonly kept: boolean
}

/** Whether a confidence keeps the promise among answers that nothing was fitted to. */
export const checkedPromise = (
  answers: readonly ScoredAnswer[],
  confidence: number,
  { errors, certainty }: PromiseOptions,
): CheckedPromise => {
  const { tries, wrong } = taken(answers, confidence)
  const atMost = upperBound(wrong, tries, certainty)
  const shares = { automated: tries / answers.length, wrong: tries === 0 ? 0 : wrong / tries }
  return { confidence, ...shares, atMost, kept: atMost <= errors }
}

/** Thresholds by which about a twentieth of the answers, two, … and all are taken, in four digits: from the surest down. */
const thresholdsOf = (fit: readonly ScoredAnswer[]): readonly number[] => {
  const sorted = fit.map(({ confidence }) => confidence).sort((one, other) => other - one)
  const places = Array.from({ length: steps }, (_, step) => Math.ceil(((step + 1) * sorted.length) / steps) - 1)
  return [...new Set(places.map((place) => Math.floor(sorted[place]! * 1e4) / 1e4))]
}

/**
 * The lowest threshold that keeps the promise; null where none does. The fitted half alone says where the search begins
 * and in which order it goes on, so the held-out half may be asked until the first refusal without spoiling the certainty.
 */
export const thresholdFor = (
  fit: readonly ScoredAnswer[],
  held: readonly ScoredAnswer[],
  { errors, certainty }: PromiseOptions,
): KeptPromise | null => {
  const doubts = thresholdsOf(fit).map((from) => {
    const { tries, wrong } = taken(fit, from)
    return { from, doubt: atMost(wrong, tries, errors) }
  })
  const surest = Math.min(...doubts.map(({ doubt }) => doubt))
  const first = doubts.findIndex(({ doubt }) => doubt === surest)
  let kept: KeptPromise | null = null
  for (const { from } of doubts.slice(first)) {
    const { tries, wrong } = taken(held, from)
    if (upperBound(wrong, tries, certainty) > errors) break
    kept = { confidence: from, automated: tries / held.length, wrong: wrong / tries }
  }
  return kept
}
