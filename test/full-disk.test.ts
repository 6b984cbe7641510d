import './fakes/unwatched.ts'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import metadataStore from '../adapters/memory/metadata-store.ts'
import { system } from '../adapters/memory/platform.ts'
import { production } from '../adapters/production/index.ts'
import usageJournal from '../adapters/production/usage-journal.ts'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { Unavailable } from '../core/errors.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import { openWriter } from '../plugins/storage/sqlite/writer.ts'
import { running, unhurried } from './environments.ts'
import { formOf } from './fakes/uploads.ts'
import { given } from './fitted.ts'

/** Mounts a small disk; null where the system does not let us. */
const smallDisk = (folder: string): string | null => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder], { stdio: 'ignore' })
    return folder
  } catch {
    return null
  }
}

const folder = mkdtempSync(join(tmpdir(), 'full-disk-'))
const disk = smallDisk(folder)
const skip = disk === null ? 'the system lets us mount no disk' : false
t.teardown(() => {
  if (disk !== null) execFileSync('umount', ['-l', disk], { stdio: 'ignore' })
  rmSync(folder, { recursive: true })
})

/** Writes until nothing goes on the disk any more. */
const fill = (file: string): void => {
  const to = openSync(file, 'w')
  for (let size = 64 * 1024; size > 0;) {
    try {
      writeSync(to, Buffer.alloc(size))
    } catch {
      size >>= 1
    }
  }
  closeSync(to)
}

const full = 'The disk of the row store is full'

t.test('a full disk can be emptied by who filled it', { skip, timeout: 60_000 }, async (t) => {
  const adapters = await production(checkedConfig({ log: { level: 'silent' } }, {}), folder)
  const gateway = await running(t, adapters, unhurried)
  const headers = { authorization: `Bearer ${gateway.key}` }
  const upload = async (bytes: number) =>
    fetch(`${gateway.base}/files/encrypted/upload`, { method: 'POST', headers, body: formOf(Buffer.alloc(bytes, 1)) })
  const { data } = (await (await upload(1_000_000)).json()) as { data: { id: string } }
  const degraded = async () =>
    ((await (await fetch(`${gateway.base}/health/ready`)).json()) as { data: { degraded?: readonly string[] } }).data
      .degraded
  t.equal(await degraded(), undefined)
  fill(join(folder, 'ballast'))
  await t.rejects(gateway.gateway.keys.create({}), { name: 'Unavailable' }, 'nothing goes on it')
  t.same(await degraded(), [full])
  const file = `${gateway.base}/files/encrypted/${data.id}`
  t.equal((await fetch(file, { method: 'DELETE', headers })).status, 200)
  t.equal((await fetch(file, { headers })).status, 404)
  t.equal(await degraded(), undefined)
  t.equal((await upload(100_000)).status, 200, 'there is room again')
})

t.test(
  'a journal on a disk that fills up keeps whole lines or fails, and goes on when there is room',
  { skip },
  (t) => {
    const usage = join(folder, 'usage')
    const journals = usageJournal.create({ clock: system.clock }, { folder: usage }, 'usage-journal')
    const journal = journals.open()!
    const [name] = readdirSync(usage)
    const ballast = join(folder, 'ballast')
    journal.append('first\n')
    fill(ballast)
    const line = `${'x'.repeat(3_000)}\n`
    journal.append(line)
    t.throws(() => journal.append(line), { message: 'A line has no room' }, 'the page takes a part of the second')
    t.throws(() => journal.replace([line.repeat(100)]), { code: 'ENOSPC' })
    t.match(readFileSync(join(usage, name!), 'utf8'), /^first\n/, 'the old lines stay')
    rmSync(ballast)
    journal.replace(['second'])
    journal.append('third\n')
    t.equal(readFileSync(join(usage, name!), 'utf8'), 'second\nthird\n')
    t.ok(journal.beat())
    journal.remove()
    t.same(readdirSync(usage), [])
    t.end()
  },
)

t.test('a statement that finds no room makes its store full, until a write finds some', async (t) => {
  const writer = openWriter(':memory:', 100)
  t.teardown(() => writer.close())
  await writer.exec('pragma max_page_count = 2')
  await t.rejects(
    writer.run(async () => {
      await writer.exec('create table one (data text)')
      for (let at = 0; at < 100; at++) await writer.exec(`insert into one values ('${'x'.repeat(4_000)}')`)
    }),
    { name: 'Unavailable' },
  )
  await nextTurn()
  t.equal(writer.obstacle(), full)
  await writer.run(async () => {})
  await nextTurn()
  t.equal(writer.obstacle(), null)
  const alone = writer.run(async () => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  })
  await t.rejects(alone, { name: 'Unavailable' })
  await nextTurn()
  t.equal(writer.obstacle(), full, 'a statement alone may fail, and its transaction goes on')
  await writer.run(async () => {})
  await nextTurn()
  t.equal(writer.obstacle(), null)
})

t.test('a store that takes no writes for another cause is degraded, until a write goes well', async (t) => {
  const writer = openWriter(':memory:', 100)
  t.teardown(() => writer.close())
  await writer.exec('create table one (data text)')
  const add = () => writer.run(() => writer.exec("insert into one values ('text')"))
  const obstacle = async () => {
    await nextTurn()
    return writer.obstacle()
  }
  await writer.exec('pragma query_only = on')
  await t.rejects(add(), { name: 'Unavailable', cause: { code: 'SQLITE_READONLY' } })
  t.equal(await obstacle(), 'The row store takes no writes')
  await writer.exec('pragma query_only = off')
  await add()
  t.equal(await obstacle(), null)
  for (const [code, words] of [
    ['SQLITE_IOERR_WRITE', 'The row store takes no writes'],
    ['SQLITE_CONSTRAINT_CHECK', null],
  ] as const) {
    const failing = writer.run(async () => {
      throw Object.assign(new Error('no'), { code })
    })
    await t.rejects(failing, { name: 'Unavailable' })
    t.equal(await obstacle(), words, code)
  }
})

t.test('a content goes before its record where a journal takes no line more', async (t) => {
  let refusals = 0
  let isFull = false
  const inner = metadataStore.create({}, {}, 'rows') as MetadataStore
  const rows: MetadataStore = {
    ...inner,
    async remove(...given) {
      if (!isFull) return inner.remove(...given)
      isFull = false
      refusals++
      throw new Unavailable(undefined, { cause: Object.assign(new Error('full'), { code: 'SQLITE_FULL' }) })
    },
  }
  const kept = given(MetadataStore, 'filling', () => rows)
  const gateway = await running(t, { ...memory(), metadataStore: kept }, unhurried)
  const headers = { authorization: `Bearer ${gateway.key}` }
  const body = formOf(Buffer.alloc(1_000, 1))
  const sent = await fetch(`${gateway.base}/files/encrypted/upload`, { method: 'POST', headers, body })
  const { data } = (await sent.json()) as { data: { id: string } }
  isFull = true
  t.equal((await fetch(`${gateway.base}/files/encrypted/${data.id}`, { method: 'DELETE', headers })).status, 200)
  t.equal(refusals, 1)
})
