import t from 'tap'
import { seededFractions, randomHalves } from '../../../../../plugins/surfaces/console/browser/chance.ts'
import {
  binsOf,
  brier,
  calibrationError,
  errorByChance,
} from '../../../../../plugins/surfaces/console/browser/figures.ts'
import { plotOf } from '../../../../../adapters/production/commands/calibrate/plot.ts'
import { thresholdFor, upperBound } from '../../../../../plugins/surfaces/console/browser/promise.ts'
import { temperaturesOf } from '../../../../../adapters/production/commands/calibrate/temperatures.ts'
import { softened } from '../../../../../plugins/shared/decisions/calibration.ts'

t.test('a promise made with 95 % certainty holds in 88 of 100 draws at least', async (t) => {
  const wish = { errors: 0.2, certainty: 0.95 }
  // An answer is right as often as the square root of its confidence says: of those from c on, 1/(1-c) ∫ √x dx.
  const wrongFrom = (from: number): number => 1 - (2 / 3) * ((1 - from ** 1.5) / (1 - from))
  let [held, made] = [0, 0]
  for (let seed = 1; seed <= 100; seed++) {
    const fraction = seededFractions(seed)
    const answers = Array.from({ length: 2000 }, () => {
      const confidence = fraction()
      return { confidence, right: fraction() < Math.sqrt(confidence) }
    })
    const promise = thresholdFor(...randomHalves(answers, fraction), wish)
    if (promise !== null) made++
    if (promise === null || wrongFrom(promise.confidence) <= wish.errors) held++
  }
  t.ok(held >= 88, `${held} of 100 held`)
  t.ok(made >= 88, `${made} of 100 were made`)
})

t.test('nothing is promised of a model that is too often wrong, or of too few answers', async (t) => {
  const fraction = seededFractions(7)
  const answers = (count: number, share: number) =>
    Array.from({ length: count }, () => ({ confidence: fraction(), right: fraction() < share }))
  const wish = { errors: 0.05, certainty: 0.95 }
  t.equal(thresholdFor(answers(500, 0.7), answers(500, 0.7), wish), null)
  t.equal(thresholdFor(answers(40, 1), answers(40, 1), wish), null, '58 right answers prove less than 95 %')
  t.equal(thresholdFor(answers(200, 1), answers(200, 1), wish)?.wrong, 0)
})

t.test('bounds and figures are those of the textbook', async (t) => {
  // Clopper and Pearson, one-sided: with no error 1 - 0.05^(1/n).
  t.ok(Math.abs(upperBound(0, 59, 0.95) - (1 - 0.05 ** (1 / 59))) < 1e-6)
  t.ok(Math.abs(upperBound(5, 100, 0.95) - 0.10225) < 1e-4)
  t.equal(upperBound(0, 0, 0.95), 1)
  t.equal(upperBound(3, 3, 0.95), 1)
  const judged = [
    { probabilities: [0.95, 0.05], truth: 0 },
    { probabilities: [0.95, 0.05], truth: 1 },
  ]
  t.ok(Math.abs(calibrationError(judged) - 0.45) < 1e-9)
  t.ok(Math.abs(brier(judged) - (0.005 + 1.805) / 2) < 1e-9)
  const many = Array.from({ length: 400 }, () => ({ probabilities: [0.5, 0.5], truth: 0 }))
  const chance = errorByChance(many, seededFractions(1))
  t.ok(chance > 0.01 && chance < 0.03, `${chance}: the mean distance of 400 throws of a coin from a half is 0.02`)
  const svg = plotOf(binsOf(judged), binsOf(many))
  t.match(svg, /^<svg [^]*<\/svg>\n$/)
  t.notMatch(svg, 'NaN')
})

t.test('the temperature of a number of options is found where there are cases enough', async (t) => {
  const fraction = seededFractions(3)
  /** Claims that are too sure: the truth is drawn from what they claim at this temperature. */
  const tooSure = (options: number, temperature: number, count: number) =>
    Array.from({ length: count }, () => {
      const weights = Array.from({ length: options }, () => fraction() ** 3 + 1e-3)
      const probabilities = softened(weights, 1)
      let left = fraction()
      const truth = softened(probabilities, temperature).findIndex((share) => (left -= share) < 0)
      return { probabilities, truth: Math.max(0, truth) }
    })
  const { temperature, byOptions } = temperaturesOf([
    ...tooSure(2, 3, 1000),
    ...tooSure(5, 1.5, 1000),
    ...tooSure(7, 1.5, 49),
  ])
  t.same(Object.keys(byOptions), ['2', '5'])
  t.ok(Math.abs(Math.log(byOptions['2']! / 3)) < 0.3, `${byOptions['2']} for 3`)
  t.ok(Math.abs(Math.log(byOptions['5']! / 1.5)) < 0.2, `${byOptions['5']} for 1.5`)
  t.ok(temperature > byOptions['5']! && temperature < byOptions['2']!)
  t.same(
    randomHalves([1, 2, 3, 4, 5], seededFractions(2)),
    randomHalves([1, 2, 3, 4, 5], seededFractions(2)),
    'a seed draws the same halves',
  )
})
