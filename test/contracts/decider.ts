import { deepEqual, ok, rejects } from 'node:assert/strict'
import type { DecideCall, Question, Upstream } from '../../core/ports/upstream.ts'
import { type Contract, proof } from './contract.ts'

/** A backend that decides by itself, and the model to ask. */
export interface Decider {
  readonly upstream: Upstream
  readonly model: string
}

const questions: readonly Question[] = [
  {
    type: 'choice',
    instructions: 'What does the customer want?',
    options: [
      { label: 'refund', description: 'wants the money back' },
      { label: 'information', description: 'asks how something works' },
      { label: 'thanks', description: 'is happy and says so' },
    ],
  },
  { type: 'noul', instructions: 'Is the customer angry?', yes: null, no: null },
  { type: 'score', instructions: 'How urgent is it?', levels: ['not at all', 'soon', 'at once'] },
]
const lengths = [3, 2, 3]

const call = (model: string, asked: readonly Question[] = questions): DecideCall => ({
  model,
  state: 'The parcel never came. I want my money back today.',
  questions: asked,
  images: [],
  samples: null,
  steps: null,
})

const decide = async (
  { upstream, model }: Decider,
  asked?: readonly Question[],
  signal = AbortSignal.timeout(60_000),
) => upstream.decide!(call(model, asked), signal)

const contract = {
  'lists the model that decides': async (fresh) => {
    const { upstream, model } = await fresh()
    ok(
      (await upstream.models(AbortSignal.timeout(60_000))).some(({ id }) => id === model),
      'is listed',
    )
  },
  'gives one distribution a question, one number a label, summing to one': async (fresh) => {
    const { distributions } = await decide(await fresh())
    deepEqual(
      distributions.map(({ probabilities }) => probabilities.length),
      lengths,
    )
    for (const { probabilities } of distributions) {
      ok(
        probabilities.every((probability) => probability >= 0 && probability <= 1),
        'between 0 and 1',
      )
      ok(Math.abs(probabilities.reduce((sum, probability) => sum + probability, 0) - 1) < 1e-6, 'sums to one')
    }
  },
  'counts in whole numbers and names its engine': async (fresh) => {
    const { usage, engine } = await decide(await fresh())
    ok(Number.isInteger(usage.input) && Number.isInteger(usage.output), 'whole numbers')
    ok(engine.length > 0, 'an engine')
  },
  'answers a question the same, whatever stands beside it': async (fresh) => {
    const decider = await fresh()
    const whole = (await decide(decider)).distributions
    const turned = (await decide(decider, [...questions].reverse())).distributions
    for (const [at, question] of questions.entries()) {
      const [alone] = (await decide(decider, [question])).distributions
      deepEqual(alone!.probabilities, whole[at]!.probabilities, 'alone')
      deepEqual(turned[questions.length - 1 - at]!.probabilities, whole[at]!.probabilities, 'in another order')
    }
  },
  'stops when it is told to': async (fresh) => {
    const reason = new Error('left')
    await rejects(decide(await fresh(), questions, AbortSignal.abort(reason)), (error) => error === reason)
  },
} satisfies Contract<Decider>

const even = (count: number) => Array.from({ length: count }, () => 1 / count)

const right = (): Decider => ({
  model: 'even',
  upstream: {
    name: 'even',
    models: async () => [{ id: 'even', type: 'DECISION' }],
    async decide({ questions: asked }, signal) {
      signal.throwIfAborted()
      const distributions = asked.map((request) => ({
        probabilities: even(
          request.type === 'choice' ? request.options.length : request.type === 'score' ? request.levels.length : 2,
        ),
      }))
      return { distributions, usage: { input: asked.length, output: 0 }, engine: 'even' }
    },
  },
})

type Decide = NonNullable<Upstream['decide']>

const changed = (change: (decide: Decide) => Decide) => (decider: Decider) => ({
  upstream: { ...decider.upstream, decide: change(decider.upstream.decide!) },
})

export const decider = proof<Decider, typeof contract>({
  contract,
  right,
  wrong: {
    'lists the model that decides': () => ({ model: 'unlisted' }),
    'gives one distribution a question, one number a label, summing to one': changed((decide) => async (...asked) => {
      const decided = await decide(...asked)
      return { ...decided, distributions: decided.distributions.map(() => ({ probabilities: [0.5, 0.6] })) }
    }),
    'counts in whole numbers and names its engine': changed((decide) => async (...asked) => ({
      ...(await decide(...asked)),
      usage: { input: 1.5, output: 0 },
    })),
    'answers a question the same, whatever stands beside it': changed((decide) => async (asked, signal) => {
      const decided = await decide(asked, signal)
      const first = decided.distributions[0]!.probabilities.map((_, at) => (at === asked.questions.length - 1 ? 1 : 0))
      return { ...decided, distributions: [{ probabilities: first }, ...decided.distributions.slice(1)] }
    }),
    'stops when it is told to': changed((decide) => (asked) => decide(asked, new AbortController().signal)),
  },
})
