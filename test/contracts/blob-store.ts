import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import memory from '../../adapters/memory/blob-store.ts'
import { use } from '../../core/plugin.ts'
import { BlobStore, type Range } from '../../core/ports/blob-store.ts'
import { made } from '../fitted.ts'
import { proof } from './contract.ts'

const large = 3 * 1024 * 1024 + 7

/** Bytes that differ by place, so that a piece in the wrong place shows. */
const some = (length: number, seed = 0): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 7 + (i >> 16) + seed) & 255
  return bytes
}

const flow = async function* (...chunks: readonly Uint8Array[]) {
  for (const chunk of chunks) {
    await turn()
    yield chunk
  }
}

const cut = (bytes: Uint8Array, length: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) => bytes.subarray(i * length, (i + 1) * length))

const whole = async (bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}

const read = async (store: BlobStore, path: string, range?: Range): Promise<Uint8Array> => {
  const found = await store.get(path, range)
  ok(found, 'something is there')
  return whole(found.bytes)
}

/** Says only that they differ: to show where would take minutes. */
const equals = (bytes: Uint8Array, expected: Uint8Array) =>
  ok(Buffer.compare(bytes, expected) === 0, 'the bytes are those')

const listed = async (store: BlobStore, prefix: string): Promise<string[]> => {
  const paths: string[] = []
  for await (const path of store.list(prefix)) paths.push(path)
  return paths
}

const hostile = [
  '../x',
  '/x',
  '/etc/x',
  'a/../../x',
  'a/..',
  '..',
  '.',
  'a/./x',
  'a//x',
  'a/',
  '',
  'a\0x',
  'a\\x',
  '..\\x',
]

/** What was put comes in slowly, and reading it tells how far it got. */
const halfway = (store: BlobStore, path: string, chunk: Uint8Array, signal?: AbortSignal) => {
  let reached = () => {}
  const half = new Promise<void>((resolve) => (reached = resolve))
  let go = () => {}
  const rest = new Promise<void>((resolve) => (go = resolve))
  const source = async function* () {
    yield chunk
    reached()
    await rest
    yield chunk
  }
  return { done: store.put(path, source(), signal), half, go: () => go() }
}

/** Another view of the same store, with what `get` gives changed. */
const getting =
  (change: (found: NonNullable<Awaited<ReturnType<BlobStore['get']>>>, range: Range | null) => object) =>
  (right: BlobStore): Partial<BlobStore> => ({
    async get(path, range = null, signal) {
      const found = await right.get(path, range, signal)
      return found && { ...found, ...change(found, range) }
    },
  })

/** A store whose files grow where they lie, as they come. */
const growing = (right: BlobStore): Partial<BlobStore> => ({
  async put(path, bytes, signal) {
    const so: Uint8Array[] = []
    for await (const chunk of bytes) {
      signal?.throwIfAborted()
      so.push(new Uint8Array(chunk))
      await right.put(path, flow(...so))
    }
    return { size: Buffer.concat(so).length }
  },
})

export const blobStore = proof({
  contract: {
    'gives back exactly what was put': async (fresh: () => Promise<BlobStore>) => {
      const store = await fresh()
      deepEqual(await store.put('a/b', flow(Uint8Array.of(0, 255, 10, 13, 26), Uint8Array.of(0))), { size: 6 })
      equals(await read(store, 'a/b'), Uint8Array.of(0, 255, 10, 13, 26, 0))
    },
    'keeps the order of many chunks': async (fresh) => {
      const store = await fresh()
      const bytes = some(20_000)
      equal((await store.put('a', flow(...cut(bytes, 97)))).size, 20_000)
      equals(await read(store, 'a'), bytes)
    },
    'keeps nothing as something': async (fresh) => {
      const store = await fresh()
      equal((await store.put('none', flow())).size, 0)
      equal((await store.put('empty', flow(new Uint8Array()))).size, 0)
      for (const path of ['none', 'empty']) {
        equal((await store.get(path))?.size, 0)
        equal((await read(store, path)).length, 0)
      }
    },
    'keeps large files': async (fresh) => {
      const store = await fresh()
      const bytes = some(large)
      equal((await store.put('large', flow(...cut(bytes, 65_536)))).size, large)
      equals(await read(store, 'large'), bytes)
    },
    'keeps its own copy of a chunk': async (fresh) => {
      const store = await fresh()
      const reused = new Uint8Array(4)
      const source = async function* () {
        for (const byte of [1, 2, 3]) yield reused.fill(byte)
      }
      await store.put('a', source())
      reused.fill(9)
      equals(await read(store, 'a'), Uint8Array.of(1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3))
      const found = await store.get('a')
      for await (const chunk of found!.bytes) chunk.fill(7)
      equal((await read(store, 'a'))[0], 1)
    },
    'says null for what was never put': async (fresh) => {
      const store = await fresh()
      await store.put('a/b', flow(some(1)))
      for (const path of ['nothing', 'a', 'a/c', 'a/b/c']) equal(await store.get(path), null)
    },
    'the last put counts': async (fresh) => {
      const store = await fresh()
      await store.put('a', flow(some(1000)))
      await store.put('a', flow(some(10, 5)))
      equal((await store.get('a'))?.size, 10)
      equals(await read(store, 'a'), some(10, 5))
    },
    'a broken source leaves the old bytes': async (fresh) => {
      const store = await fresh()
      await store.put('old', flow(some(10)))
      const fault = new Error('broken')
      for (const path of ['old', 'new']) {
        const source = async function* () {
          yield some(100_000, 9)
          throw fault
        }
        await rejects(store.put(path, source()), (error) => error === fault)
      }
      equals(await read(store, 'old'), some(10))
      equal(await store.get('new'), null)
      deepEqual(await listed(store, ''), ['old'])
    },
    'an abort leaves the old bytes, also when the source is stuck': async (fresh) => {
      const store = await fresh()
      await store.put('old', flow(some(10)))
      for (const path of ['old', 'new']) {
        const stop = new AbortController()
        const put = halfway(store, path, some(1000, 9), stop.signal)
        await put.half
        stop.abort(new Error('left'))
        let late = false
        const wait = setTimeout(() => {
          late = true
          put.go()
        }, 500)
        await rejects(put.done, { message: 'left' })
        clearTimeout(wait)
        ok(!late, 'does not wait for the source')
      }
      await rejects(store.put('new', flow(some(1)), AbortSignal.abort(new Error('gone'))), { message: 'gone' })
      equals(await read(store, 'old'), some(10))
      deepEqual(await listed(store, ''), ['old'])
    },
    'gives a range, both ends included': async (fresh) => {
      const store = await fresh()
      const bytes = some(large)
      await store.put('a', flow(bytes))
      equals(await read(store, 'a', { start: 0, end: 0 }), bytes.subarray(0, 1))
      equals(await read(store, 'a', { start: 5, end: 9 }), bytes.subarray(5, 10))
      equals(await read(store, 'a', { start: large - 3 }), bytes.subarray(large - 3))
      equals(await read(store, 'a', { start: 70_000, end: 2_000_000 }), bytes.subarray(70_000, 2_000_001))
    },
    'a range past the end gives what there is': async (fresh) => {
      const store = await fresh()
      await store.put('a', flow(some(10)))
      equals(await read(store, 'a', { start: 8, end: 99 }), some(10).subarray(8))
      for (const start of [10, 11, 1000]) {
        equal((await read(store, 'a', { start })).length, 0)
        equal((await read(store, 'a', { start, end: start + 5 })).length, 0)
      }
    },
    'size is that of the whole, whatever the range': async (fresh) => {
      const store = await fresh()
      await store.put('a', flow(some(10)))
      for (const range of [null, { start: 3 }, { start: 3, end: 4 }, { start: 50 }]) {
        equal((await store.get('a', range))?.size, 10)
      }
    },
    'removes, and removing twice is fine': async (fresh) => {
      const store = await fresh()
      await store.put('a/b', flow(some(3)))
      await store.put('a/c', flow(some(3)))
      await store.remove('a/b')
      await store.remove('a/b')
      await store.remove('never/there')
      equal(await store.get('a/b'), null)
      deepEqual(await listed(store, ''), ['a/c'])
    },
    'lists what begins with the prefix, in the order of the bytes': async (fresh) => {
      const store = await fresh()
      const paths = [
        'B',
        'a-b/c',
        'a.b',
        'a/b/c',
        'a/b/d',
        'a/bc',
        'a0',
        'ab',
        'a_',
        'b/1',
        'b/10',
        'b/2',
        'a/..b',
        'a/.c',
      ]
      for (const path of paths) await store.put(path, flow(some(1)))
      const sorted = [...paths].sort()
      deepEqual(await listed(store, ''), sorted)
      for (const prefix of ['a', 'a/', 'a/b', 'a/b/', 'b/1', 'a/b/c', 'c', '/', '../', 'a//']) {
        deepEqual(
          await listed(store, prefix),
          sorted.filter((path) => path.startsWith(prefix)),
          prefix,
        )
      }
    },
    'neither gives nor lists what is being put': async (fresh) => {
      const store = await fresh()
      const put = halfway(store, 'a', some(1000))
      await put.half
      await turn()
      const seen = [await store.get('a'), await listed(store, '')]
      put.go()
      equal((await put.done).size, 2000)
      deepEqual(seen, [null, []])
      deepEqual(await listed(store, ''), ['a'])
    },
    'refuses paths that lead elsewhere': async (fresh) => {
      const store = await fresh()
      for (const path of hostile) {
        const refused = { name: 'BadRequest' }
        await rejects(async () => store.put(path, flow(some(1))), refused, path)
        await rejects(async () => store.get(path), refused, path)
        await rejects(async () => store.remove(path), refused, path)
      }
      deepEqual(await listed(store, ''), [])
    },
    'puts to one path at once end with one of them whole': async (fresh) => {
      const store = await fresh()
      const all = Array.from({ length: 8 }, (_, i) => some(50_000 + i, i))
      await Promise.all(all.map((bytes) => store.put('deep/er/a', flow(...cut(bytes, 4096)))))
      const last = await read(store, 'deep/er/a')
      ok(
        all.some((bytes) => Buffer.compare(last, bytes) === 0),
        'one of them',
      )
      deepEqual(await listed(store, ''), ['deep/er/a'])
    },
  },
  right: () => made(BlobStore, use(memory)),
  wrong: {
    'gives back exactly what was put': getting(({ bytes }) => ({
      bytes: (async function* () {
        for await (const chunk of bytes) yield new TextEncoder().encode(new TextDecoder().decode(chunk))
      })(),
    })),
    'keeps the order of many chunks': (right) => ({
      async put(path, bytes, signal) {
        const chunks: Uint8Array[] = []
        for await (const chunk of bytes) chunks.push(chunk)
        if (chunks.length > 2) chunks.push(...chunks.splice(1, 1))
        return right.put(path, flow(...chunks), signal)
      },
    }),
    'keeps nothing as something': getting((found) => ({ ...(found.size === 0 ? { size: null } : {}) })),
    'keeps large files': (right) => ({
      async put(path, bytes, signal) {
        const chunks: Uint8Array[] = []
        for await (const chunk of bytes) if (chunks.length < 16) chunks.push(chunk)
        return right.put(path, flow(...chunks), signal)
      },
    }),
    'keeps its own copy of a chunk': (right) => ({
      async put(path, bytes, signal) {
        const chunks: Uint8Array[] = []
        for await (const chunk of bytes) chunks.push(chunk)
        return right.put(path, flow(...chunks), signal)
      },
    }),
    'says null for what was never put': (right) => ({
      get: async (path, range, signal) =>
        (await right.get(path, range, signal)) ?? { size: 0, bytes: flow(new Uint8Array()) },
    }),
    'the last put counts': (right) => ({
      async put(path, bytes, signal) {
        const there = await right.get(path)
        return there ? { size: there.size } : right.put(path, bytes, signal)
      },
    }),
    'a broken source leaves the old bytes': growing,
    'an abort leaves the old bytes, also when the source is stuck': (right) => ({
      async put(path, bytes, signal) {
        const done = await right.put(path, bytes)
        signal?.throwIfAborted()
        return done
      },
    }),
    'gives a range, both ends included': (right) => ({
      get: (path, range, signal) =>
        right.get(path, range && { ...range, ...(range.end === undefined ? {} : { end: range.end - 1 }) }, signal),
    }),
    'a range past the end gives what there is': getting((found, range) =>
      range && range.start >= found.size ? { bytes: flow(some(1)) } : {},
    ),
    'size is that of the whole, whatever the range': getting((found, range) => ({
      size: range ? Math.max(0, Math.min(found.size, (range.end ?? found.size - 1) + 1) - range.start) : found.size,
    })),
    'removes, and removing twice is fine': (right) => ({
      async remove(path) {
        if (!(await right.get(path))) throw new Error('Nothing there')
        await right.remove(path)
      },
    }),
    'lists what begins with the prefix, in the order of the bytes': (right) => ({
      async *list(prefix) {
        const paths = await listed(right, prefix)
        yield* paths.sort((a, b) => a.localeCompare(b))
      },
    }),
    'neither gives nor lists what is being put': growing,
    'refuses paths that lead elsewhere': (right) => ({
      get: async (path, range, signal) =>
        right.get(path.replaceAll('\\', '/').replace(/^(\.\.\/)+/, ''), range, signal),
    }),
    'puts to one path at once end with one of them whole': (right) => {
      const shared: Uint8Array[] = []
      return {
        async put(path, bytes, signal) {
          let size = 0
          for await (const chunk of bytes) {
            shared.push(new Uint8Array(chunk))
            size += chunk.length
          }
          await right.put(path, flow(...shared), signal)
          return { size }
        },
      }
    },
  },
})
