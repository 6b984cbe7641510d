/** The middle of some figures, and between which two of them the true one lies in 19 of 20 runs. */
export interface Interval {
  readonly middle: number
  readonly low: number
  readonly high: number
}

/** Fewer figures can't tell an interval of 95 %. */
export const fewest = 6

/** By ranks: one noisy round moves no end of it, and nothing is assumed of how figures are spread. */
export const intervalOf = (figures: readonly number[]): Interval => {
  if (figures.length < fewest) throw new Error(`An interval needs ${fewest} figures`)
  const sorted = figures.toSorted((a, b) => a - b)
  const rank = outer(sorted.length)
  const [low, high] = [sorted[rank]!, sorted[sorted.length - 1 - rank]!]
  const half = sorted.length >> 1
  const middle = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
  return { middle, low, high }
}

/** How many figures may be left out at either end: a fair coin falls so seldom on one side in at most 1 of 40 runs. */
const outer = (count: number): number => {
  let chance = 0.5 ** count
  let sum = chance
  let rank = 0
  while (sum <= 0.025) {
    rank++
    chance *= (count - rank + 1) / rank
    sum += chance
  }
  return rank - 1
}
