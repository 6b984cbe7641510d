import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import t from 'tap'
import memory from '../../../adapters/memory/metadata-store.ts'
import { system } from '../../../adapters/memory/platform.ts'
import usageJournal from '../../../adapters/production/usage-journal.ts'
import { Ledger } from '../../../core/ports/ledger.ts'
import { type UsageLedger, ledger } from '../../../plugins/usage/ledger.ts'
import type { Place } from '../../../core/ports/ledger.ts'
import { shares, usages } from '../../../plugins/usage/usage-rows.ts'
import { use } from '../../../core/plugin.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Clock, Log, Random } from '../../../core/ports/platform.ts'
import { type Journal, UsageJournal } from '../../../plugins/usage/usage-journal.ts'
import { type FakeClock, fakeClock, settled } from '../../fakes/clock.ts'
import { fitted, given } from '../../fitted.ts'
import { chance } from '../../lab/hunt/damage.ts'

const seed = Number(process.env['SEALGATE_SEED'] ?? 90_210)
const lives = Number(process.env['SEALGATE_LIVES'] ?? 60)

const silence = new Promise<never>(() => {})

/** Journals of processes of which it is known which of them are gone. */
interface Shelf {
  readonly kept: Map<string, { lines: string[]; owner: object }>
  readonly gone: Set<object>
  /** What fails, as on a broken disk. */
  readonly refused?: Set<keyof Journal | 'open'>
}

/** All that changes something on a disk. */
const writes = ['open', 'append', 'replace', 'beat', 'remove'] as const

const shelved = ({ kept, gone, refused }: Shelf, owner: object): UsageJournal => {
  const meet = (work: keyof Journal | 'open') => {
    if (refused?.has(work)) throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' })
  }
  const journalAt = (name: string): Journal => {
    const own = (work: keyof Journal) => {
      meet(work)
      const args = kept.get(name)
      if (args === undefined || args.owner !== owner) throw new Error('Another process has it')
      return args
    }
    return {
      append: (lines) => void own('append').lines.push(...lines.split('\n').slice(0, -1)),
      replace: (lines) => void (own('replace').lines = [...lines]),
      beat() {
        meet('beat')
        return kept.get(name)?.owner === owner
      },
      remove() {
        meet('remove')
        if (kept.get(name)?.owner === owner) kept.delete(name)
      },
    }
  }
  return {
    lasting: true,
    open() {
      meet('open')
      const name = randomUUID()
      kept.set(name, { lines: [], owner })
      return journalAt(name)
    },
    take() {
      for (const [name, args] of kept) {
        if (args.owner === owner || !gone.has(args.owner)) continue
        args.owner = owner
        return { journal: journalAt(name), lines: [...args.lines] }
      }
      return null
    },
  }
}

/** A process that counts, until it is killed: then none of its code runs any more, though what it had sent may arrive. */
const processOf = (store: MetadataStore, clock: FakeClock, journals: string | Shelf, fails: () => boolean) => {
  const owner = {}
  let killed = false
  /** What would have rung meanwhile. */
  let paused: (() => void)[] | null = null
  const alive =
    <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (killed) return silence
      if (fails()) throw new Error('No store')
      const done = await work(...args)
      return killed ? silence : done
    }
  const rows: MetadataStore = {
    ...store,
    get: alive(store.get) as MetadataStore['get'],
    create: alive(store.create) as MetadataStore['create'],
    add: alive(store.add) as MetadataStore['add'],
    list: alive(store.list) as MetadataStore['list'],
  }
  const rung = (ring: () => void) => () => void (paused?.push(ring) ?? (killed || ring()))
  const own: Clock = { ...clock, alarm: (ms, ring) => clock.alarm(ms, rung(ring)) }
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  const parts = fitted(
    use(ledger),
    typeof journals === 'string'
      ? use(usageJournal, { folder: journals })
      : given(UsageJournal, 'shelf', () => shelved(journals, owner)),
    given(MetadataStore, 'rows', () => rows),
    given(Clock, 'clock', () => own),
    given(Random, 'random', () => system.random),
    given(Log, 'log', () => ({ info: note, warn: note, error: note })),
  )
  const kill = () => {
    killed = true
    if (typeof journals !== 'string') journals.gone.add(owner)
  }
  /** Stands still until the function is called that this gives. */
  const pause = () => {
    paused = []
    if (typeof journals !== 'string') journals.gone.add(owner)
    return () => {
      const late = paused ?? []
      paused = null
      for (const ring of late) ring()
    }
  }
  const usage = parts.supply({ ledger: Ledger }).ledger as UsageLedger
  return { ledger: usage, events, dispose: () => parts.dispose(), kill, pause }
}

const placeOf = (draw: (below: number) => number): Place => ({
  ...{
    organization: 'o',
    key: `k${draw(3)}`,
    user: 'u',
    day: ['2030-01-30', '2030-01-31'][draw(2)]!,
    model: `m${draw(2)}`,
  },
  ...(draw(2) === 0 && { backend: `b${draw(2)}` }),
  ...(draw(2) === 0 && { tags: [`t=${draw(2)}`] }),
})

t.test('counts of killed processes are written once, whenever they are killed', { timeout: 170_000 }, async (t) => {
  const draw = chance(seed)
  const store = memory.create({}, {}, 'memory')
  const clock = fakeClock(Date.UTC(2030, 0, 31, 12))
  const shelf: Shelf = { kept: new Map(), gone: new Set() }
  let isDown = false
  const begin = () => processOf(store, clock, shelf, () => isDown && draw(2) === 0)
  let input = 0
  let requests = 0
  let shared = 0
  const counted = (place: Place, amount: number) => {
    input += amount
    requests++
    shared += amount * ((place.backend === undefined ? 0 : 1) + (place.tags?.length ?? 0))
  }

  let killed = 0
  let two = [begin(), begin()]
  const open: [number, Place, number][][] = [[], []]
  for (let step = 0; killed < lives; step++) {
    const at = draw(2)
    const args = two[at]!
    const place = placeOf(draw)
    const amount = 1 + draw(1_000)
    switch (draw(9)) {
      case 0:
      case 1:
        args.ledger.add(place, { requests: 1, input: amount })
        counted(place, amount)
        break
      case 2:
      case 3:
        open[at]!.push([args.ledger.open(place, () => ({ requests: 1, input: amount })), place, amount])
        args.ledger.keep()
        break
      case 4:
      case 5: {
        const one = open[at]!.pop()
        if (one === undefined) break
        const [call, , guess] = one
        if (draw(3) === 0) args.ledger.cancel(call)
        else {
          args.ledger.settle(call, place, { requests: 1, input: guess + 1 })
          args.ledger.keep()
          counted(place, guess + 1)
        }
        break
      }
      case 6:
        isDown = draw(3) === 0
        break
      case 7:
        await clock.pass(draw(3) === 0 ? 70_000 : draw(2_500))
        break
      default: {
        // In the midst of a write, as often as not.
        const passing = clock.pass(draw(2_000))
        for (let turns = draw(4); turns > 0; turns--) await settled()
        args.kill()
        await passing
        for (const [, place, guess] of open[at]!.splice(0)) counted(place, guess)
        two[at] = begin()
        killed++
      }
    }
  }
  isDown = false
  for (const [at, args] of two.entries()) {
    args.kill()
    for (const [, place, guess] of open[at]!) counted(place, guess)
  }
  const last = begin()
  await clock.pass(700_000)
  const sums = { input: 0, requests: 0 }
  for (const { row } of (await store.list(usages, {})).rows) {
    sums.input += row.input ?? 0
    sums.requests += row.requests ?? 0
  }
  t.same(sums, { input, requests })
  const parts = (await store.list(shares, {})).rows.reduce((sum, { row }) => sum + (row.input ?? 0), 0)
  t.equal(parts, shared, 'under backends and tags, too')
  await last.dispose()
  t.equal(shelf.kept.size, 0, 'no journal is left')
})

t.test('a process whose journal was taken counts its calls no more, and begins anew', async (t) => {
  const store = memory.create({}, {}, 'memory')
  const clock = fakeClock(Date.UTC(2030, 0, 31, 12))
  const shelf: Shelf = { kept: new Map(), gone: new Set() }
  const quiet = processOf(store, clock, shelf, () => false)
  const place: Place = { organization: 'o', key: 'k', user: 'u', day: '2030-01-31', model: 'm' }
  const call = quiet.ledger.open(place, () => ({ requests: 1, estimated: 1 }))
  quiet.ledger.keep()
  const other = processOf(store, clock, shelf, () => false)
  quiet.ledger.add(place, { requests: 1_000 })
  const resume = quiet.pause()
  await clock.pass(61_000)
  t.ok(other.events.includes('usage.recovered'))
  shelf.gone.clear()
  quiet.ledger.add(place, { requests: 10 })
  quiet.ledger.settle(call, place, { requests: 1 })
  quiet.ledger.keep()
  resume()
  await clock.pass(2_000)
  t.ok(quiet.events.includes('usage.taken'))
  t.match(await store.get(usages, 'k/2030-01-31/m'), { requests: 1_011, estimated: 1 })
  await Promise.all([quiet.dispose(), other.dispose()])
})

t.test('the journal of a process that is gone is taken at once, by one alone', async (t) => {
  const folder = join(t.testdir({}), 'usage')
  const made = (clock: Clock = system.clock) => usageJournal.create({ clock }, { folder }, 'usage-journal')
  const [one, other] = [made(), made()]
  t.equal(one.take(), null, 'there is no folder yet')
  const journal = one.open()!
  journal.append('kept\n')
  t.equal(other.take(), null, 'its process lives')
  t.equal(statSync(folder).mode & 0o077, 0)
  const [name] = readdirSync(folder)
  t.equal(statSync(join(folder, name!)).mode & 0o077, 0)

  const { pid } = spawnSync(process.execPath, ['--eval', ''])
  const gone = name!.replace(`-${process.pid}-`, `-${pid}-`)
  writeFileSync(join(folder, gone), 'first\nsecond\nwithout an en')
  const taken = [one.take(), other.take()]
  t.same(taken[0]?.lines, ['first', 'second'])
  t.equal(taken[1], null)
  taken[0]?.journal.append('third\n')
  const rest = readdirSync(folder).find((text) => text !== name)!
  t.match(readFileSync(join(folder, rest), 'utf8'), /third\n$/)
  taken[0]?.journal.remove()
  t.same(readdirSync(folder), [name])

  journal.replace(['a', 'b'])
  journal.append('c\n')
  t.equal(readFileSync(join(folder, name!), 'utf8'), 'a\nb\nc\n')
  t.equal(journal.beat(), true)
  const late = made({ ...system.clock, now: () => Date.now() + 61_000 })
  t.same(late.take()?.lines, ['a', 'b', 'c'], 'a silent process is gone')
  t.equal(journal.beat(), false, 'and is told so')
})

t.test('a journal that cannot be written stops no call, and is no second copy', async (t) => {
  const store = memory.create({}, {}, 'memory')
  const clock = fakeClock(Date.now())
  const file = join(t.testdir({ taken: 'a file' }), 'taken')
  chmodSync(file, 0o600)
  const process = processOf(store, clock, file, () => false)
  const place: Place = { organization: 'o', key: 'k', user: 'u', day: '2030-01-31', model: 'm' }
  const call = process.ledger.open(place, () => ({ requests: 1 }))
  process.ledger.settle(call, place, { requests: 1 })
  process.ledger.keep()
  await clock.pass(1_000)
  t.equal((await store.get(usages, 'k/2030-01-31/m'))?.requests, 1)
  t.ok(process.events.includes('usage.unkept'))
  await process.dispose()
  t.equal(UsageJournal.name, 'UsageJournal')
})

t.test('a folder that takes no sign of life ends no process, and each count is written once', async (t) => {
  const store = memory.create({}, {}, 'memory')
  const clock = fakeClock(Date.UTC(2030, 0, 31, 12))
  const shelf: Shelf = { kept: new Map(), gone: new Set(), refused: new Set(['beat']) }
  const process = processOf(store, clock, shelf, () => false)
  const place: Place = { organization: 'o', key: 'k', user: 'u', day: '2030-01-31', model: 'm' }
  const call = process.ledger.open(place, () => ({ requests: 1_000 }))
  process.ledger.add(place, { requests: 1 })
  shelf.refused!.add('open')
  await clock.pass(6_000)
  t.ok(process.events.includes('usage.unkept'))
  t.equal(shelf.kept.size, 0, 'the journal is no second copy')
  process.ledger.settle(call, place, { requests: 10 })
  process.ledger.add(place, { requests: 100 })
  await clock.pass(6_000)
  t.equal((await store.get(usages, 'k/2030-01-31/m'))?.requests, 111)
  await process.dispose()
})

/** Two processes that share a shelf and a store, of which the first breaks its journal. */
const breaking = () => {
  const store = memory.create({}, {}, 'memory')
  const clock = fakeClock(Date.UTC(2030, 0, 31, 12))
  const refused: NonNullable<Shelf['refused']> = new Set()
  const shelf: Shelf = { kept: new Map(), gone: new Set(), refused }
  const place: Place = { organization: 'o', key: 'k', user: 'u', day: '2030-01-31', model: 'm' }
  const down = { isDown: false }
  const begin = () => processOf(store, clock, shelf, () => down.isDown)
  const requests = async () => (await store.get(usages, 'k/2030-01-31/m'))?.requests
  /** Neither the store nor the disk takes anything. */
  const failAll = () => {
    down.isDown = true
    for (const work of writes) refused.add(work)
  }
  return { clock, shelf, refused, place, down, failAll, begin, requests }
}

t.test('a journal that broke is begun anew, and keeps what came before and meanwhile', async (t) => {
  const { clock, shelf, refused, place, down, begin, requests } = breaking()
  const process = begin()
  const open = (guess: number) => {
    const call = process.ledger.open(place, () => ({ requests: guess }))
    process.ledger.keep()
    return call
  }
  down.isDown = true
  const [early, cut] = [open(1), open(10)]
  for (const work of ['open', 'append', 'replace'] as const) refused.add(work)
  process.ledger.add(place, { requests: 100 })
  const meanwhile = open(1_000)
  await clock.pass(12_000)
  t.equal(process.events.filter((event) => event === 'usage.unkept').length, 1, 'one line tells of a break')
  t.equal(shelf.kept.size, 0)
  refused.clear()
  await clock.pass(6_000)
  t.ok(process.events.includes('usage.kept'))
  process.ledger.settle(early, place, { requests: 2 })
  process.ledger.settle(meanwhile, place, { requests: 2_000 })
  process.ledger.keep()
  process.kill()
  down.isDown = false
  const other = begin()
  await clock.pass(3_000)
  t.equal(await requests(), 2_112, 'the call that was cut counts as its guess')
  t.ok(cut > early)
  t.equal(shelf.kept.size, 0)
  await other.dispose()
})

t.test('a journal that breaks and stays on its disk counts once', async (t) => {
  for (const [counted, isDown, works] of [
    ['by its process, where that wrote', false, writes],
    ['by its process, where the journal breaks within a write', false, ['append', 'open', 'replace', 'remove']],
    ['by the next process, where nothing was written', true, writes],
  ] as const) {
    const { clock, shelf, refused, place, down, begin, requests } = breaking()
    const process = begin()
    process.ledger.add({ ...place, backend: 'b', tags: ['t=1'] }, { requests: 1 })
    for (const work of works) refused.add(work)
    down.isDown = isDown
    await clock.pass(1_500)
    t.equal(await requests(), isDown ? undefined : 1)
    t.equal(process.events.filter((event) => event === 'usage.behind').length, isDown ? 0 : 1)
    process.kill()
    refused.clear()
    down.isDown = false
    const other = begin()
    await clock.pass(8_000)
    t.equal(await requests(), 1, counted)
    t.equal(other.events.includes('usage.void'), !isDown)
    t.equal(shelf.kept.size, 0)
    await other.dispose()
  }
})

t.test('a journal that stays behind is marked also while nothing is counted, and is written anew', async (t) => {
  const { clock, shelf, refused, place, begin, requests } = breaking()
  const process = begin()
  const call = process.ledger.open(place, () => ({ requests: 1 }))
  process.ledger.keep()
  for (const work of writes) refused.add(work)
  await clock.pass(7_000)
  t.ok(process.events.includes('usage.behind'))
  refused.clear()
  await clock.pass(6_000)
  t.ok(process.events.includes('usage.kept'))
  t.equal(shelf.kept.size, 1)
  process.ledger.settle(call, place, { requests: 10 })
  process.ledger.keep()
  process.kill()
  const other = begin()
  await clock.pass(3_000)
  t.equal(await requests(), 10, 'the new edition counts')
  await other.dispose()
})

t.test('a process whose broken journal was taken meanwhile counts no call of it again', async (t) => {
  const { clock, shelf, refused, place, down, failAll, begin, requests } = breaking()
  const process = begin()
  process.ledger.add(place, { requests: 1 })
  failAll()
  await clock.pass(1_500)
  const resume = process.pause()
  refused.clear()
  down.isDown = false
  const other = begin()
  await clock.pass(3_000)
  shelf.gone.clear()
  resume()
  await clock.pass(7_000)
  t.ok(process.events.includes('usage.taken'))
  t.equal(await requests(), 1)
  await Promise.all([process.dispose(), other.dispose()])
})

t.test('a process that ends with a broken journal tries it once more', async (t) => {
  const { clock, shelf, refused, place, down, failAll, begin, requests } = breaking()
  const process = begin()
  process.ledger.add(place, { requests: 1 })
  failAll()
  await clock.pass(1_500)
  refused.clear()
  await process.dispose()
  t.notOk(process.events.includes('usage.lost'))
  down.isDown = false
  shelf.gone.add([...shelf.kept.values()][0]!.owner)
  const other = begin()
  await clock.pass(3_000)
  t.equal(await requests(), 1)
  await other.dispose()
})

t.test(
  'a call that ends after its ledger counts with the next process, and nothing writes to a closed store',
  async (t) => {
    const { clock, shelf, place, down, begin, requests } = breaking()
    const process = begin()
    const call = process.ledger.open(place, () => ({ requests: 10 }))
    process.ledger.keep()
    await process.dispose()
    down.isDown = true
    process.ledger.settle(call, place, { requests: 1 })
    await clock.pass(5_000)
    t.same(process.events, [], 'the journal keeps the counts')
    down.isDown = false
    shelf.gone.add([...shelf.kept.values()][0]!.owner)
    const other = begin()
    await clock.pass(8_000)
    t.equal(await requests(), 1)
    await other.dispose()
  },
)

t.test(
  'a call that begins after its ledger writes to no file, and the log tells that nothing keeps its counts',
  async (t) => {
    const folder = join(t.testdir({}), 'usage')
    const store = memory.create({}, {}, 'memory')
    const clock = fakeClock(Date.UTC(2030, 0, 31, 12))
    const process = processOf(store, clock, folder, () => false)
    const place: Place = { organization: 'o', key: 'k', user: 'u', day: '2030-01-31', model: 'm' }
    process.ledger.add(place, { requests: 1 })
    await process.dispose()
    t.same(readdirSync(folder), [])
    const foreign = join(t.testdirName, 'foreign')
    // A new file gets the number that the journal had.
    const descriptor = openSync(foreign, 'w')
    const call = process.ledger.open(place, () => ({ requests: 1 }))
    process.ledger.settle(call, place, { requests: 1 })
    process.ledger.keep()
    closeSync(descriptor)
    t.equal(readFileSync(foreign, 'utf8'), '')
    t.same(process.events, ['usage.lost'])
  },
)

t.test('a journal that goes leaves no half of a new one, and neither does one that is taken', (t) => {
  const folder = join(t.testdir({}), 'usage')
  const journals = usageJournal.create({ clock: system.clock }, { folder }, 'usage-journal')
  const journal = journals.open()!
  const [name] = readdirSync(folder)
  writeFileSync(join(folder, `${name}.next`), 'half')
  journal.remove()
  t.same(readdirSync(folder), [])
  const { pid } = spawnSync(process.execPath, ['--eval', ''])
  const gone = name!.replace(`-${process.pid}-`, `-${pid}-`)
  for (const file of [gone, `${gone}.next`]) writeFileSync(join(folder, file), 'line\n')
  journals.take()!.journal.remove()
  t.same(readdirSync(folder), [])
  t.end()
})

t.test('a journal in a folder that lets no file go loses its lines', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'usage-journal-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const isRoot = process.geteuid!() === 0
  const nobody = 65_534
  if (isRoot) {
    chownSync(folder, nobody, nobody)
    process.seteuid!(nobody)
  }
  try {
    const journal = usageJournal.create({ clock: system.clock }, { folder }, 'usage-journal').open()!
    journal.append('line\n')
    chmodSync(folder, 0o500)
    journal.remove()
    const [name] = readdirSync(folder)
    t.equal(readFileSync(join(folder, name!), 'utf8'), '')
    t.throws(() => journal.replace(['line']), { code: 'EACCES' })
  } finally {
    chmodSync(folder, 0o700)
    if (isRoot) process.seteuid!(0)
  }
  t.end()
})
