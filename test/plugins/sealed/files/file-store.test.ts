import t from 'tap'
import * as v from 'valibot'
import { sectionShapes } from '../../../../adapters/memory/sections.ts'
import blobStore from '../../../../adapters/memory/blob-store.ts'
import metadataStore from '../../../../adapters/memory/metadata-store.ts'
import { random } from '../../../../adapters/memory/platform.ts'
import type { FlatPart } from '../../../../plugins/shared/flat-json.ts'
import { deduplicating } from '../../../../plugins/sealed/files/deduplication.ts'
import { FileStore, fileStore } from '../../../../plugins/sealed/files/file-store.ts'
import { storage } from '../../../../plugins/sealed/files/quota.ts'
import { belonging, files, idOf, isTimely, printed } from '../../../../plugins/sealed/files/record.ts'
import { Sweep, sweep } from '../../../../plugins/sealed/files/sweep.ts'
import { use } from '../../../../core/plugin.ts'
import { BlobStore } from '../../../../core/ports/blob-store.ts'
import { MetadataStore, kind } from '../../../../core/ports/metadata-store.ts'
import { Clock, Log } from '../../../../core/ports/platform.ts'
import { Settings, type SettingsInput, SettingsShape } from '../../../../core/settings.ts'
import { uuid7 } from '../../../../core/uuid7.ts'
import { fakeClock } from '../../../fakes/clock.ts'
import { fitted, given } from '../../../fitted.ts'

const hour = 3_600_000
/** An error, as far as a test tells it. */
const thrown = (facts: object) => ({ name: /./, ...facts })
const never = new AbortController().signal
const owner = { organization: 'acme', user: 'anna' }
const hex = (digit: string, bytes: number) => digit.repeat(2 * bytes)

async function* once(bytes: Uint8Array) {
  yield bytes
}

const fields = {
  encrypted_name: hex('a', 40),
  client_hash: hex('1', 32),
  kid: 'kek-1',
  wrapped_dek: hex('b', 40),
  mime_type: hex('c', 40),
  version: 2,
}

async function* parts(given: object, bytes = new Uint8Array(100)): AsyncGenerator<FlatPart> {
  for (const [name, value] of Object.entries(given)) yield { name, value } as FlatPart
  yield { piece: bytes } as FlatPart
}

/** Files in stores whose writes the test may come before. */
const house = (settings: SettingsInput = {}, blobs: BlobStore = blobStore.create({}, {}, 'blobs')) => {
  const clock = fakeClock()
  const kept: MetadataStore = metadataStore.create({}, {}, 'rows')
  const logged: object[] = []
  let beforeUpdate = async () => {}
  const rows: MetadataStore = {
    ...kept,
    async update(of, ...rest) {
      const work = beforeUpdate
      beforeUpdate = async () => {}
      if (of.name === files.name) await work()
      return kept.update(of, ...rest)
    },
  }
  const supplied = fitted(
    use(fileStore),
    use(sweep),
    use(random),
    given(Log, 'log', () => {
      const tell = (event: string, facts: object = {}) => void logged.push({ event, ...facts })
      return { info() {}, warn: tell, error: tell }
    }),
    given(BlobStore, 'blobs', () => blobs),
    given(MetadataStore, 'rows', () => rows),
    given(Clock, 'clock', () => clock),
    given(Settings, 'settings', () =>
      v.parse(v.strictObject({ ...SettingsShape.entries, ...sectionShapes }), settings),
    ),
  ).supply({ fileStore: FileStore, sweep: Sweep })
  return {
    ...supplied,
    clock,
    rows,
    blobs,
    logged,
    up: (given: object = {}, bytes?: Uint8Array<ArrayBuffer>) =>
      supplied.fileStore.receive(owner, parts({ ...fields, ...given }, bytes), never),
    paths: async () => {
      const paths: string[] = []
      for await (const path of blobs.list('encrypted/')) paths.push(path)
      return paths
    },
    before: (work: () => Promise<void>) => void (beforeUpdate = work),
  }
}

t.test('the sweep leaves bytes without a record for as long as an upload may take', async (t) => {
  const { clock, blobs, sweep, up, paths } = house({ files: { grace: hour, sweep: 10 * hour } })
  const { row } = await up()
  const uuid = uuid7(clock, { bytes: (length) => new Uint8Array(length), fraction: () => 0 })
  await blobs.put(`encrypted/acme/anna/${uuid}.enc`, once(new Uint8Array(9)), never)
  await blobs.put('encrypted/acme/anna/not-ours.txt', once(new Uint8Array(9)), never)
  await clock.pass(hour - 1)
  t.same(await sweep.now(), { orphans: 0, expired: 0 })
  await clock.pass(1)
  t.same(await sweep.now(), { orphans: 1, expired: 0 })
  t.same(await paths(), [row.file_path, 'encrypted/acme/anna/not-ours.txt'], 'and never takes bytes of somebody else')
})

t.test('a sweep removes no bytes whose records stand in another row store', async (t) => {
  const { blobs, clock, sweep, up, paths } = house()
  t.same(await house({}, blobs).sweep.now(0), { orphans: 0, expired: 0 }, 'rows and blobs of nothing leave no mark')
  const { row } = await up()
  t.same(await sweep.now(0), { orphans: 0, expired: 0 })
  const other = house({}, blobs)
  await t.rejects(other.sweep.now(0), { message: /another row store/ })
  t.same(await sweep.now(0), { orphans: 0, expired: 0 }, 'rows without a file leave no mark')
  await other.clock.pass(2 * hour)
  await clock.pass(2 * hour)
  t.match(other.logged[0], { event: 'files.foreign', mark: /^owner\// })
  const second = await other.up()
  await t.rejects(other.sweep.now(0), { message: /remove owner\/[\w-]+ from the blob store/ })
  await t.rejects(sweep.now(0), { message: /another row store/ }, 'and neither of two sweeps')
  t.same(await paths(), [row.file_path, second.row.file_path])
  for await (const mark of blobs.list('owner/')) await blobs.remove(mark)
  t.same(await sweep.now(0), { orphans: 1, expired: 0 }, 'until an operator chooses')
})

t.test('bytes that are there before any record are swept once a file has one', async (t) => {
  const { clock, blobs, sweep, up, paths } = house()
  const uuid = uuid7(clock, { bytes: (length) => new Uint8Array(length), fraction: () => 0 })
  await blobs.put(`encrypted/acme/anna/${uuid}.enc`, once(new Uint8Array(9)), never)
  await t.rejects(sweep.now(0), { message: /another row store/ })
  const { row } = await up()
  t.same(await sweep.now(0), { orphans: 1, expired: 0 })
  t.same(await paths(), [row.file_path])
})

t.test('the sweep keeps files with a record and removes expired files', async (t) => {
  const { clock, sweep, up, paths, rows } = house({ files: { incognito: hour } })
  const kept = await up()
  const shy = await up({ incognito: true })
  await clock.pass(hour - 1)
  t.same(await sweep.now(0), { orphans: 0, expired: 0 })
  await clock.pass(1)
  t.same(await sweep.now(0), { orphans: 0, expired: 1 })
  t.same(await paths(), [kept.row.file_path])
  t.equal(await rows.get(files, shy.id), null)
})

t.test('a file whose time is over does not exist', async (t) => {
  const { clock, fileStore, up } = house({ files: { incognito: hour } })
  const { id } = await up({ incognito: true })
  t.ok(await fileStore.find(owner, id))
  await clock.pass(hour)
  await t.rejects(fileStore.find(owner, id), { name: 'NotFound' })
})

t.test('a file of another owner does not exist', async (t) => {
  const { fileStore, up } = house()
  const { id } = await up()
  for (const stranger of [
    { ...owner, user: 'bert' },
    { ...owner, organization: 'other' },
  ]) {
    await t.rejects(fileStore.find(stranger, id), { name: 'NotFound' })
    t.equal((await fileStore.list(stranger, {})).total, 0)
  }
})

const full = { message: 'The storage of the organisation is used up' }
const change = { old_kid: 'kek-1', kid: 'kek-2', wrapped_dek: hex('d', 40), client_hash: null }

t.test('of two changes of a key at once, one counts', async (t) => {
  const { fileStore, up, before, rows } = house()
  const { id } = await up()
  const other = { ...change, kid: 'kek-3', wrapped_dek: hex('e', 40) }
  before(async () => void (await fileStore.rewrap(owner, id, other)))
  await t.rejects(fileStore.rewrap(owner, id, change), thrown({ validator: { old_kid: /./ } }))
  t.match(await rows.get(files, id), { kid: 'kek-3', wrapped_dek: other.wrapped_dek })
})

t.test('a binding is written over the key that it binds alone', async (t) => {
  const { fileStore, up, before, rows } = house()
  const { id } = await up()
  const same = { ...change, kid: fields.kid, wrapped_dek: fields.wrapped_dek, binding: hex('f', 101) }
  before(async () => void (await fileStore.rewrap(owner, id, change)))
  await t.rejects(fileStore.rewrap(owner, id, same), thrown({ validator: { old_kid: /./ } }))
  t.match(await rows.get(files, id), { kid: 'kek-2', binding: null })
})

t.test('a file keeps its key when another one is named', async (t) => {
  const { fileStore, up, rows } = house()
  const { id } = await up()
  await t.rejects(fileStore.rewrap(owner, id, { ...change, old_kid: 'kek-9' }), { name: 'BadRequest' })
  t.match(await rows.get(files, id), { kid: 'kek-1' })
  t.match(await fileStore.rewrap(owner, id, { ...change, client_hash: hex('2', 32) }), { client_hash: hex('2', 32) })
  t.equal((await up()).duplicate, false, 'the old hash is free')
})

t.test('equal files are stored once, incognito files each', async (t) => {
  const { up, paths, fileStore } = house()
  const first = await up()
  t.match(await up(), { id: first.id, duplicate: true })
  t.equal((await paths()).length, 1)
  t.equal((await up({ incognito: true })).duplicate, false)
  t.equal((await fileStore.list(owner, {})).total, 1, 'and are never listed')
})

t.test('an id that a client chooses is new and timely', async (t) => {
  const { clock, up } = house()
  const zero = { bytes: (length: number) => new Uint8Array(length).fill(7), fraction: () => 0 }
  const idAt = (shift: number) => idOf(uuid7({ ...clock, now: () => clock.now() + shift }, zero))
  t.equal((await up({ file_id: idAt(0) })).id, idAt(0))
  await t.rejects(up({ file_id: idAt(0), client_hash: hex('3', 32) }), thrown({ validator: { file_id: /new/ } }))
  await t.rejects(up({ file_id: idAt(hour + 1) }), { name: 'BadRequest' })
  await t.rejects(up({ file_id: idAt(-hour - 1) }), { name: 'BadRequest' })
  t.ok(isTimely(idAt(hour), clock.now()))
  t.notOk(isTimely(idAt(0).toUpperCase(), clock.now()))
})

t.test('a file of exactly the limit is taken, and one byte more is not', async (t) => {
  const { up, paths } = house({ bodies: { file: 100 } })
  t.equal((await up({}, new Uint8Array(100))).row.file_size, 100)
  await t.rejects(up({ client_hash: hex('4', 32) }, new Uint8Array(101)), {
    name: 'BadRequest',
    code: 'request_too_large',
  })
  await t.rejects(
    up({ client_hash: hex('4', 32) }, new Uint8Array(0)),
    thrown({ validator: { encrypted_content: /./ } }),
  )
  t.equal((await paths()).length, 1, 'and nothing of it stays')
})

t.test('an organisation stores as much as its quota, and no file more', async (t) => {
  const heavy = house({ files: { quota: { bytes: 200, files: null } } })
  await heavy.up({ client_hash: hex('5', 32) }, new Uint8Array(200))
  await t.rejects(heavy.up({ client_hash: hex('6', 32) }, new Uint8Array(1)), full)
  const { up, fileStore, paths } = house({ files: { quota: { bytes: null, files: 2 } } })
  const { id } = await up({ client_hash: hex('5', 32) })
  await up({ client_hash: hex('6', 32) })
  await t.rejects(up({ client_hash: hex('7', 32) }, new Uint8Array(1)), full)
  t.equal((await paths()).length, 2)
  await fileStore.remove(owner, id)
  await up({ client_hash: hex('7', 32) })
  const { sweep, clock, rows } = house()
  const stored = storage(rows)
  await stored.enter('acme', 5, { bytes: null, files: null })
  await clock.pass(1)
  await sweep.now()
  const sums = await rows.list(kind<object>('stored'), {})
  t.match(sums.rows[0]!.row, { bytes: 0, files: 0 }, 'the sweep counts anew')
})

t.test('a sweep reads each row of many once, and walks over none to reach a page', async (t) => {
  const { sweep, rows, up } = house()
  const { row } = await up({ client_hash: hex('5', 32) })
  const claims = kind<object>('claim')
  for (let n = 0; n < 1_200; n++) {
    await rows.create(files, `file_${n}`, { ...row, file_size: 1, client_hash: null })
    await rows.create(claims, `acme/anna/${n}`, { file: n < 600 ? `file_${n}` : 'gone', until: null })
  }
  const list = rows.list.bind(rows)
  const given = new Map<string, number>()
  t.intercept(rows, 'list', {
    value: async (...[of, query]: Parameters<typeof list>) => {
      t.equal(query.offset ?? 0, 0)
      const page = await list(of, query)
      if (query.after !== undefined) given.set(of.name, (given.get(of.name) ?? 0) + page.rows.length)
      return page
    },
  })
  await sweep.now()
  t.same([given.get('file'), given.get('claim')], [1_201, 1_201])
  t.equal((await list(claims, {})).total, 601, 'claims of files that are gone')
  const [stored] = (await list(kind<object>('stored'), {})).rows
  t.match(stored!.row, { bytes: 1_200 + row.file_size, files: 1_201 })
})

t.test(
  'a sweep of many expired files takes them in the order of their index, and counts none for a page',
  async (t) => {
    const { sweep, rows, up } = house()
    const { row } = await up()
    for (let n = 0; n < 900; n++)
      await rows.create(files, `file_${n}`, { ...row, client_hash: null, file_path: `gone/${n}`, expires_at: 1 + n })
    const list = rows.list.bind(rows)
    let counted = 0
    t.intercept(rows, 'list', {
      value: async (...[of, query]: Parameters<typeof list>) => {
        const page = await list(of, query)
        if (query.between !== undefined) counted += Math.min(page.total, query.countTo ?? Infinity)
        if (query.between !== undefined) t.equal(query.order?.by, query.between.field)
        return page
      },
    })
    t.match(await sweep.now(), { expired: 900 })
    t.ok(counted <= 900, `${counted}`)
  },
)

t.test('a hash whose upload was abandoned by a clock that runs fast is free after a lease of this clock', async (t) => {
  const { clock, rows } = house()
  const ahead = deduplicating(rows, { ...clock, now: () => clock.now() + 24 * hour })
  t.equal(await ahead.take(owner, fields.client_hash, 'file_lost'), null)
  let taken = false
  const next = deduplicating(rows, clock).take(owner, fields.client_hash, 'file_next')
  void next.then(() => (taken = true))
  await clock.pass(14_000)
  t.notOk(taken, 'the other upload may live')
  await clock.pass(2_000)
  t.ok(taken)
})

t.test('a hash whose upload was abandoned is free when its lease is over', async (t) => {
  const { clock, rows, up } = house()
  const claims = deduplicating(rows, clock)
  t.equal(await claims.take(owner, fields.client_hash, 'file_lost'), null)
  let done = false
  const waiting = up().then((stored) => {
    done = true
    return stored
  })
  await clock.pass(14_900)
  t.notOk(done, 'its owner may still write the record')
  await clock.pass(200)
  t.equal((await waiting).duplicate, false)
})

t.test('of two uploads at once with one id, the content of the loser is stored under another id', async (t) => {
  const { clock, up, fileStore } = house()
  const file_id = idOf(uuid7(clock, { bytes: (length) => new Uint8Array(length).fill(7), fraction: () => 0 }))
  const hashes = [hex('1', 32), hex('2', 32)]
  const both = await Promise.allSettled(hashes.map((client_hash) => up({ file_id, client_hash })))
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const lost = hashes[both.findIndex(({ status }) => status === 'rejected')]!
  const again = up({ client_hash: lost })
  await clock.pass(15_100)
  const { id, duplicate } = await again
  t.notOk(duplicate)
  t.not(id, file_id)
  t.match(await fileStore.find(owner, id), { client_hash: lost })
  t.match(await up({ client_hash: lost }), { id, duplicate: true })
})

t.test('an abandoned indexing is shown as failed when its lease is over', async (t) => {
  const { clock, up } = house()
  const { id, row } = await up()
  const until = clock.now() + 1000
  for (const rag_status of ['pending', 'running'] as const) {
    const leased = { ...row, rag_status, rag_until: until }
    t.equal(printed(id, leased, until).rag_status, rag_status)
    t.equal(printed(id, leased, until + 1).rag_status, 'failed')
  }
  t.equal(printed(id, { ...row, rag_status: 'completed', rag_until: until }, until + 1).rag_status, 'completed')
  t.end()
})

t.test('stored bytes tell their file and when they began to come in', (t) => {
  const [first, second] = ['01920000-0000-7000-8000-000000000001', '01930000-0000-7000-8000-000000000002']
  const [one, two] = [0x019200000000, 0x019300000000]
  t.same(belonging(`encrypted/a/b/${first}.enc`), { id: `file_${first}`, since: one })
  t.same(belonging(`encrypted/a/b/${first}.${second}.enc`), { id: `file_${first}`, since: two })
  t.same(belonging(`index/a/b/${first}.${second}.idx`), { id: `file_${first}`, since: two })
  for (const other of [`${first}.txt`, `x${first}.enc`, `${first}.enc.part`, 'notes.enc'])
    t.equal(belonging(other), null)
  t.end()
})
