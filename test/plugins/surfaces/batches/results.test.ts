import t from 'tap'
import type { Pace } from '../../../../core/dialects/loop-time.ts'
import { candidateOf, entryOf } from '../../../../core/inference/models/catalog-entry.ts'
import { billedBatch, usedInResults } from '../../../../plugins/surfaces/batches/results.ts'
import { actor } from '../../../fakes/backends.ts'
import { checkedModel } from '../../../fakes/checked-settings.ts'
import { bookedWork } from '../../guards/booked-work.ts'

const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 }
const used = () => usage

async function* results(count: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < count; at++) yield Buffer.from(`${JSON.stringify({ at, usage })}\n`)
}

t.test('what reading results takes is booked to their reader', async (t) => {
  const work = bookedWork()
  t.match(await usedInResults(results(100), { used }, work.pace), [{ calls: 100, input: 1_000, output: 100 }])
  t.ok(work.ns() > 100 * 1_000, `${work.ns()} ns, by bytes and members`)
})

t.test('results of a reader who owes time wait for their turns', async (t) => {
  let turns = 0
  const pace: Pace = { spend: () => new Promise((resolve) => setImmediate(() => resolve(void turns++))) }
  await usedInResults(results(20), { used }, pace)
  t.equal(turns, 20)
})

t.test('a batch has the price of the model that gets it, of several that one backend has', (t) => {
  const [vendor, other] = [actor('a', []), actor('b', [])]
  const entry = entryOf('m', checkedModel({ upstreams: [{ provider: 'a' }] }), [
    candidateOf(other, 'large', { priority: 1 }),
    candidateOf(vendor, 'small', { priority: 2 }),
    candidateOf(vendor, 'large', { priority: 3 }),
  ])
  t.match(billedBatch(entry, 'a'), { candidates: [{ id: 'a/small' }], terms: 'batch' })
  t.equal(billedBatch(entry, 'a').candidates?.length, 1)
  t.end()
})
