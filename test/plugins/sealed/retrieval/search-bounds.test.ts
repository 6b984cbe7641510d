import t from 'tap'
import { defaultQueue } from '../../../../plugins/shared/fair-shares.ts'
import type { Catalog } from '../../../../core/inference/models/catalog.ts'
import type { Inference } from '../../../../core/inference/inference.ts'
import type { EnclaveFiles } from '../../../../core/ports/enclave.ts'
import { isTitled, titleOf } from '../../../../plugins/sealed/enclave/file-title.ts'
import { sealRows } from '../../../../plugins/sealed/enclave/index-file.ts'
import { retrieval } from '../../../../plugins/sealed/enclave/retrieval.ts'
import { searchIndex } from '../../../../plugins/sealed/retrieval/search-index.ts'
import { indexer } from '../../../fakes/indexer.ts'
import { atOnce } from '../../../../plugins/shared/work-in-turns.ts'

const ragDek = new Uint8Array(32).fill(7)
const signal = new AbortController().signal

/** Indexed files by id: their name, and when they were stored; the gateway of `untold` tells no time. */
const files: Readonly<Record<string, { readonly name: string | null; readonly created?: number }>> = {
  march: { name: 'Minutes of Überlingen, March.docx', created: 100 },
  april: { name: 'Minutes of Überlingen, April.docx', created: 200 },
  untold: { name: 'minutes.txt' },
  nameless: { name: null, created: 150 },
}

const enclaveFiles = {
  indexes: async () => Object.entries(files).map(([id, { name: _, ...times }]) => ({ id, version: '1', ...times })),
  index: async (id: string) => {
    const title = titleOf(files[id]?.name ?? '')
    return sealRows(ragDek, id, [{ text: 'The ferry leaves at noon.', heading: null, page: null, vector: null, title }])
  },
} as unknown as EnclaveFiles

const supplied = { catalog: {} as Catalog, inference: {} as Inference }

t.test('a search keeps to files by their name and time', async (t) => {
  const settings = { cache: 1, most: 1e6, mostFile: 1, queue: defaultQueue }
  const search = retrieval(supplied, [], settings).searchFor(indexer)
  const found = async (bounds: object) => {
    const hits = await search(enclaveFiles, ragDek, { query: 'ferry', ids: null, ...bounds }, signal)
    return hits.map(({ fileId }) => fileId).sort()
  }
  t.same(await found({}), ['april', 'march', 'nameless', 'untold'])
  t.same(await found({ name: 'uberlingen march' }), ['march'], 'in any case, without accents and commas')
  t.same(await found({ name: 'minutes' }), ['april', 'march', 'untold'], 'a file without a name has no part of it')
  t.same(await found({ name: 'april.docx' }), ['april'], 'its ending is no part of a title')
  t.same(await found({ name: '...' }), [], 'nor is a name without a word')
  t.same(await found({ from: 100, to: 200 }), ['march', 'nameless'], 'the end is outside')
  t.same(await found({ from: 101 }), ['april', 'nameless'])
  t.same(await found({ to: 150 }), ['march'])
  t.same(await found({ name: 'minutes', from: 150 }), ['april'])
  const [hit] = await search(enclaveFiles, ragDek, { query: 'ferry', ids: null, name: 'april' }, signal)
  t.match(hit, { title: 'Minutes of Überlingen April', created: 200 })
})

t.test('a search that holds too much leaves searches of fewer files as they are', async (t) => {
  const opened: string[] = []
  const stored = {
    ...enclaveFiles,
    indexes: async (ids: readonly string[] | null) => (ids ?? Object.keys(files)).map((id) => ({ id, version: '1' })),
    async index(id: string) {
      opened.push(id)
      return enclaveFiles.index(id, signal)
    },
  } as unknown as EnclaveFiles
  const sizeOf = async (ids: readonly string[]) => {
    const index = searchIndex()
    for (const id of ids)
      atOnce(
        index.put(id, [{ passage: { text: 'The ferry leaves at noon.', heading: null, page: null }, vector: null }]),
      )
    return index.size
  }
  const most = Math.floor((await sizeOf(['a', 'b'])) * 1.25)
  const searching = (cache: number) => {
    const search = retrieval(supplied, [], { cache, most, mostFile: 1, queue: defaultQueue }).searchFor(indexer)
    return (ids: readonly string[] | null) =>
      search(stored, ragDek, { query: 'ferry', ids }, signal).then(
        (hits) => hits.map(({ fileId }) => fileId).sort(),
        ({ code }) => code,
      )
  }
  const found = searching(1e9)
  t.same(await found(['march']), ['march'])
  t.equal(await found(null), 'too_large')
  t.same(await found(['march']), ['march'], 'one file is searched again')
  t.same(await found(['april']), ['april'])
  t.same(await found(['untold']), ['untold'], 'files of other searches do not count')
  t.same(await found(['march', 'april']), ['april', 'march'])
  opened.length = 0
  t.equal(await searching(1e9)(null), 'too_large')
  t.equal(opened.length, 3, 'and what is too much is read once')
})

t.test('a number behind a dot is a part of a name', async (t) => {
  t.ok(isTitled(titleOf('Manual 1.2.pdf'), 'manual 1.2'))
  t.notOk(isTitled(titleOf('Manual 1.2.pdf'), 'manual 1.3'))
})

t.test('a long snippet shows what stands around a hit, and a short one the words themselves', async (t) => {
  const index = searchIndex()
  const body = (at: number) => `Sentence ${at} stands here. `.repeat(20).trim()
  const passages = Array.from({ length: 9 }, (_, at) => ({
    passage: { text: at === 4 ? `${body(4)} The lantern is copper.` : body(at), heading: `Part ${at}`, page: at },
    vector: null,
  }))
  atOnce(index.put('a', passages))
  const shown = (characters?: number) =>
    atOnce(index.search({ query: 'lantern', vector: null, most: 1, ...(characters && { characters }) }))[0]?.snippet ??
    ''
  const parts = (snippet: string) => [...new Set(snippet.match(/(?<=Sentence )\d/g))].join()
  t.equal(parts(shown()), '4', 'the usual one stays under its heading')
  t.equal(parts(shown(1_600)), '3,4,5', 'neighbours on both sides')
  t.match(shown(1_600), /\n\nPart 4\nSentence 4 .*The lantern is copper\.\n\nPart 5\n/)
  t.ok(shown(1_600).length <= 1_600)
  t.equal(parts(shown(10_000)), '0,1,2,3,4,5,6,7,8')
  t.match(shown(100), /The lantern is copper\./)
  t.ok(shown(100).length <= 100)
})

/** Two files that are read when they are told to, and who reads them. */
const slowFiles = () => {
  const read: string[] = []
  const rows = [{ text: 'The ferry leaves at noon.', heading: null, page: null, vector: null }]
  const enclaveFiles = {
    indexes: async () => ['one', 'two'].map((id) => ({ id, version: '1' })),
    async index(id: string) {
      read.push(id)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return sealRows(ragDek, id, rows)
    },
  } as unknown as EnclaveFiles
  return { read, enclaveFiles }
}
const ferry = { query: 'ferry', ids: null }

t.test('searches at the same time open an index once', async (t) => {
  const { read, enclaveFiles } = slowFiles()
  const { searchFor } = retrieval(supplied, [], { cache: 1e6, most: 1e6, mostFile: 1, queue: defaultQueue })
  const searches = Array.from({ length: 5 }, () => searchFor(indexer)(enclaveFiles, ragDek, ferry, signal))
  for (const hits of await Promise.all(searches)) t.equal(hits.length, 2)
  t.same(read, ['one', 'two'])
})

t.test('a search that would open more than fits is refused, and holds up no other', async (t) => {
  const { read, enclaveFiles } = slowFiles()
  const { searchFor } = retrieval(supplied, [], { cache: 1e6, most: 200, mostFile: 1, queue: defaultQueue })
  const search = searchFor(indexer)
  for (let turn = 1; turn < 3; turn++) {
    await t.rejects(search(enclaveFiles, ragDek, ferry, signal), { code: 'too_large', field: 'fileIds' })
    t.equal(read.length, 2 * turn, 'nothing of it is held')
  }
  const one = { ...enclaveFiles, indexes: async () => [{ id: 'one', version: '1' }] }
  t.equal((await search(one, ragDek, ferry, signal)).length, 1)
})
