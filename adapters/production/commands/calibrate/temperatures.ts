import { type Judged, mean } from '../../../../plugins/surfaces/console/browser/figures.ts'
import { softened } from '../../../../plugins/shared/decisions/calibration.ts'
import type { Calibration } from '../../../../plugins/shared/decisions/settings.ts'

type Temperatures = Pick<Calibration, 'temperature' | 'byOptions'>

/** With fewer cases a number of options takes the temperature of all. */
const leastCases = 50
/** A probability of 0 would make one wrong answer infinitely surprising. */
const leastProbability = 1e-9
/** Logarithms, since halving and doubling a temperature are steps of equal size. */
const [coldest, hottest] = [Math.log(0.05), Math.log(20)]

/** The mean surprise at the right answers, in nats. */
export const surprise = (judged: readonly Judged[], temperature = 1): number =>
  mean(
    judged.map(
      ({ probabilities, truth }) => -Math.log(Math.max(leastProbability, softened(probabilities, temperature)[truth]!)),
    ),
  )

/** What makes the right answers least surprising: the surprise has one valley in the inverse of the temperature. */
const fittedTemperature = (judged: readonly Judged[]): number => {
  const golden = (Math.sqrt(5) - 1) / 2
  const at = (heat: number) => surprise(judged, Math.exp(heat))
  let [low, high] = [coldest, hottest]
  while (high - low > 1e-4) {
    const [left, right] = [high - golden * (high - low), low + golden * (high - low)]
    if (at(left) < at(right)) high = right
    else low = left
  }
  return Number(Math.exp((low + high) / 2).toFixed(3))
}

/** One temperature for each number of options with cases enough, and one of all for the others. */
export const temperaturesOf = (judged: readonly Judged[]): Temperatures => {
  const sizes = new Map<number, Judged[]>()
  for (const answer of judged) {
    const some = sizes.get(answer.probabilities.length) ?? []
    some.push(answer)
    sizes.set(answer.probabilities.length, some)
  }
  const own = [...sizes].filter(([, some]) => some.length >= leastCases)
  return {
    temperature: fittedTemperature(judged),
    byOptions: Object.fromEntries(own.map(([size, some]) => [size, fittedTemperature(some)])),
  }
}
