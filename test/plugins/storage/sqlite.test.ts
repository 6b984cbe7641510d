import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import AsyncDatabase from 'libsql/promise'
import t, { type Test } from 'tap'
import { Unavailable } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { kind, MetadataStore, type Query } from '../../../core/ports/metadata-store.ts'
import sqlite from '../../../plugins/storage/sqlite.ts'
import { columns, from, orderBy } from '../../../plugins/storage/sqlite/statement.ts'
import { conform } from '../../contracts/contract.ts'
import { metadataStore } from '../../contracts/metadata-store.ts'
import { made } from '../../fitted.ts'
import { isWhole } from '../../whole.ts'
import { keepsNamesOut, type Note, readsPages, unavailable } from './shared-rows.ts'
import { turnsDuring } from '../../turns-during.ts'
import { failed } from '../../helpers.ts'

const notes = kind<Note>('notes', [['organization', 'user', 'created']])
const counts = kind<Record<string, number>>('counts')
const note = (created: number, user = 'u'): Note => ({ organization: 'o', user, created, name: `note ${created}` })

const at = (t: Test, file = join(t.testdir(), 'rows.db')) => {
  const store = made(MetadataStore, use(sqlite, { file }))
  t.teardown(() => store.dispose?.())
  return { store, file }
}

/** Another connection, as another process would have. */
const beside = (t: Test, file: string) => {
  const db = new Database(file, { timeout: 5000 })
  t.teardown(() => db.close())
  return db
}

/** What the work gives, and its ms. */
const timed = async <T>(work: () => Promise<T>): Promise<readonly [T, number]> => {
  const start = performance.now()
  return [await work(), performance.now() - start]
}

/** Every SQL text that goes by, until the test is over. */
const overhear = (t: Test, prototype: object, method: string): string[] => {
  const heard: string[] = []
  const own = prototype as Record<string, (sql: string) => unknown>
  const before = own[method]!
  own[method] = function (this: unknown, sql: string) {
    heard.push(sql)
    return before.call(this, sql)
  }
  t.teardown(() => (own[method] = before))
  return heard
}

/** A process with a store of its own on the file. */
const inProcess = (file: string, body: string) => {
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const plugin = new URL(`../../../plugins/storage/sqlite${ending}`, import.meta.url).href
  const program = `
    import sqlite from ${JSON.stringify(plugin)}
    const store = sqlite.create({}, { file: process.argv[1] }, 'sqlite')
    const [notes, counts] = ${JSON.stringify([notes, counts])}
    ${body}`
  return spawn(process.execPath, [...process.execArgv, '--input-type=module', '-e', program, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

t.test('contract', (t) => conform(t, metadataStore.contract, (t) => at(t).store))

t.test('an acknowledged change outlives a kill', async (t) => {
  const file = join(t.testdir(), 'rows.db')
  const child = inProcess(
    file,
    `const forever = async (first) => {
      for (let i = first; ; i += 16) {
        await store.create(notes, 'n' + i, { organization: 'o', user: 'u', created: i, name: 'x'.repeat(500) })
        await store.add(counts, 'c', { n: 1 })
        process.stdout.write(i + '\\n')
      }
    }
    for (let i = 0; i < 16; i++) void forever(i)`,
  )
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (output.length > 4000) child.kill('SIGKILL')
  })
  t.same(await once(child, 'close'), [null, 'SIGKILL'])

  const acknowledged = output.split('\n').slice(0, -1)
  const { store } = at(t, file)
  const { rows, total } = await store.list(notes, {})
  const there = new Set(rows.map(({ id }) => id))
  t.ok(acknowledged.length > 500, `${acknowledged.length} were acknowledged`)
  t.same(
    acknowledged.filter((i) => !there.has(`n${i}`)),
    [],
  )
  t.ok(
    rows.every(({ id, row }) => id === `n${row.created}` && row.name.length === 500),
    'all rows are whole',
  )
  const { n } = (await store.get(counts, 'c'))!
  t.ok(n! >= acknowledged.length && n! <= total, 'the counter missed none')
})

t.test('two processes share a file', async (t) => {
  const { store, file } = at(t)
  await store.create(notes, 'ours', note(1))
  const child = inProcess(
    file,
    `const seen = await store.get(notes, 'ours')
    await Promise.all(Array.from({ length: 300 }, () => store.add(counts, 'c', { n: 1 })))
    const won = await Promise.all(Array.from({ length: 50 }, (_, i) => store.create(notes, 'both' + i, seen)))
    process.stdout.write(String(won.filter(Boolean).length))
    await store.dispose()`,
  )
  let theirs = ''
  child.stdout.on('data', (chunk) => (theirs += chunk))
  const over = once(child, 'close')
  let n = 0
  for (; child.exitCode === null; n += 10) {
    await Promise.all(Array.from({ length: 10 }, () => store.add(counts, 'c', { n: 1 })))
    await sleep(1)
  }
  t.same(await over, [0, null])
  t.same(await store.get(counts, 'c'), { n: n + 300 })
  const won = await Promise.all(Array.from({ length: 50 }, (_, i) => store.create(notes, `both${i}`, note(i))))
  t.equal(won.filter(Boolean).length + Number(theirs), 50)
})

t.test('waits for another process without holding up this one', async (t) => {
  const { store, file } = at(t)
  await store.add(counts, 'c', { n: 1 })
  const other = beside(t, file)
  other.exec('begin immediate')
  let done = false
  const write = store.add(counts, 'c', { n: 1 }).then(() => (done = true))
  for (let i = 0; i < 20; i++) {
    await sleep(5)
    t.same(await store.get(counts, 'c'), { n: 1 })
  }
  t.notOk(done)
  other.exec('commit')
  await write
  t.same(await store.get(counts, 'c'), { n: 2 })
})

t.test('writes that wait share a commit', async (t) => {
  const { store } = at(t)
  await store.add(counts, 'c', { n: 1 })
  const heard = overhear(t, AsyncDatabase.prototype, 'exec')
  await Promise.all(Array.from({ length: 1000 }, () => store.add(counts, 'c', { n: 1 })))
  const commits = heard.filter((sql) => sql === 'commit').length
  t.ok(commits >= 4 && commits <= 6, `${commits} commits for 1000 writes`)
  t.same(await store.get(counts, 'c'), { n: 1001 })
})

t.test('a failing write of a shared commit fails alone, unless the whole transaction fails', async (t) => {
  const { store, file } = at(t)
  await store.create(notes, 'a', note(1))
  const other = beside(t, file)
  for (const way of ['abort', 'rollback']) {
    other.exec(`create trigger ${way} before insert on rows when new.id = '${way}'
      begin select raise(${way}, 'no ${way}'); end`)
  }
  const together = (...ids: string[]) => ids.map((id) => store.create(notes, id, note(1)))
  const [b, bad, c] = together('b', 'abort', 'c')
  await unavailable(t, bad!, /no abort/)
  t.same(await Promise.all([b, c]), [true, true])
  const [first, ...rest] = together('d', 'e', 'rollback', 'f')
  t.equal(await first, true, 'was under way alone')
  for (const work of rest) await unavailable(t, work, /no rollback/)
  t.same(
    (await store.list(notes, {})).rows.map(({ id }) => id),
    ['a', 'b', 'c', 'd'],
  )
  t.equal(await store.create(notes, 'e', note(1)), true, 'goes on')
})

t.test('a range and an order walk the index that begins with their field, where there is one', async (t) => {
  const { store, file } = at(t)
  const dated = kind<{ readonly day: string; readonly size?: number }>('dated', [['day']])
  await store.create(dated, 'a', { day: '2030-01-01' })
  const other = beside(t, file)
  const planOf = (query: Query<{ readonly day: string; readonly size?: number }>, of = dated): string => {
    const { sql, values } = from(of, query)
    const steps = other
      .prepare(`explain query plan select ${columns} ${sql} ${query.order ? orderBy(query) : ''}`)
      .all([...values])
    return (steps as { detail: string }[]).map(({ detail }) => detail).join('; ')
  }
  const between = { field: 'day', from: '2030-01-01', to: '2030-01-02' } as const
  const order = { by: 'day' } as const
  t.equal(planOf({ between }), 'SEARCH rows USING INDEX dated:day (<expr>>? AND <expr><?)')
  t.equal(planOf({ order }), 'SCAN rows USING INDEX dated:day')
  const ids = 'SEARCH rows USING INDEX sqlite_autoindex_rows_1 (kind=? AND id>? AND id<?)'
  t.equal(planOf({ between, prefix: 'a' }), ids)
  t.equal(planOf({ between }, kind('bare')), 'SEARCH rows USING INDEX sqlite_autoindex_rows_1 (kind=?)')
})

const most = isWhole ? 100_000 : 20_000

t.test(`${most} rows of one tenant`, async (t) => {
  const { store, file } = at(t)
  const filling = performance.now()
  for (let i = 0; i < most; i += 2000) {
    await Promise.all(Array.from({ length: 2000 }, (_, j) => store.create(notes, `note_${i + j}`, note((i + j) * 7))))
  }
  t.comment(`a write among many: ${Math.round(((performance.now() - filling) * 1000) / most)} µs`)

  await t.test('a page with its total comes from the index', async (t) => {
    const heard = overhear(t, Database.prototype, 'prepare')
    await readsPages(t, store, most, { of: notes })
    const other = beside(t, file)
    const plans = heard.map((sql) => {
      const steps = other
        .prepare(`explain query plan ${sql}`)
        .all(sql.includes('limit') ? ['o', 'u', 20, 0] : ['o', 'u'])
      return (steps as { detail: string }[]).map(({ detail }) => detail).join('; ')
    })
    for (const plan of plans) t.comment(plan)
    const search = 'SEARCH rows USING INDEX notes:organization,user,created (<expr>=? AND <expr>=?)'
    t.same(plans, [search, search], 'no scan, no sort')
  })

  await t.test('reading one takes microseconds', async (t) => {
    const start = performance.now()
    for (let i = 0; i < 5000; i++) await store.get(notes, `note_${(i * 17) % most}`)
    const each = ((performance.now() - start) * 1000) / 5000
    t.comment(`${each.toFixed(1)} µs`)
    t.ok(each < 500)
  })

  await t.test('a search for text yields to other calls, and they see new rows', async (t) => {
    await store.add(counts, 'c', { n: 1 })
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    let looking = true
    const start = performance.now()
    const search = store
      .list(notes, { where: { organization: 'o' }, contains: { text: `NOTE ${(most - 1) * 7}`, fields: ['name'] } })
      .finally(() => (looking = false))
    let turns = 0
    const counting = (async () => {
      for (; looking; turns++) await turn()
    })()
    let n = 1
    while (looking) {
      await store.add(counts, 'c', { n: 1 })
      if ((await store.get(counts, 'c'))?.n !== ++n) t.fail('an old row')
    }
    await counting
    t.same(await search, { rows: [{ id: `note_${most - 1}`, row: note((most - 1) * 7) }], total: 1 })
    delay.disable()
    t.comment(
      `${Math.round(performance.now() - start)} ms, longest stop ${(delay.max / 1e6).toFixed(1)} ms, ${turns} turns and ${n} writes meanwhile`,
    )
    // How many writes fit into a search is a matter of the disk.
    t.ok(turns > 10 && n > 1, 'others had their turn')
  })

  await t.test('a commit waits for the disk elsewhere', async (t) => {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const start = performance.now()
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 250; i++) await store.add(counts, 'd', { n: 1 })
      }),
    )
    delay.disable()
    const each = ((performance.now() - start) * 1000) / 2000
    t.comment(`8 writers: ${each.toFixed(0)} µs a write, longest stop ${(delay.max / 1e6).toFixed(1)} ms`)
    t.same(await store.get(counts, 'd'), { n: 2000 })
  })
})

t.test('a fault while running is Unavailable, and passes', async (t) => {
  const { store, file } = at(t)
  await store.create(notes, 'a', note(1))
  const other = beside(t, file)
  other.exec('alter table rows rename to gone')
  await unavailable(t, store.get(notes, 'a'), /rows/)
  await unavailable(t, store.create(notes, 'b', note(2)), /rows/)
  await unavailable(t, store.update(notes, 'a', { created: 2 }), /rows/)
  await unavailable(t, store.list(notes, {}), /rows/)
  await unavailable(t, store.list(notes, { contains: { text: 'n', fields: ['name'] } }), /rows/)
  other.exec('alter table gone rename to rows')
  t.same(await store.get(notes, 'a'), note(1))
  t.equal(await store.create(notes, 'b', note(2)), true)
})

t.test('a damaged file is Unavailable, and ends no process', { timeout: 120_000 }, async (t) => {
  const { store, file } = at(t)
  for (let i = 0; i < 200; i++) await store.create(notes, `n${i}`, note(i))
  beside(t, file).pragma('wal_checkpoint(truncate)')
  const whole = await readFile(file)
  let refused = 0
  const damaged = async (change: (bytes: Buffer) => void, read: (store: MetadataStore) => Promise<void>) => {
    const bytes = Buffer.from(whole)
    change(bytes)
    const other = `${file}-damaged`
    for (const ending of ['', '-wal', '-shm']) await rm(other + ending, { force: true })
    await writeFile(other, bytes)
    let opened: MetadataStore | null = null
    try {
      opened = made(MetadataStore, use(sqlite, { file: other }))
    } catch (fault) {
      t.match((fault as Error).message, /^sqlite: the file cannot be opened/)
      refused++
    }
    if (opened !== null) await read(opened)
    await opened?.dispose?.()
  }
  for (let at = 0; at < whole.length; at += 229)
    await damaged(
      (bytes) => void (bytes[at]! ^= 1 << (at % 8)),
      async (store) => {
        const text = { contains: { text: 'note', fields: ['name'] } } as const
        for (const read of [store.get(notes, 'n77'), store.list(notes, {}), store.list(notes, text)]) {
          const fault = await failed(read)
          if (fault !== null && !(fault instanceof Unavailable)) t.fail(`at ${at}`, { fault })
          if (fault !== null) refused++
        }
      },
    )
  t.ok(refused > 5, `${refused} refusals`)
  const inText = whole.indexOf('note 77')
  await damaged(
    (bytes) => void (bytes[inText] = 0xff),
    async (store) => {
      await unavailable(t, store.get(notes, 'n77'))
      await unavailable(t, store.list(notes, {}))
      await unavailable(t, store.list(notes, { contains: { text: 'n', fields: ['name'] } }))
      t.same(await store.get(notes, 'n78'), note(78), 'other rows are read')
    },
  )
})

t.test('closes when all that was asked is done, and is closed then', async (t) => {
  const { store, file } = at(t)
  const writes = Array.from({ length: 600 }, (_, i) => store.create(counts, `c${i}`, { n: i }))
  await new Promise(setImmediate)
  await store.dispose!()
  t.equal((await Promise.all(writes)).filter(Boolean).length, 600)
  await unavailable(t, store.get(counts, 'c1'))
  await unavailable(t, store.list(counts, {}))
  await unavailable(t, store.list(counts, { contains: { text: 'n', fields: ['n'] } }))
  await unavailable(t, store.add(counts, 'c1', { n: 1 }))
  t.equal((await at(t, file).store.list(counts, {})).total, 600)
})

t.test('a backup in the place of a file that a process has closed is the whole state', async (t) => {
  const file = join(t.testdir(), 'rows.db')
  const child = inProcess(
    file,
    `import Database from 'libsql'
    const many = (from) =>
      Promise.all(Array.from({ length: 200 }, (_, nth) => store.create(notes, 'n' + (from + nth), { name: 'a note' })))
    await many(0)
    new Database(process.argv[1]).prepare('vacuum into ?').run(process.argv[1] + '.backup')
    await many(200)
    await store.dispose()
    process.exit()`,
  )
  t.same(await once(child, 'close'), [0, null])
  t.equal((await stat(`${file}-wal`).catch(() => null))?.size ?? 0, 0, 'its log is empty or gone')
  await copyFile(`${file}.backup`, file)
  t.equal((await at(t, file).store.list(notes, {})).total, 200)
})

t.test('a store closes at once while another process reads its log', async (t) => {
  const { store, file } = at(t)
  await store.create(notes, 'a', note(1))
  const other = beside(t, file)
  other.exec('begin; select * from rows')
  const [, ms] = await timed(async () => store.dispose!())
  other.exec('commit')
  t.ok(ms < 2_500, `${Math.round(ms)} ms, of 5000 for another writer`)
  t.same(await at(t, file).store.get(notes, 'a'), note(1))
})

t.test('no name gets into SQL that could mean something there', (t) => keepsNamesOut(t, at(t).store))

t.test('a wrong setting fails at boot', async (t) => {
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(sqlite, { file: 'x', flie: 'y' }), /flie is not a known setting/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(sqlite, {}), /file is missing/)
  t.throws(() => use(sqlite, { file: ':memory:' }), /file expected/)
  const folder = t.testdir({ 'no.db': 'this is no database, only text that goes on for a while'.repeat(100) })
  const cannot = (file: string, cause: RegExp) =>
    t.throws(() => made(MetadataStore, use(sqlite, { file: join(folder, file) })), {
      message: /^sqlite: the file cannot be opened/,
      cause: { message: cause },
    })
  cannot('missing/rows.db', /ENOENT/)
  cannot('no.db', /not a database/)
  const other = beside(t, join(folder, 'held.db'))
  other.exec('create table x (y); begin exclusive')
  cannot('held.db', /locked/)
})

t.test('of searches at the same time one has a turn of the loop', async (t) => {
  const { store } = at(t)
  await Promise.all(Array.from({ length: 1_000 }, (_, nth) => store.create(notes, `note_${nth}`, note(nth))))
  const search = () => store.list(notes, { contains: { text: 'nowhere', fields: ['name'] } })
  const turns = await turnsDuring(() => Promise.all(Array.from({ length: 8 }, search)))
  t.ok(turns >= 80, `${turns} turns`)
})
