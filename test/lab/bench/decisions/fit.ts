import { readOrdered } from '../../../../core/dialects/json.ts'
import { parseDecision } from '../../../../plugins/shared/decisions/typed-decision.ts'
import { nearnessOf, signsOf, type Embed } from '../../../../plugins/providers/shared/similarity.ts'
import { use } from '../../../../core/plugin.ts'
import { Upstream } from '../../../../core/ports/upstream.ts'
import useLite, { fit } from '../../../../plugins/providers/use-lite.ts'
import { fitted } from '../../../fitted.ts'
import { mean } from './figures.ts'
import { itemsOf, truthOf } from './set.ts'

/** Prints what makes the right answers of the fitting part likeliest; what is in use stands in the plugin. */
const container = fitted(use(useLite))
const [upstream] = container.supply({ upstreams: Upstream }).upstreams
const embed: Embed = async (texts, signal) =>
  (await upstream!.embed!({ model: 'use-lite-embedding', texts }, signal)).vectors

interface Seen {
  readonly near: readonly number[]
  readonly truth: number
}

/** Signs for yes, and 1 where yes is right. */
interface Sign {
  readonly signs: readonly number[]
  readonly yes: number
}

const scales: Readonly<Record<'choice' | 'score', Seen[]>> = { choice: [], score: [] }
const signs: Sign[] = []
for (const item of await itemsOf('fit')) {
  const { state, question } = item
  const request = parseDecision(readOrdered(JSON.stringify({ model: '-', state, questions: { asked: question } })))
  const asked = request.questions[0]!.question
  const call = { state: request.state, questions: [asked] }
  const [near] = await nearnessOf(embed, call, new AbortController().signal)
  const truth = truthOf(item)
  if (asked.type === 'noul') signs.push({ signs: signsOf(asked, near!, request.state), yes: 1 - truth })
  else scales[asked.type].push({ near: near!, truth })
}
await container.dispose()

/** The mean surprise at the right answers. */
const loss = (some: readonly Seen[], temperature: number): number =>
  mean(
    some.map(({ near, truth }) => {
      const most = Math.max(...near)
      const sum = near.reduce((sum, value) => sum + Math.exp((value - most) / temperature), 0)
      return Math.log(sum) - (near[truth]! - most) / temperature
    }),
  )

const grid = Array.from({ length: 400 }, (_, at) => 0.005 * 1.01 ** at)
for (const type of ['choice', 'score'] as const) {
  const best = grid.reduce((best, value) => (loss(scales[type], value) < loss(scales[type], best) ? value : best))
  console.log(`${type}: ${best.toFixed(4)}, in use ${fit[type]}`)
}

/** Holds the weights back, since there are few examples for each. */
const ridge = 0.05
const step = 0.2
let weights = [0, 0, 0, 0]
for (let round = 0; round < 50_000; round++) {
  const pull = weights.map((weight) => (ridge * weight) / signs.length)
  for (const { signs: own, yes } of signs) {
    const odds = own.reduce((sum, sign, at) => sum + sign * weights[at]!, 0)
    own.forEach((sign, at) => (pull[at]! += ((1 / (1 + Math.exp(-odds)) - yes) * sign) / signs.length))
  }
  weights = weights.map((weight, at) => weight - step * pull[at]!)
}
console.log(`noul: ${weights.map((weight) => weight.toFixed(2)).join(', ')}, in use ${fit.noul.join(', ')}`)
