import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import memory from '../../../adapters/memory/metadata-store.ts'
import { system } from '../../../adapters/memory/platform.ts'
import type { Fitting } from '../../../core/container.ts'
import { Overdue } from '../../../core/errors.ts'
import { cursorId, cursors, foldCursor, lateDays, lates } from '../../../plugins/usage/late-days.ts'
import { dayAfter, endOfMonth, spansOf } from '../../../plugins/usage/spans.ts'
import { daySums, type Grouping, groupings } from '../../../plugins/usage/sum-tables.ts'
import { sharedId, shares, usages } from '../../../plugins/usage/usage-rows.ts'
import { UsageSums, type UsageQuestion, usageSums } from '../../../plugins/usage/usage-sums.ts'
import { reportsOf } from '../../../plugins/usage/listed-reports.ts'
import { use } from '../../../core/plugin.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Clock, Log, Random } from '../../../core/ports/platform.ts'
import sqlite from '../../../plugins/storage/sqlite.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { startPostgres } from '../../fakes/postgres.ts'
import postgres from '../../../plugins/storage/postgres.ts'
import { fitted, given } from '../../fitted.ts'
import { chance } from '../../lab/hunt/damage.ts'
import { until } from '../../until.ts'

const seed = Number(process.env['SEALGATE_SEED'] ?? 7_311)
const today = '2030-03-05'
const yesterday = dayAfter(today, -1)
const first = '2029-12-30'
const server = await startPostgres()
t.teardown(() => server?.close())

const stores: Readonly<Record<string, (t: Test) => Fitting<MetadataStore> | null>> = {
  memory: () => use(memory),
  sqlite: (t) => use(sqlite, { file: join(t.testdir({}), 'rows.db') }),
  postgres: () => server && use(postgres, { url: server.url, schema: `sums_${Date.now()}` }),
}

interface Entry {
  readonly day: string
  readonly organization: string
  readonly team: string
  readonly user: string
  readonly key: string
  readonly model: string
  readonly requests: number
}

/** Of ten weeks; some days and organisations have nothing. */
const entries = (): readonly Entry[] => {
  const draw = chance(seed)
  const all: Entry[] = []
  for (let day = first; day <= today; day = dayAfter(day))
    for (const organization of ['acme', 'beta', 'core'])
      for (let key = 0; key < 3; key++) {
        if (draw(4) === 0) continue
        const model = ['small', 'large'][draw(2)]!
        const team = ['', 'red', 'blue'][key]!
        all.push({
          day,
          organization,
          team,
          user: `u${key % 2}`,
          key: `${organization}-${key}`,
          model,
          requests: 1 + draw(9),
        })
      }
  return all
}

const rowOf = ({ team, ...entry }: Entry) => ({
  ...entry,
  ...(team !== '' && { team }),
  cost_micros: entry.requests * 10,
})
const idOf = ({ key, day, model }: Entry) => `${key}/${day}/${model}`

/** What the sums should be, from the entries themselves. */
const expected = (all: readonly Entry[], { by, organization, from, to, after, limit }: UsageQuestion) => {
  const sums = new Map<string, number>()
  for (const entry of all) {
    if (entry.day < from || entry.day > to || (organization !== null && entry.organization !== organization)) continue
    const name = by === 'backend' ? 'here' : by === 'tag' ? `feature=${entry.model}` : entry[by]
    sums.set(name, (sums.get(name) ?? 0) + entry.requests)
  }
  return [...sums]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .filter(([name]) => after === undefined || name > after)
    .slice(0, limit)
}

const house = (store: Fitting<MetadataStore>) => {
  const clock = fakeClock(Date.parse(`${today}T12:00:00Z`))
  const faults: string[] = []
  const note = (event: string) => void faults.push(event)
  const parts = () =>
    fitted(
      store,
      use(usageSums),
      given(Clock, 'clock', () => clock),
      given(Random, 'random', () => system.random),
      given(Log, 'log', () => ({ info() {}, warn: note, error: note })),
    )
  return { clock, faults, parts }
}

for (const [name, make] of Object.entries(stores))
  t.test(`sums are those of the rows, before and after they are kept: ${name}`, async (t) => {
    const store = make(t)
    if (store === null) return t.comment('there is no PostgreSQL')
    const { clock, faults, parts } = house(store)
    const container = parts()
    t.teardown(() => container.dispose())
    const { rows, sums } = container.supply({ rows: MetadataStore, sums: UsageSums })
    const all = [...entries()]
    for (const entry of all) {
      await rows.create(usages, idOf(entry), rowOf(entry))
      for (const [by, name] of [
        ['backend', 'here'],
        ['tag', `feature=${entry.model}`],
      ] as const) {
        const { day, organization, requests } = entry
        const id = sharedId({ day, organization, by }, name)
        await rows.create(shares, id, { day, organization, by, name })
        await rows.add(shares, id, { requests })
      }
    }

    const draw = chance(seed + 1)
    const days: string[] = []
    for (let day = dayAfter(first, -3); day <= dayAfter(today, 3); day = dayAfter(day)) days.push(day)
    const ask = async (question: UsageQuestion) =>
      (await sums.ask(question)).map(({ name, counts }) => {
        t.equal(counts.cost_micros, counts.requests * 10)
        return [name, counts.requests] as const
      })
    const check = async (question: UsageQuestion) => {
      const found = await sums.ask(question)
      t.same(
        found.map(({ name, counts }) => [name, counts.requests]),
        expected(all, question),
        JSON.stringify(question),
      )
    }
    const checks = async (times: number) => {
      for (let at = 0; at < times; at++) {
        const [one, other] = [draw(days.length), draw(days.length)]
        const [from, to] = [days[Math.min(one, other)]!, days[Math.max(one, other)]!]
        const organization = [null, 'acme', 'core'][draw(3)]!
        const after = draw(4) === 0 ? { after: ['acme-1', 'large', '2030-01-15', 'feature=large'][draw(4)]! } : {}
        await check({ by: groupings[draw(groupings.length)]!, organization, from, to, limit: 1 + draw(40), ...after })
      }
    }
    const folded = async (day: string) => {
      for (let at = 0; at < 4_000; at++) {
        if ((await foldCursor(rows))?.day === day) return
        await clock.pass(1_000)
        await sleep(1)
      }
      t.fail(`no sums of ${day}`)
    }

    await checks(10)
    t.equal((await rows.list(daySums, { limit: 1 })).total, 0, 'nothing is kept yet')
    await folded('2030-03-04')
    t.ok((await rows.list(daySums, { limit: 1 })).rows.length > 0)
    await checks(40)
    const whole = { organization: null, from: first, to: today, limit: 100 }
    const byOrganization = await ask({ ...whole, by: 'organization' })
    t.same(
      byOrganization.map(([name]) => name),
      ['acme', 'beta', 'core'],
    )

    // A count that is written late reaches the kept sums of its day and month, once.
    const late = all.findIndex(({ day }) => day > '2030-01-10')
    const entry = all[late]!
    await rows.add(usages, idOf(entry), { requests: 1_000, cost_micros: 10_000 })
    all[late] = { ...entry, requests: entry.requests + 1_000 }
    const mark = lateDays(rows, clock)
    for (const nth of [1, 2]) await mark(rowOf(entry), `${idOf(entry)}/x/${nth}`)
    const question = { ...whole, by: 'key' as Grouping }
    const key = async () => (await ask(question)).find(([name]) => name === entry.key)?.[1]
    const due = expected(all, question).find(([name]) => name === entry.key)?.[1]
    for (let at = 0; at < 4_000 && (await key()) !== due; at++) {
      await clock.pass(1_000)
      await sleep(1)
    }
    t.equal(await key(), due)
    await checkAll(
      check,
      groupings.filter((by) => by !== 'backend' && by !== 'tag'),
      entry.day,
    )
    t.same(faults, [])
  })

const checkAll = async (check: (question: UsageQuestion) => Promise<void>, all: readonly Grouping[], day: string) => {
  for (const by of all) await check({ by, organization: null, from: day, to: day, limit: 50 })
}

t.test('two processes that make sums, one of them cut off again and again, make the right ones', async (t) => {
  const store = make()
  const all = entries()
  for (const entry of all) await store.create(usages, idOf(entry), rowOf(entry))
  const draw = chance(seed + 2)
  const { clock, parts } = house(
    given(MetadataStore, 'cut', () => {
      let left = 40 + draw(400)
      const cut = async () => {
        if (left-- <= 0) throw new Error('cut off')
      }
      return {
        ...store,
        create: (...row) => cut().then(() => store.create(...row)),
        update: (...row) => cut().then(() => store.update(...row)),
        add: (...row) => cut().then(() => store.add(...row)),
        remove: (...row) => cut().then(() => store.remove(...row)),
      }
    }),
  )
  const isDone = async () => (await foldCursor(store))?.day === dayAfter(today, -1)
  let lives = 0
  for (; lives < 200 && !(await isDone()); lives++) {
    const pair = [parts(), parts()]
    const [one, other] = pair.map((container) => container.supply({ sums: UsageSums }).sums)
    await clock.pass(90_000)
    const question: UsageQuestion = { by: 'key', organization: null, from: first, to: today, limit: 50 }
    for (const sums of [one!, other!])
      t.same(
        (await sums.ask(question)).map(({ name, counts }) => [name, counts.requests]),
        expected(all, question),
        'at any time',
      )
    // What a killed process does not do is the end of its work.
    for (const container of pair) void container.dispose().catch(() => undefined)
    await clock.pass(61_000)
  }
  t.ok(lives > 3, `${lives} lives`)
  t.ok(await isDone())

  function make(): MetadataStore {
    return memory.create({}, {}, 'memory')
  }
})

t.test('of two processes, one makes sums that take longer than a lease, and the other leaves it alone', async (t) => {
  const store = memory.create({}, {}, 'memory')
  const [entry] = entries()
  for (let organization = 0; organization < 60; organization++)
    await store.create(usages, `${organization}`, { ...rowOf(entry!), organization: `${organization}`, day: yesterday })
  const slow = given(MetadataStore, 'slow', () => ({
    ...store,
    async create(kind, ...rest) {
      if (kind.name === daySums.name) await clock.sleep(20_000)
      return store.create(kind, ...rest)
    },
  }))
  const { clock, faults, parts } = house(slow)
  const pair = [parts(), parts()]
  t.teardown(() => Promise.all(pair.map((container) => container.dispose())))
  for (const container of pair) container.supply({ sums: UsageSums })
  const turns = new Set<string>()
  for (let seconds = 0; seconds < 240; seconds++) {
    await clock.pass(1_000)
    await sleep(1)
    turns.add((await foldCursor(store))?.by ?? 'none')
  }
  t.equal((await foldCursor(store))?.day, yesterday)
  turns.delete('none')
  t.same([turns.size, faults], [1, []])

  for (let organization = 0; organization < 60; organization++)
    await store.create(usages, `next${organization}`, { ...rowOf(entry!), organization: `${organization}`, day: today })
  clock.set(86_400_000)
  const passing = (isDone: () => Promise<boolean>) =>
    until(async () => (await clock.pass(1_000), await isDone()), 20_000, 1)
  t.ok(await passing(async () => (await foldCursor(store))!.until > clock.now()))
  await store.update(cursors, cursorId, { by: 'another', turn: 99, until: clock.now() + 600_000 })
  t.ok(await passing(async () => faults.length > 0), 'a process that lost its lease ends its work')
})

t.test('sums go on where a process was killed whose clock ran a day fast', async (t) => {
  const store = memory.create({}, {}, 'memory')
  const { clock, parts } = house(given(MetadataStore, 'kept', () => store))
  const container = parts()
  t.teardown(() => container.dispose())
  const [entry] = entries()
  await store.create(usages, idOf(entry!), { ...rowOf(entry!), day: yesterday })
  const until = clock.now() + 86_400_000
  await store.create(cursors, cursorId, { day: dayAfter(yesterday, -1), by: 'killed', until, turn: 1 })
  container.supply({ sums: UsageSums })
  for (let seconds = 0; seconds < 90; seconds++) {
    await clock.pass(1_000)
    await sleep(1)
  }
  t.equal((await foldCursor(store))?.day, yesterday)
})

t.test('a year that many look at is read once, and again when late counts have reached it', async (t) => {
  const store = memory.create({}, {}, 'memory')
  const [entry] = entries()
  const question = { by: 'key', organization: null, from: entry!.day, to: entry!.day, limit: 5 } as const
  let [read, isAskedMeanwhile] = [0, false]
  const counted = given(MetadataStore, 'counted', () => ({
    ...store,
    reports: { ...reportsOf(store), tally: (...all) => (read++, reportsOf(store).tally(...all)) },
    async list(kind, query) {
      const found = await store.list(kind, query)
      if (kind.name === lates.name && found.rows.length > 0) {
        isAskedMeanwhile = true
        await sums.ask(question)
      }
      return found
    },
  }))
  const { clock, parts } = house(counted)
  const container = parts()
  t.teardown(() => container.dispose())
  const { rows, sums } = container.supply({ rows: MetadataStore, sums: UsageSums })
  await rows.create(usages, idOf(entry!), rowOf(entry!))
  const passing = (isDone: () => Promise<boolean>) =>
    until(async () => (await clock.pass(1_000), await isDone()), 20_000, 1)
  t.ok(await passing(async () => (await foldCursor(rows))?.day === dayAfter(today, -1)))

  const requests = async () => (await sums.ask(question))[0]?.counts.requests
  // The fold reads, too.
  read = 0
  for (let times = 0; times < 20; times++) t.equal(await requests(), entry!.requests)
  t.equal(read, 1)

  await rows.add(usages, idOf(entry!), { requests: 1 })
  await lateDays(rows, clock)(rowOf(entry!), 'late')
  t.ok(await passing(async () => (await store.list(lates, { limit: 1 })).rows.length === 0))
  t.ok(isAskedMeanwhile, 'somebody looks while the late count is on its way')
  t.ok(await until(async () => (await requests()) === entry!.requests + 1), 'and then sees it without another turn')
})

t.test('a count reaches the sums that a process with a fast clock has made before the day is over', async (t) => {
  const store = memory.create({}, {}, 'memory')
  const { clock, parts } = house(given(MetadataStore, 'kept', () => store))
  const container = parts()
  t.teardown(() => container.dispose())
  const { sums } = container.supply({ sums: UsageSums })
  const [entry] = entries()
  const { day } = entry!
  await store.create(usages, idOf(entry!), rowOf(entry!))
  const passing = (isDone: () => Promise<boolean>) =>
    until(async () => (await clock.pass(1_000), await isDone()), 20_000, 1)
  t.ok(await passing(async () => (await foldCursor(store))?.day === dayAfter(today, -1)))

  await store.add(usages, idOf(entry!), { requests: 1 })
  await lateDays(store, fakeClock(Date.parse(`${day}T23:58:00Z`)))(rowOf(entry!), 'late')
  t.ok(await passing(async () => (await store.list(lates, { limit: 1 })).rows.length === 0))
  const question = { by: 'key', organization: null, from: day, to: day, limit: 5 } as const
  const requests = async () => (await sums.ask(question)).find(({ name }) => name === entry!.key)?.counts.requests
  t.ok(await until(async () => (await requests()) === entry!.requests + 1))
})

t.test(
  'a day that goes on is marked while its sums are made or after, and looked at in its last hour alone',
  async (t) => {
    const now = (time: string) => Date.parse(`2030-03-05T${time}:00Z`)
    const lease = now('23:40')
    const cases: [
      time: string,
      cursor: readonly [day: string, until: number] | null,
      marked: boolean,
      looks: number,
    ][] = [
      ['22:59', ['2030-03-05', lease], false, 0],
      ['23:30', null, false, 1],
      ['23:30', ['2030-03-05', 0], true, 1],
      ['23:30', ['2030-03-04', lease], true, 1],
      ['23:50', ['2030-03-04', lease], false, 1],
      ['23:30', ['2030-03-03', lease], false, 1],
    ]
    for (const [time, cursor, marked, looks] of cases) {
      const store = memory.create({}, {}, 'memory')
      if (cursor) await store.create(cursors, cursorId, { day: cursor[0], by: 'fast', until: cursor[1], turn: 1 })
      let found = 0
      const counted: MetadataStore = { ...store, get: (...all) => (found++, store.get(...all)) }
      await lateDays(counted, fakeClock(now(time)))({ ...rowOf(entries()[0]!), day: '2030-03-05' }, 'late')
      const { total } = await store.list(lates, {})
      t.same([total === 1, found], [marked, looks], `${time} ${cursor}`)
    }
  },
)

t.test('a fold that finds no work leaves its turn, so that nobody forgets what was read', async (t) => {
  const store = memory.create({}, {}, 'memory')
  const { clock, parts } = house(given(MetadataStore, 'kept', () => store))
  const container = parts()
  t.teardown(() => container.dispose())
  container.supply({ sums: UsageSums })
  const [entry] = entries()
  await store.create(usages, idOf(entry!), rowOf(entry!))
  const isFolded = async () => (await clock.pass(1_000), (await foldCursor(store))?.day === dayAfter(today, -1))
  t.ok(await until(isFolded, 20_000, 1))
  const turn = (await foldCursor(store))?.turn
  for (let looks = 0; looks < 10; looks++) {
    await clock.pass(30_000)
    await sleep(1)
  }
  t.equal((await foldCursor(store))?.turn, turn)
})

t.test('a report that takes too long names a span that has half the days', async (t) => {
  const rows = memory.create({}, {}, 'memory')
  const slow = given(MetadataStore, 'slow', () => ({
    ...rows,
    reports: {
      list: async () => Promise.reject(new Overdue()),
      group: async () => Promise.reject(new Overdue()),
      groups: async () => Promise.reject(new Overdue()),
      tally: async () => Promise.reject(new Overdue()),
    },
  }))
  const container = house(slow).parts()
  t.teardown(() => container.dispose())
  const { sums } = container.supply({ sums: UsageSums })
  const ask = (from: string) => sums.ask({ by: 'model', organization: null, from, to: '2030-01-31', limit: 1 })
  await t.rejects(ask('2030-01-01'), {
    status: 503,
    code: 'report_too_long',
    validator: { from: 'Expected 2030-01-16 or later' },
  })
  const last = await ask('2030-01-31').catch((error: unknown) => error)
  t.match(last, { status: 503, validator: { organization: 'Expected one organisation' } })
})

t.test('a span has whole months, and days around them', async (t) => {
  t.same(spansOf('2030-01-15', '2030-04-10', '2030-04-05'), {
    days: [
      ['2030-01-15', '2030-01-31'],
      ['2030-04-01', '2030-04-05'],
    ],
    months: [['2030-02', '2030-03']],
    open: [['2030-04-06', '2030-04-10']],
  })
  t.same(spansOf('2030-01-01', '2030-01-31', '2030-01-31'), { days: [], months: [['2030-01', '2030-01']], open: [] })
  t.same(spansOf('2030-01-02', '2030-01-30', '2030-01-31'), {
    days: [['2030-01-02', '2030-01-30']],
    months: [],
    open: [],
  })
  t.same(spansOf('2030-01-02', '2030-01-30', null), { days: [], months: [], open: [['2030-01-02', '2030-01-30']] })
  t.same(['2028-02', '2030-02', '2030-12'].map(endOfMonth), ['2028-02-29', '2030-02-28', '2030-12-31'])
})
