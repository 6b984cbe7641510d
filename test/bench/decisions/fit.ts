import { decideBySimilarity } from '../../../core/inference/embeddings/similarity.ts'
import { parseDecision } from '../../../core/dialects/typed-decision.ts'
import { readOrdered } from '../../../core/dialects/json.ts'
import { use } from '../../../core/plugin.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import useLite, { temperatures } from '../../../plugins/providers/use-lite.ts'
import { fitted } from '../../helpers.ts'
import { mean } from './figures.ts'
import { itemsOf, truthOf } from './set.ts'

/** Finds for each type of question the temperature under which the right answers of the fitting part are likeliest. */
const alike = { choice: 1, noul: 1, score: 1 }
const container = fitted(use(useLite))
const [upstream] = container.supply({ upstreams: Upstream }).upstreams
const { signal } = new AbortController()
const embed = async (texts: readonly string[], signal: AbortSignal) =>
  (await upstream!.embed!({ model: 'use-lite-embedding', texts }, signal)).vectors

interface Seen {
  readonly type: keyof typeof alike
  /** Similarities but for a constant. */
  readonly near: readonly number[]
  readonly truth: number
}

const seen: Seen[] = []
for (const item of await itemsOf('fit')) {
  const { state, question } = item
  const request = parseDecision(readOrdered(JSON.stringify({ model: '-', state, questions: { asked: question } })))
  const call = { ...request, questions: request.questions.map(({ question }) => question) }
  const { distributions } = await decideBySimilarity(embed, alike, call, signal)
  seen.push({ type: question.type, near: distributions[0]!.probabilities.map(Math.log), truth: truthOf(item) })
}
await container.dispose()

/** The mean surprise at the right answers. */
const loss = (some: readonly Seen[], temperature: number): number =>
  mean(
    some.map(({ near, truth }) => {
      const most = Math.max(...near)
      const sum = near.reduce((sum, it) => sum + Math.exp((it - most) / temperature), 0)
      return Math.log(sum) - (near[truth]! - most) / temperature
    }),
  )

const grid = Array.from({ length: 400 }, (_, at) => 0.005 * 1.01 ** at)
for (const type of ['choice', 'noul', 'score'] as const) {
  const some = seen.filter((it) => it.type === type)
  const fit = grid.reduce((best, it) => (loss(some, it) < loss(some, best) ? it : best))
  console.log(
    `${type}: ${fit.toFixed(4)} (loss ${loss(some, fit).toFixed(4)}); in use ${temperatures[type]} (loss ${loss(some, temperatures[type]).toFixed(4)})`,
  )
}
