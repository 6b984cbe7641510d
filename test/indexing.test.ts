import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import blobStore from '../adapters/memory/blob-store.ts'
import { closedDoors } from './fakes/closed-doors.ts'
import { enclaveWithin } from '../adapters/memory/enclave.ts'
import { tools } from '../adapters/memory/tools.ts'
import { memory } from '../adapters/memory/index.ts'
import metadataStore from '../adapters/memory/metadata-store.ts'
import { system } from '../adapters/memory/platform.ts'
import { connect, newKek, newRagDek } from '../plugins/sealed/client/client.ts'
import { sealRows } from '../plugins/sealed/enclave/index-file.ts'
import { retrieval } from '../plugins/sealed/enclave/retrieval.ts'
import { defaultQueue } from '../plugins/shared/fair-shares.ts'
import type { Inference } from '../core/inference/inference.ts'
import type { Catalog } from '../core/inference/models/catalog.ts'
import { type FileRow, files } from '../plugins/sealed/files/record.ts'
import { BlobStore } from '../core/ports/blob-store.ts'
import { Enclave, type EnclaveFiles } from '../core/ports/enclave.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import { Clock } from '../core/ports/platform.ts'
import { running, unhurried } from './environments.ts'
import { until } from './until.ts'
import { indexer } from './fakes/indexer.ts'
import { given } from './fitted.ts'

/** In ms: how long an incognito file stays. */
const incognito = 300_000

/** Work at moments of an indexing. */
interface Moments {
  /** Before the enclave opens the keys. */
  opening?(): Promise<void>
  /** Behind the bytes of the index, before the answer. */
  kept?(): Promise<void>
  /** Between the look at a record and its removal, or its mark that nothing is indexed. */
  removing?(): Promise<void>
  forgetting?(): Promise<void>
  /** Before stored bytes are removed. */
  removingBytes?(): Promise<void>
}

/** A gateway whose indexings end when they are told to. */
const stage = async (t: Test, indexing = 900_000) => {
  const moments: Moments = {}
  const stored: BlobStore = blobStore.create({}, {}, 'blobs')
  const blobs: BlobStore = {
    ...stored,
    async remove(path) {
      await moments.removingBytes?.()
      await stored.remove(path)
    },
  }
  const rows: MetadataStore = metadataStore.create({}, {}, 'rows')
  const waiting: { go(): void; fail(error: Error): void }[] = []
  const order: string[] = []
  let shift = 0
  let late = () => {}
  let breaking: 'never' | 'behind an upload' | 'now' = 'never'
  const slow = given(Enclave, 'slow', () => {
    const inner = enclaveWithin()({ upstreams: [], tools }).make(() => ({ fetch: closedDoors }) as never)
    return {
      ...inner,
      async handle(route, sealed, grant, signal, enclaveFiles) {
        await moments.opening?.()
        return inner.handle(route, sealed, grant, signal, {
          ...enclaveFiles!,
          async keepIndex(...given) {
            order.push(given[0])
            await new Promise<void>((go, fail) => waiting.push({ go, fail }))
            await enclaveFiles!.keepIndex(...given)
            await moments.kept?.()
          },
        })
      },
    }
  })
  const interrupted: MetadataStore = {
    ...rows,
    async remove(kind, id, when) {
      if (kind.name === files.name) await moments.removing?.()
      return rows.remove(kind, id, when)
    },
    async update(kind, id, change, when) {
      if ('rag_status' in change && change.rag_status === 'none') await moments.forgetting?.()
      const updated = await rows.update(kind, id, change, when)
      if (breaking === 'behind an upload' && 'rag_status' in change) breaking = 'now'
      return updated
    },
    async get(kind, id) {
      if (breaking === 'now' && kind.name === files.name) throw new Error('The store is away')
      return rows.get(kind, id)
    },
  }
  const stores = {
    blobStore: given(BlobStore, 'kept', () => blobs),
    metadataStore: given(MetadataStore, 'kept', () => interrupted),
    clock: given(Clock, 'moved', () => ({
      ...system.clock,
      now: () => Date.now() + shift,
      alarm(ms, fire) {
        if (ms === indexing) late = fire
        return system.clock.alarm(ms, fire)
      },
    })),
  }
  const gateway = await running(
    t,
    { ...memory(), enclave: slow, ...stores },
    { ...unhurried, files: { incognito, indexing } },
  )
  const kek = newKek()
  const own = { kek, wrappedRagDek: newRagDek(kek), policy: { allowInsecureDev: true } }
  const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, ...own })
  const note = (hour: number) => {
    return { name: 'note.txt', mime: 'text/plain', bytes: Buffer.from(`The ferry leaves at ${hour}.`) }
  }
  const { id } = await client.files.upload(note(12))
  return {
    client,
    id,
    logged: gateway.logged,
    /** The time of the last indexing is over. */
    isLate: () => late(),
    later: (ms: number) => void (shift += ms),
    /** The store reads no file's record once an upload has announced its indexing, until the work is over. */
    async breaksBehindUpload(work: () => Promise<unknown>) {
      breaking = 'behind an upload'
      await work()
      t.equal(breaking, 'now')
      breaking = 'never'
    },
    /** Whose index came, one after the other. */
    order,
    /** Somebody of an organisation, with so many files. */
    async someone(organization: string, count: number) {
      const { credential } = await gateway.gateway.keys.create({ organization })
      const client = connect({ baseUrl: gateway.base, apiKey: credential, ...own })
      const ids: string[] = []
      for (let made = 0; made < count; made++) ids.push((await client.files.upload(note(made))).id)
      return { client, ids }
    },
    /** Begins an indexing that has all but its end. */
    async index() {
      const before = waiting.length
      await client.files.index([id])
      t.ok(await until(() => waiting.length > before))
    },
    /** Resolves when it has begun to end. */
    async end(nth: number) {
      t.ok(await until(() => waiting.length > nth))
      waiting[nth]!.go()
    },
    /** Resolves when it has begun to fail. */
    async fail(nth: number) {
      t.ok(await until(() => waiting.length > nth))
      waiting[nth]!.fail(new Error('No room'))
    },
    /** The ids of the files in which a search of all files finds the ferry. */
    found: async () => (await client.tools.call('searchRag', { query: 'ferry' })).results.map(({ fileId }) => fileId),
    status: async (of = id) => (await rows.get<FileRow>(files, of))?.rag_status ?? null,
    async indexes() {
      const paths: string[] = []
      for await (const path of blobs.list('index/')) paths.push(path)
      return paths.length
    },
    /** Does the work once, at the next such moment; `reached` resolves with the moment. */
    once(moment: keyof Moments, work: () => Promise<unknown>) {
      let reach = () => {}
      const reached = new Promise<void>((resolve) => (reach = resolve))
      moments[moment] = async () => {
        delete moments[moment]
        reach()
        await work()
      }
      return { reached }
    },
  }
}

t.test('an index goes with its file, though it comes in while that goes', async (t) => {
  const { client, id, index, end, status, indexes, once } = await stage(t)
  await index()
  once('removing', async () => {
    await end(0)
    t.ok(await until(async () => (await status()) === 'completed'))
  })
  await client.files.remove(id)
  t.equal(await status(), null)
  t.equal(await indexes(), 0, 'nothing is left of it')
})

t.test('what was forgotten while it was indexed does not come back', async (t) => {
  const { client, id, index, end, status, indexes } = await stage(t)
  await index()
  await client.files.forgetIndex([id])
  await end(0)
  await sleep(100)
  t.equal(await status(), 'none')
  t.equal(await indexes(), 0, 'and leaves nothing')
})

t.test('an index is forgotten, though it comes in while that happens', async (t) => {
  const { client, id, index, end, status, indexes, found, once } = await stage(t)
  await index()
  await end(0)
  t.ok(await until(async () => (await status()) === 'completed'))
  await index()
  once('forgetting', async () => {
    await end(1)
    t.ok(await until(async () => (await status()) === 'completed'))
  })
  await client.files.forgetIndex([id])
  t.same([await status(), await indexes(), await found()], ['none', 0, []])
})

/** Something that ends later. */
const later = () => {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { ended, end: () => end() }
}

t.test('bytes of an index go at once with the index or its file, though the enclave has not answered', async (t) => {
  for (const act of ['forgetIndex', 'remove'] as const) {
    const { client, id, index, end, indexes, once } = await stage(t)
    const answer = later()
    await index()
    const { reached } = once('kept', () => answer.ended)
    await end(0)
    await reached
    t.equal(await indexes(), 1)
    await (act === 'remove' ? client.files.remove(id) : client.files.forgetIndex([id]))
    t.equal(await indexes(), 0, act)
    answer.end()
    await sleep(50)
    t.equal(await indexes(), 0, 'and do not come back')
  }
})

t.test('an upload that is forgotten before the enclave opens its keys is not indexed', async (t) => {
  const { client, end, order, indexes, status, once } = await stage(t)
  const opening = later()
  const { reached } = once('opening', () => opening.ended)
  const file = { name: 'other.txt', mime: 'text/plain', bytes: Buffer.from('The other ferry') }
  const { id } = await client.files.upload(file, { index: true })
  await reached
  t.equal(await status(id), 'pending')
  await client.files.forgetIndex([id])
  opening.end()
  await sleep(100)
  t.same([await status(id), await indexes(), order], ['none', 0, []])
  if (order.length > 0) await end(0)
})

t.test('an equal file that was there is indexed with its second upload', async (t) => {
  const { client, end, indexes, status } = await stage(t)
  const file = { name: 'other.txt', mime: 'text/plain', bytes: Buffer.from('The other ferry') }
  const { id } = await client.files.upload(file)
  t.match(await client.files.upload(file), { id, is_duplicate: true, rag_status: 'none' })
  t.match(await client.files.upload(file, { index: true }), { id, is_duplicate: true, rag_status: 'running' })
  await end(0)
  t.ok(await until(async () => (await status(id)) === 'completed'))
  t.equal(await indexes(), 1)
})

t.test('an index stays whole where the index before it cannot be removed', async (t) => {
  const { id, index, end, found, status, once } = await stage(t)
  await index()
  await end(0)
  t.ok(await until(async () => (await status()) === 'completed'))
  await index()
  once('removingBytes', () => Promise.reject(new Error('The store is busy')))
  await end(1)
  t.ok(await until(async () => (await status()) === 'completed'))
  await sleep(50)
  t.same(await found(), [id])
})

t.test('an index whose bytes cannot be removed is forgotten at the next try', async (t) => {
  const { client, id, index, end, indexes, status, once } = await stage(t)
  await index()
  await end(0)
  t.ok(await until(async () => (await status()) === 'completed'))
  once('removingBytes', () => Promise.reject(new Error('The store is busy')))
  await t.rejects(client.files.forgetIndex([id]), Object.assign(new Error(), { status: 503 }))
  await client.files.forgetIndex([id])
  t.same([await status(), await indexes()], ['none', 0])
})

t.test('of two indexings at once the later one counts', async (t) => {
  const { client, id, index, end, status, indexes } = await stage(t)
  await index()
  await sleep(5)
  await client.files.index([id])
  await end(0)
  await sleep(100)
  t.same([await status(), await indexes()], ['running', 0])
  await end(1)
  t.ok(await until(async () => (await status()) === 'completed'))
  t.equal(await indexes(), 1, 'and it alone is there')
})

t.test('an index stays in use while a later indexing runs, and when it fails', async (t) => {
  const { id, index, end, fail, found, status } = await stage(t)
  await index()
  await end(0)
  t.ok(await until(async () => (await status()) === 'completed'))
  t.same(await found(), [id])
  await index()
  t.same([await status(), await found()], ['running', [id]])
  await fail(1)
  t.ok(await until(async () => (await status()) === 'failed'))
  t.same(await found(), [id])
})

t.test('an incognito file whose time is over is found in no search', async (t) => {
  const { client, end, found, status, later } = await stage(t)
  const file = { name: 'secret.txt', mime: 'text/plain', bytes: Buffer.from('The ferry leaves in secret.') }
  const { id } = await client.files.upload(file, { incognito: true, index: true })
  await end(0)
  t.ok(await until(async () => (await status(id)) === 'completed'))
  later(incognito - 10_000)
  t.same(await found(), [id])
  later(10_000)
  t.equal(await status(id), 'completed', 'its record waits for the sweep')
  t.same(await found(), [])
})

t.test('a store that fails between an upload and its indexing fails that upload alone', async (t) => {
  const { client, logged, breaksBehindUpload } = await stage(t)
  const file = { name: 'other.txt', mime: 'text/plain', bytes: Buffer.from('The other ferry') }
  await breaksBehindUpload(() =>
    t.rejects(client.files.upload(file, { index: true }), { message: /temporarily unavailable/ }),
  )
  t.ok(await until(() => logged.some(({ event }) => event === 'index.lost')))
  t.equal((await client.files.list()).total, 2, 'the gateway serves on, and the file is stored')
})

t.test('an indexing may take longer than the longest timer of Node', async (t) => {
  const { index, end, status } = await stage(t, 30 * 86_400_000)
  await index()
  await end(0)
  t.ok(await until(async () => (await status()) !== 'running'))
  t.equal(await status(), 'completed')
})

t.test('an indexing ends when its time is over', async (t) => {
  const { index, end, isLate, status, logged } = await stage(t, 987_654)
  await index()
  isLate()
  await end(0)
  t.ok(await until(async () => (await status()) === 'failed'))
  const failures = logged.filter(({ event }) => event === 'index.failed')
  t.match(failures, [{ facts: { error: 'TimeoutError' } }])
})

t.test('organisations take turns, whoever asked first and for however much', async (t) => {
  const { someone, end, order, status } = await stage(t)
  const [many, few, late] = [await someone('many', 4), await someone('few', 2), await someone('late', 1)]
  const whose = () => order.map((id) => (many.ids.includes(id) ? 'many' : few.ids.includes(id) ? 'few' : 'late'))
  for (const id of many.ids) await many.client.files.index([id])
  t.ok(await until(() => order.length === 1))
  await few.client.files.index(few.ids)
  t.same(await Promise.all([...many.ids, ...few.ids].map(status)), Array(6).fill('running'))
  await few.client.files.forgetIndex([few.ids[1]!])
  await many.client.files.remove(many.ids[1]!)
  await end(0)
  t.ok(await until(() => order.length === 2))
  await late.client.files.index(late.ids)
  for (let nth = 1; nth < 6; nth++) await end(nth)
  t.same(whose(), ['many', 'few', 'late', 'few', 'many', 'many'], 'and one that is gone ends its turn')
  for (const id of [many.ids[3], few.ids[0], late.ids[0]])
    t.ok(await until(async () => (await status(id)) === 'completed'), 'the records say so')
  t.equal(await status(few.ids[1]), 'none', 'but of what was forgotten while it waited')
})

t.test('indexes that were opened are held, but not for ever for one who asks by name', async (t) => {
  const ragDek = new Uint8Array(32).fill(7)
  const read: string[] = []
  const enclaveFiles = {
    indexes: async (ids: readonly string[] | null) => (ids ?? []).map((id) => ({ id, version: '1' })),
    async index(id: string) {
      read.push(id)
      return sealRows(ragDek, id, [{ text: `The ferry of ${id}`, heading: null, page: null, vector: null }])
    },
  } as unknown as EnclaveFiles
  const catalog = { list: async () => [] } as unknown as Catalog
  const { searchFor } = retrieval({ catalog, inference: {} as Inference }, [], {
    cache: 1,
    most: 1e6,
    mostFile: 1,
    queue: defaultQueue,
  })
  const search = searchFor(indexer)
  const found = async (id: string) =>
    (await search(enclaveFiles, ragDek, { query: 'ferry', ids: [id] }, new AbortController().signal)).map(
      ({ fileId }) => fileId,
    )
  for (const id of ['one', 'one', 'two', 'two', 'two']) t.same(await found(id), [id])
  t.same(read, ['one', 'two', 'two'], 'with the second file the cache is full, and what was not asked for goes')
})
