import t from 'tap'
import type { Pace } from '../../../../core/dialects/loop-time.ts'
import { entryOf } from '../../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from '../../../../plugins/shared/models/candidate.ts'
import { Unavailable } from '../../../../core/errors.ts'
import type { MetadataStore } from '../../../../core/ports/metadata-store.ts'
import type { RequestRecord } from '../../../../core/ports/observer.ts'
import type { Given } from '../../../../plugins/surfaces/batches/needs.ts'
import { billedBatch, bookResults, usedInResults } from '../../../../plugins/surfaces/batches/results.ts'
import { type KeptThing, things } from '../../../../plugins/surfaces/batches/rows.ts'
import { system } from '../../../../adapters/memory/platform.ts'
import { recoveredAccount } from '../../../../plugins/usage/usage-account.ts'
import { UsageJournal } from '../../../../plugins/usage/usage-journal.ts'
import { actor } from '../../../fakes/backends.ts'
import { checkedModel } from '../../../fakes/checked-settings.ts'
import { metered, payer } from '../../../fakes/metered.ts'
import { given } from '../../../fitted.ts'
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

/** A batch with results, whose process writes its counts into a journal. */
const finishedBatch = async () => {
  const lines: string[] = []
  const journal = {
    append: (some: string) => void lines.push(...some.trimEnd().split('\n')),
    ...{ replace() {}, beat: () => true, remove() {} },
  }
  const journals = given(UsageJournal, 'lines', () => ({ lasting: true, open: () => journal, take: () => null }))
  const models = { m: { upstreams: [{ provider: 'a' }] } }
  const { rows, catalog, meter, dispose } = metered([actor('a', [])], { models }, undefined, journals)
  const row: KeptThing = {
    ...{ organization: 'org_1', user: 'u', role: 'file', dialect: 'openai', provider: 'a', model: 'm' },
    ...{ endpoint: null, batch: 'batch', at: '1', booked: 0 },
  }
  await rows.create(things, 'output', row)
  await rows.create(things, 'batch', { ...row, role: 'batch', batch: null })
  const all = [
    { input: 10, output: 2, calls: 2 },
    { input: 40_000, output: 1 },
  ]
  return {
    rows,
    dispose,
    /** Requests that the next process counts where this one is killed now. */
    counted(): number {
      const sheets = recoveredAccount({ journal, lines: [...lines] }, () => undefined)?.account.book.sheets ?? new Map()
      return [...sheets].reduce(
        (sum, [name, { deltas }]) => sum + (name.startsWith('key:') ? deltas['requests'] : 0),
        0,
      )
    },
    book: (update: MetadataStore['update']) =>
      bookResults(
        {
          catalog,
          meter,
          store: { ...rows, update },
          clock: { ...system.clock, sleep: async () => {} },
          random: system.random,
        } as unknown as Given,
        { caller: payer, id: 'output', row, record: { tokens: 0 } as RequestRecord },
        all,
        new AbortController().signal,
      ),
  }
}

t.test('a batch is in the books once at most, whenever its process is killed', async (t) => {
  const { rows, counted, book, dispose } = await finishedBatch()
  t.teardown(dispose)
  const seen: number[] = []
  const update: MetadataStore['update'] = async (...args) => {
    seen.push(counted())
    const changed = await rows.update(...args)
    seen.push(counted())
    return changed
  }
  await book(update)
  t.same(seen, [0, 0, 0, 0], 'a reader after a kill books anew, as long as the row is unmarked')
  t.equal(counted(), 3)
  await book(update)
  t.equal(counted(), 3, 'the row lets nobody book again')
})

/** What a store does with a mark before its answer is lost, and the requests that are booked in the end. */
const losses: readonly (readonly [string, 'before' | 'after' | 'never'])[] = [
  ['written', 'before'],
  ['written after its time', 'after'],
  ['never written', 'never'],
]
for (const [name, when] of losses)
  t.test(`a batch is booked once whose mark was ${name} when the store lost its answer`, async (t) => {
    const { rows, counted, book, dispose } = await finishedBatch()
    t.teardown(dispose)
    const late: (() => Promise<unknown>)[] = []
    let isLost = false
    const losing: MetadataStore['update'] = async (...args) => {
      if (args[1] !== 'output' || isLost) {
        for (const write of late.splice(0)) await write()
        return rows.update(...args)
      }
      isLost = true
      if (when === 'before') await rows.update(...args)
      if (when === 'after') late.push(() => rows.update(...args))
      throw new Unavailable()
    }
    await book(losing)
    t.equal(counted(), 3)
    await book(rows.update)
    t.equal(counted(), 3, 'the row lets nobody book again')
  })

t.test('a batch whose store stays away is booked by the next reader', async (t) => {
  const { rows, counted, book, dispose } = await finishedBatch()
  t.teardown(dispose)
  let tries = 0
  const failing: MetadataStore['update'] = async (...args) => {
    if (args[1] !== 'output') return rows.update(...args)
    tries++
    throw new Unavailable()
  }
  await t.rejects(book(failing), Unavailable)
  t.same([counted(), tries], [0, 3])
  await book(rows.update)
  t.equal(counted(), 3)
})

t.test('a batch whose store fails amid its booking is booked and marked by the next reader', async (t) => {
  const { rows, counted, book, dispose } = await finishedBatch()
  t.teardown(dispose)
  const failing: MetadataStore['update'] = async (kind, id, ...rest) => {
    if (id === 'batch') throw new Error('No store')
    return rows.update(kind, id, ...rest)
  }
  await t.rejects(book(failing), /No store/)
  t.equal(counted(), 0)
  await book(rows.update)
  t.equal(counted(), 3)
  t.match(await rows.get(things, 'batch'), { booked: 1 })
})
