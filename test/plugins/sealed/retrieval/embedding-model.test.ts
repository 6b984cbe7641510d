import t from 'tap'
import { clock } from '../../../../adapters/memory/platform.ts'
import * as v from 'valibot'
import { Unconfigured } from '../../../../core/errors.ts'
import { defaultQueue } from '../../../../plugins/shared/fair-shares.ts'
import type { Inference } from '../../../../core/inference/inference.ts'
import { type Candidate, type Entry, entryOf } from '../../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from '../../../../plugins/shared/models/candidate.ts'
import type { Catalog } from '../../../../core/inference/models/catalog.ts'
import { runForTool } from '../../../../plugins/shared/run-for-tool.ts'
import type { EnclaveFiles } from '../../../../core/ports/enclave.ts'
import { Upstream } from '../../../../core/ports/upstream.ts'
import { openRows, sealRows } from '../../../../plugins/sealed/enclave/index-file.ts'
import { retrieval } from '../../../../plugins/sealed/enclave/retrieval.ts'
import { concat } from '../../../../plugins/sealed/wire/bytes.ts'
import { ModelSettings } from '../../../../core/settings.ts'
import { use } from '../../../../core/plugin.ts'
import rehearsal from '../../../../plugins/providers/rehearsal.ts'
import { indexer } from '../../../fakes/indexer.ts'
import { fitted } from '../../../fitted.ts'
import { atOnce } from '../../../../plugins/shared/work-in-turns.ts'

const signal = new AbortController().signal
const pretender = fitted(use(rehearsal), use(clock)).supply({ upstreams: Upstream }).upstreams[0]!
const earnest: Upstream = {
  name: 'earnest',
  models: async () => [],
  chat: pretender.chat!,
  embed: async ({ texts }) => ({
    vectors: texts.map(() => Float32Array.of(0.6, 0.8)),
    usage: { input: 1, output: 0 },
  }),
}

const entry = (name: string, type: 'CHAT' | 'EMBEDDING', ...upstreams: readonly Upstream[]): Entry =>
  entryOf(
    name,
    v.parse(ModelSettings, { type, upstreams: upstreams.map((upstream) => ({ provider: upstream.name })) }),
    upstreams.map((upstream) => candidateOf(upstream, name)),
  )

/** What tools need, with these models; every backend of the chosen model is asked. */
const withModels = (...entries: readonly Entry[]) => {
  const asked: string[] = []
  const catalog = {
    list: async () => entries,
    find: async (name: string) => entries.find((entry) => entry.name === name) ?? null,
  } as unknown as Catalog
  const inference = {
    async run({ entry }: { entry: Entry }, ask: (candidate: Candidate, signal: AbortSignal) => Promise<unknown>) {
      asked.push(...entry.candidates.map(({ id }) => id))
      return { answer: await ask(entry.candidates[0]!, signal), backend: entry.candidates[0]!.id }
    },
  } as unknown as Inference
  return { supplied: { catalog, inference }, asked }
}

t.test('a model that only pretends works for a tool where no other can, and never for vectors', async (t) => {
  const employed = async (ability: 'chat' | 'embed', ...entries: readonly Entry[]) => {
    const { supplied, asked } = withModels(...entries)
    const work = runForTool(
      supplied,
      { ability },
      async () => ({}),
      () => ({}),
      signal,
    )
    return work.then(
      () => asked,
      (fault) => fault,
    )
  }
  const played = entry('a', 'CHAT', pretender)
  t.same(await employed('chat', played, entry('b', 'CHAT', earnest)), ['earnest/b'])
  t.same(await employed('chat', played), ['rehearsal/a'], 'alone it works')
  const both = entry('a', 'EMBEDDING', pretender, earnest)
  t.same(await employed('embed', both), ['earnest/a'], 'nor does it stand in for another backend')
  t.type(await employed('embed', entry('a', 'EMBEDDING', pretender)), Unconfigured)
})

const ragDek = new Uint8Array(32).fill(7)
const row = { text: 'The ferry leaves at noon.', heading: null, page: null, vector: Float32Array.of(1, 0) }

/** What a search tells whose index has these rows. */
const searched = async (rows: readonly object[], ...entries: readonly Entry[]) =>
  searchedWith(entries[0]?.name, rows, ...entries)

const searchedWith = async (model: string | undefined, rows: readonly object[], ...entries: readonly Entry[]) => {
  const enclaveFiles = {
    indexes: async () => [{ id: 'file_1', version: '1' }],
    index: async () => sealRows(ragDek, 'file_1', rows as Parameters<typeof sealRows>[2]),
  } as unknown as EnclaveFiles
  const settings = { model, cache: 1, most: 1e6, mostFile: 1, queue: defaultQueue }
  const { searchFor } = retrieval(withModels(...entries).supplied, [], settings)
  const hits = await searchFor(indexer)(enclaveFiles, ragDek, { query: 'ferry', ids: null }, signal)
  return { found: hits.map(({ fileId }) => fileId), score: hits[0]?.score ?? 0, outdated: hits.outdated }
}

t.test('a search says of which files the vectors are of another model, and searches their words', async (t) => {
  const [one, other] = [entry('one', 'EMBEDDING', earnest), entry('other', 'EMBEDDING', earnest)]
  const same = await searched([{ ...row, model: 'one' }], one)
  const stale = await searched([{ ...row, model: 'one' }], other)
  t.match(same, { found: ['file_1'], outdated: { length: 0 } })
  t.match(stale, { found: ['file_1'], outdated: ['file_1'] })
  t.not(stale.score, same.score, 'no vector of another model counts')
  t.match(await searched([row], one), { score: same.score, outdated: { length: 0 } }, 'version 1.0.0 named no model')
  t.match(await searched([{ ...row, vector: null, model: null }], one), { outdated: ['file_1'] })
  t.match(await searched([{ ...row, model: 'one' }]), { found: ['file_1'], outdated: { length: 0 } }, 'words alone')
})

t.test('an index names its model', async (t) => {
  const parts: Uint8Array[] = []
  for await (const part of sealRows(ragDek, 'file_1', [{ ...row, model: 'one' }])) parts.push(part)
  t.match(atOnce(openRows(ragDek, 'file_1', concat(...parts))), [{ text: row.text, model: 'one' }])
})

t.test('search goes by words alone where no model is named', async (t) => {
  const words = await searchedWith(undefined, [{ ...row, model: 'one' }], entry('one', 'EMBEDDING', earnest))
  t.match(words, { found: ['file_1'], outdated: { length: 0 } })
  t.equal(words.score, (await searched([{ ...row, vector: null, model: null }])).score, 'vectors count nothing')
})
