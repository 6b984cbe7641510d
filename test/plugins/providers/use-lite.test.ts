import { createRequire } from 'node:module'
import t from 'tap'
import { UpstreamFailed } from '../../../core/errors.ts'
import { answersOf } from '../../../plugins/providers/shared/similarity.ts'
import { embedIn } from '../../../plugins/providers/use-lite/thread.ts'
import { use } from '../../../core/plugin.ts'
import { Upstream, type DecideCall, type Question } from '../../../core/ports/upstream.ts'
import useLite from '../../../plugins/providers/use-lite.ts'
import { conform } from '../../contracts/contract.ts'
import { decider } from '../../contracts/decider.ts'
import { fitted } from '../../fitted.ts'
import { never } from '../../fakes/vendor.ts'
import { turnsDuring } from '../../turns-during.ts'

const container = fitted(use(useLite))
const upstream = container.supply({ upstreams: Upstream }).upstreams[0]!
t.teardown(() => container.dispose())

const decide = (state: DecideCall['state'], questions: readonly Question[], more: Partial<DecideCall> = {}) =>
  upstream.decide!({ model: 'use-lite', state, questions, images: [], samples: null, steps: null, ...more }, never)

const team: Question & { readonly type: 'choice' } = {
  type: 'choice',
  instructions: 'Which team should answer?',
  options: [
    { label: 'billing', description: 'invoices, charges and refunds' },
    { label: 'shipping', description: 'parcels and delivery' },
    { label: 'garden', description: null },
  ],
}
const refund: Question = { type: 'noul', instructions: 'Does the customer ask for a refund?', yes: null, no: null }
const pets: Question = { type: 'noul', instructions: 'Pets?', yes: 'animals are welcome', no: 'animals are forbidden' }
const heat: Question = { type: 'score', instructions: 'How hot is it?', levels: ['freezing cold', 'mild', 'very hot'] }
const questions = [team, refund, pets, heat]
const state = 'You charged me twice. Please give me my money back.'

t.test('the provider keeps the contract of deciders', (t) =>
  conform(t, decider.contract, () => ({ upstream, model: 'use-lite' })),
)

t.test('the list has a model that decides and a model that embeds', async (t) => {
  t.match(await upstream.models(never), [
    { id: 'use-lite', type: 'DECISION' },
    { id: 'use-lite-embedding', type: 'EMBEDDING' },
  ])
  await t.rejects(upstream.models(AbortSignal.abort(new Error('enough'))), { message: 'enough' })
})

t.test('embeddings are unit vectors, repeat, and are near for texts of one meaning', async (t) => {
  const texts = ['The cat sleeps on the sofa.', 'A kitten naps on the couch.', 'Interest rates rose again.', '', ' ']
  const call = { model: 'use-lite-embedding', texts }
  const { vectors, usage } = await upstream.embed!(call, never)
  t.equal(vectors.length, texts.length)
  for (const vector of vectors) {
    t.equal(vector.length, 512)
    t.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5)
  }
  const like = (a: number, b: number) => vectors[a]!.reduce((sum, value, at) => sum + value * vectors[b]![at]!, 0)
  t.ok(like(0, 1) > like(0, 2) + 0.2)
  t.same((await upstream.embed!(call, never)).vectors, vectors)
  t.match(usage, { output: 0, estimated: true })
  t.ok(usage.input > 10)
  t.same((await upstream.embed!({ ...call, texts: [] }, never)).vectors, [])
  await t.rejects(upstream.embed!({ ...call, dimensions: 256 }, never), { name: 'BadRequest', status: 400 })
})

t.test('the event loop stays free while 64 texts are embedded', async (t) => {
  const texts = Array.from({ length: 64 }, (_, at) => `Order ${at} has not arrived, and nobody answers my letters.`)
  const turns = await turnsDuring(() => upstream.embed!({ model: 'use-lite-embedding', texts }, never))
  t.ok(turns > 1_000, `${turns} turns of the loop`)
})

t.test('plain questions get the right answer', async (t) => {
  const { distributions, engine, usage, ignored } = await decide(state, questions)
  t.equal(engine, 'embeddings')
  t.equal(ignored, undefined)
  t.match(usage, { output: 0, estimated: true })
  t.same(
    distributions.map(({ probabilities }) => probabilities.length),
    [3, 2, 2, 3],
  )
  for (const { probabilities } of distributions) {
    t.ok(Math.abs(probabilities.reduce((sum, probability) => sum + probability, 0) - 1) < 1e-12)
    t.ok(probabilities.every((p) => p >= 0 && p <= 1))
  }
  t.ok(distributions[0]!.probabilities[0]! > 0.6, 'billing')
  t.ok(distributions[1]!.probabilities[0]! > 0.5, 'a refund')
  const [, , dogs, frost] = (await decide('No dogs in the house. The lake is frozen.', questions)).distributions
  t.ok(dogs!.probabilities[0]! < 0.5)
  t.ok(frost!.probabilities[0]! > 0.5)
  const both = await decide(state, [team], { samples: 4, steps: 2 })
  t.same(both.ignored, ['samples', 'steps'])
  t.same(both.distributions, distributions.slice(0, 1))
})

t.test('order, other questions and structure change no answer', async (t) => {
  const { distributions } = await decide(state, questions)
  t.same((await decide(state, questions.toReversed())).distributions, distributions.toReversed())
  for (const [at, question] of questions.entries()) {
    t.same((await decide(state, [question])).distributions, [distributions[at]])
  }
  const turned = (await decide(state, [{ ...team, options: team.options.toReversed() }])).distributions[0]!
    .probabilities
  turned.toReversed().forEach((p, at) => t.ok(Math.abs(p - distributions[0]!.probabilities[at]!) < 1e-4))
  const fields = new Map([
    ['10', 'You charged me twice'],
    ['2', 'Please give me my money back'],
  ])
  t.same(
    (await decide(fields, [team])).distributions,
    (await decide('10: You charged me twice. 2: Please give me my money back', [team])).distributions,
  )
})

t.test('a long state counts to its end, and every state has an answer', async (t) => {
  const long = 'The weather was as usual and nothing else happened on that day. '.repeat(10)
  const [before] = (await decide(long, [team])).distributions
  const [after] = (await decide(long + 'The parcel was not delivered to my door. '.repeat(15), [team])).distributions
  t.ok(after!.probabilities[1]! > before!.probabilities[1]! + 0.1)
  for (const odd of [null, '', 7, true, [], new Map(), 'x'.repeat(4800), '\u{1f600}'.repeat(2400)]) {
    const { distributions } = await decide(odd, [team, refund])
    t.ok(distributions.every(({ probabilities }) => probabilities.every(Number.isFinite)))
  }
})

t.test('a state beyond the window is refused, and nothing of it is cut off', (t) =>
  t.rejects(decide('x'.repeat(4801), [team]), {
    name: 'BadRequest',
    code: 'context_length_exceeded',
    validator: { state: 'expected 4800 characters at most for this model' },
  }),
)

t.test('a question becomes statements', async (t) => {
  t.same(answersOf(refund), ['the customer ask for a refund', 'does not the customer ask for a refund'])
  t.same(answersOf({ ...refund, instructions: 'Is it late?' }), ['it late is', 'is not it late'])
  t.same(answersOf({ ...refund, instructions: 'It is late.' }), ['It is late.', 'It is not true: It is late.'])
  t.same(answersOf(pets), ['animals are welcome', 'animals are forbidden'])
  t.equal(answersOf(team)[2], 'Which team should answer: garden')
  t.same(answersOf({ type: 'score', instructions: null, levels: [null, new Map([['a', 1]])] }), ['0', 'a: 1'])
})

t.test('images are the caller’s mistake', (t) =>
  t.rejects(decide(state, [team], { images: ['data:image/png;base64,AA=='] }), {
    name: 'BadRequest',
    validator: { images: 'expected none for this model' },
  }),
)

t.test('a caller that leaves gets its reason at once, and no other caller waits longer', async (t) => {
  const controller = new AbortController()
  const texts = Array.from({ length: 200 }, (_, at) => `Something about number ${at}`)
  const work = upstream.embed!({ model: 'use-lite-embedding', texts }, controller.signal)
  const reason = new Error('enough')
  setImmediate(() => controller.abort(reason))
  await t.rejects(work, reason)
  t.equal((await decide(state, [team])).distributions.length, 1)
})

t.test('the refusal names a missing package', async (t) => {
  const module = createRequire(import.meta.url)('node:module') as { _resolveFilename(...from: unknown[]): string }
  const resolve = module._resolveFilename
  t.teardown(() => (module._resolveFilename = resolve))
  for (const absent of ['core', 'embeddings', 'model-embeddings-en'].map((text) => `@energetic-ai/${text}`)) {
    module._resolveFilename = (name, ...more) => {
      if (name === absent) throw Object.assign(new Error('not there'), { code: 'MODULE_NOT_FOUND' })
      return resolve(name, ...more)
    }
    const fault = { name: 'UpstreamFailed', message: new RegExp(absent), again: false }
    await t.rejects(upstream.models(never), fault)
    await t.rejects(decide(state, [team]), fault)
    await t.rejects(upstream.embed!({ model: 'use-lite-embedding', texts: ['x'] }, never), fault)
  }
})

t.test('a crashed thread loses one batch, and a full queue refuses texts', async (t) => {
  const code = `const { parentPort } = require("node:worker_threads")
  parentPort.on('message', ({ texts }) => {
    if (texts[0] === 'exit') process.exit(3)
    if (texts[0] === 'throw') throw new Error('thrown')
    const answer = texts[0] === 'fail' ? { fault: 'failed' } : { vectors: new Float32Array(texts.length * 2).fill(1) }
    setTimeout(() => parentPort.postMessage(answer), 5)
  })`
  const thread = embedIn(code, import.meta.url)
  const fine = () => thread.embed(['a', 'b'], never)
  const failed = { name: 'UpstreamFailed', message: 'The embedding failed', again: true }
  for (const end of ['exit', 'throw', 'fail']) {
    const [bad, good] = await Promise.allSettled([thread.embed([end], never), fine()])
    t.match(bad, { status: 'rejected', reason: failed })
    t.match(good, { status: 'fulfilled', value: [{ length: 2 }, { length: 2 }] })
  }
  const first = fine()
  const waiting = [fine(), thread.embed(Array<string>(2040).fill('x'), never)]
  const full = { name: 'UpstreamFailed', again: true, retryAfter: 1000 }
  await t.rejects(thread.embed(Array<string>(20).fill('x'), never), full)
  await Promise.all([first, ...waiting])
  t.equal((await fine()).length, 2)
  const cut = thread.embed(['a'], never)
  await Promise.all([t.rejects(cut, failed), thread.dispose()])
  await t.rejects(fine(), UpstreamFailed)
  await t.rejects(thread.embed(['a'], AbortSignal.abort(new Error('enough'))), { message: 'enough' })
})
