import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Unavailable } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import fs from '../../../plugins/storage/fs.ts'
import { blobStore } from '../../contracts/blob-store.ts'
import { conform } from '../../contracts/contract.ts'
import { made } from '../../fitted.ts'

const at = (folder: string) => made(BlobStore, use(fs, { folder }))

const flow = async function* (...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text)
}

const listed = async (store: BlobStore) => {
  const paths: string[] = []
  for await (const path of store.list('')) paths.push(path)
  return paths
}

const drafts = (folder: string) => readdir(join(folder, '.drafts'))

t.test('contract', (t) => conform(t, blobStore.contract, (t) => at(t.testdir())))

t.test('stays inside its folder', async (t) => {
  const around = t.testdir({ secret: 'x', inside: {} })
  const folder = join(around, 'inside')
  const store = at(folder)
  for (const path of ['../secret', 'a/../../secret', join(around, 'secret'), '.drafts/x', '.drafts', 'a b', 'ä']) {
    await t.rejects(store.get(path), { name: 'BadRequest' }, path)
    await t.rejects(store.put(path, flow('y')), { name: 'BadRequest' }, path)
    await t.rejects(store.remove(path), { name: 'BadRequest' }, path)
  }
  await t.rejects(store.put('a'.repeat(300), flow('y')), { name: 'BadRequest' }, 'longer than a name can be')
  await store.put('a/.drafts/b', flow('y'))
  t.same(await listed(store), ['a/.drafts/b'])
  t.same((await readdir(around)).sort(), ['inside', 'secret'])
})

t.test('a listing has neither drafts nor foreign files', async (t) => {
  const folder = t.testdir({ 'a b': 'x', ä: 'x', ok: t.fixture('symlink', '/etc/hostname') })
  const store = at(folder)
  await store.put('b', flow('x'))
  await writeFile(join(folder, '.drafts', 'left-over'), 'x')
  t.same(await listed(store), ['b'])
})

t.test('leaves no draft behind', async (t) => {
  const folder = t.testdir()
  const store = at(folder)
  await store.put('a', flow('x'))
  const broken = async function* () {
    yield Buffer.from('half')
    throw new Error('broken')
  }
  await t.rejects(store.put('b', broken()), { message: 'broken' })
  await t.rejects(store.put('c', flow('x'), AbortSignal.abort(new Error('left'))), { message: 'left' })
  t.same(await drafts(folder), [])
})

t.test('a draft that cannot be removed fails nothing', async (t) => {
  const folder = t.testdir({ '.drafts': { one: {}, old: '' } })
  const hours = Date.now() / 1000 - 7_200
  for (const name of ['one', 'old']) await utimes(join(folder, '.drafts', name), hours, hours)
  const store = at(folder)
  t.same(await store.put('a', flow('x')), { size: 1 }, 'a folder stands among the drafts')
  t.same(await drafts(folder), ['one'], 'the other one is gone')
  t.same(await listed(at(folder)), ['a'])
  const broken = async function* () {
    const [draft] = (await drafts(folder)).filter((name) => name !== 'one')
    await rm(join(folder, '.drafts', draft!))
    await mkdir(join(folder, '.drafts', draft!))
    yield* flow('half')
    throw new RangeError('broken')
  }
  await t.rejects(store.put('b', broken()), { name: 'RangeError' }, 'the fault of the source is told')
})

t.test('a crash leaves no half file', async (t) => {
  const folder = t.testdir()
  const here = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const program = `
    import fs from ${here(`../../../plugins/storage/fs${ending}`)}
    const store = fs.create({}, { folder: process.argv[1] }, 'fs')
    await store.put('whole', (async function* () { yield Buffer.alloc(1000, 1) })())
    await store.put('half', (async function* () {
      for (let i = 0; ; i++) {
        yield Buffer.alloc(65536, 1)
        if (i === 20) process.stdout.write('halfway')
      }
    })())`
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '-e', program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const over = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), over])
  child.kill('SIGKILL')
  t.same(await over, [null, 'SIGKILL'])

  const store = at(folder)
  t.equal(await store.get('half'), null)
  t.equal((await store.get('whole'))?.size, 1000)
  t.same(await listed(store), ['whole'])
  const [draft] = await drafts(folder)
  t.ok(draft, 'a draft was left')

  await store.put('young', flow('x'))
  t.same(await drafts(folder), [draft], 'it may be another process that is writing it')
  const old = Date.now() / 1000 - 16 * 60
  await utimes(join(folder, '.drafts', draft!), old, old)
  await listed(store)
  t.same(await drafts(folder), [draft], 'a store looks now and then')
  await listed(at(folder))
  t.same(await drafts(folder), [], 'after a quarter of an hour nobody is')
})

t.test('an upload holds at most two blocks in memory', async (t) => {
  const folder = t.testdir()
  const store = at(folder)
  const sizes: number[] = []
  const source = async function* () {
    for (let i = 0; i < 8; i++) {
      const [draft] = await drafts(folder)
      sizes.push((await stat(join(folder, '.drafts', draft!))).size)
      yield Buffer.alloc(1_000_000)
    }
  }
  t.same(await store.put('a', source()), { size: 8_000_000 })
  t.ok(
    sizes.every((size, at) => at * 1_000_000 - size <= 2 * 64 * 1024),
    sizes.join(),
  )
})

t.test('an unread stream holds no file', { skip: process.platform !== 'linux' && 'needs /proc' }, async (t) => {
  const store = at(t.testdir())
  await store.put('a', flow('x'.repeat(1_000_000)))
  const open = async () => (await readdir('/proc/self/fd')).length
  const before = await open()
  for (let i = 0; i < 30; i++) await store.get('a')
  for (let i = 0; i < 30; i++) for await (const _ of (await store.get('a'))!.bytes) break
  await sleep(10)
  t.ok((await open()) <= before + 2, 'none is open')
})

t.test('a reader fails when its file changes or when its signal fires', async (t) => {
  const folder = t.testdir()
  const store = at(folder)
  const rest = async (bytes: AsyncIterable<Uint8Array>, then = async () => {}) => {
    for await (const _ of bytes) await then()
  }
  await store.put('a', flow('x'.repeat(1_000_000)))
  const replaced = await store.get('a')
  await store.put('a', flow('y'.repeat(600_000)))
  await t.rejects(rest(replaced!.bytes), { name: 'Unavailable' }, 'the size that was told is no longer true')
  const cut = await store.get('a')
  await t.rejects(
    rest(cut!.bytes, () => truncate(join(folder, 'a'), 1000)),
    { name: 'Unavailable' },
    'cut short',
  )
  await store.put('a', flow('y'.repeat(600_000)))
  const gone = await store.get('a')
  await store.remove('a')
  await t.rejects(rest(gone!.bytes), { name: 'Unavailable', cause: { code: 'ENOENT' } }, 'removed')

  await store.put('a', flow('y'.repeat(600_000)))
  const stop = new AbortController()
  const left = await store.get('a', null, stop.signal)
  await t.rejects(
    rest(left!.bytes, async () => stop.abort(new Error('left'))),
    { message: 'left' },
  )
})

t.test('a fault of the disk is said without its text', async (t) => {
  const folder = t.testdir()
  const store = at(folder)
  await store.put('a', flow('x'))
  await rm(folder, { recursive: true })
  const unavailable = (value: unknown) =>
    value instanceof Unavailable && !value.message.includes(folder) && value.cause instanceof Error
  await t.rejects(
    store.put('b', flow('x')).catch((error) => Promise.reject(unavailable(error) ? new Error('so') : error)),
    { message: 'so' },
  )
  t.equal(await store.get('a'), null)
  await store.remove('a')
  t.same(await listed(store), [])
  await mkdir(join(folder, '.drafts'), { recursive: true })
  await store.put('b', flow('x'))
  t.same(await listed(store), ['b'], 'goes on when the folder is back')
})

t.test('refuses a wrong configuration at boot', async (t: Test) => {
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(fs, { folder: 'x', fodler: 'y' }), /fodler is not a known setting/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(fs, {}), /folder is missing/)
  t.throws(() => use(fs, { folder: '' }), /folder expected/)
  const folder = join(t.testdir({ file: 'x' }), 'file')
  t.throws(() => at(folder), { message: 'fs: the folder cannot be made (ENOTDIR)' })
})
