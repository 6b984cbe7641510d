import t from 'tap'
import { recentSums, sumsOfTurn } from '../../../plugins/usage/remembered-sums.ts'
import type { Sum } from '../../../core/ports/metadata-store.ts'

const list = (length: number): readonly Sum[] => Array.from({ length }, (_, at) => ({ name: `${at}`, sums: [at] }))

t.test('sums are read once in a turn of the fold', async (t) => {
  const known = sumsOfTurn()
  let read = 0
  const ask = (turn: number | null, name = 'year') =>
    known(turn, name, async () => {
      read++
      return list(3)
    })
  t.same(await ask(1), list(3))
  t.same(await ask(1), list(3))
  t.equal(read, 1)
  await ask(1, 'month')
  t.equal(read, 2, 'another question is read')
  await ask(2)
  await ask(1)
  t.equal(read, 4, 'and so is another turn')
})

t.test('what was read before a turn is not kept for the next one', async (t) => {
  const known = sumsOfTurn()
  let end = (_: readonly Sum[]): void => {}
  const slow = known(1, 'year', () => new Promise((done) => (end = done)))
  await known(2, 'month', async () => list(1))
  end(list(1))
  t.same(await slow, list(1))
  t.same(await known(2, 'year', async () => list(2)), list(2))
})

t.test('a failed reading of days that are over is not kept', async (t) => {
  const known = sumsOfTurn()
  await t.rejects(known(1, 'year', () => Promise.reject(new Error('gone'))))
  t.same(await known(1, 'year', async () => list(1)), list(1))
})

t.test('the memory of sums has a bound', async (t) => {
  const known = sumsOfTurn()
  const read: string[] = []
  const ask = (name: string, length: number) =>
    known(1, name, async () => {
      read.push(name)
      return list(length)
    })
  for (const _ of [1, 2]) {
    await ask('many', 19_000)
    await ask('more', 1_500)
    await ask('few', 500)
  }
  t.same(read, ['many', 'more', 'few', 'more'])
})

/** Readings that take so many ms of a clock that stands still otherwise. */
const stage = () => {
  let now = 1_000
  const read: string[] = []
  const recent = recentSums({ now: () => now })
  return {
    read,
    ask: (name: string, tookMs: number, length = 3) =>
      recent(name, async () => {
        read.push(name)
        now += tookMs
        return list(length)
      }),
    pass: (ms: number) => void (now += ms),
  }
}

t.test('a long reading is given again for fifty times as long', async (t) => {
  const { read, ask, pass } = stage()
  t.same(await ask('all', 100), list(3))
  pass(4_999)
  t.same(await ask('all', 100), list(3))
  t.same(read, ['all'])
  pass(1)
  await ask('all', 100)
  t.same(read, ['all', 'all'])
})

t.test('a short reading is made anew each time', async (t) => {
  const { read, ask } = stage()
  await ask('one', 20)
  await ask('one', 20)
  t.same(read, ['one', 'one'])
})

t.test('no reading is given again after half a minute', async (t) => {
  const { read, ask, pass } = stage()
  await ask('all', 9_000)
  pass(30_000)
  await ask('all', 9_000)
  t.same(read, ['all', 'all'])
})

t.test('a failed reading of days that go on is not kept', async (t) => {
  const recent = recentSums({ now: () => 1 })
  await t.rejects(recent('all', () => Promise.reject(new Error('gone'))))
  t.same(await recent('all', async () => list(1)), list(1))
})

t.test('the memory of readings has a bound, and what is old leaves it', async (t) => {
  const { read, ask, pass } = stage()
  await ask('many', 100, 19_000)
  await ask('more', 100, 1_500)
  await ask('more', 100, 1_500)
  t.same(read, ['many', 'more', 'more'])
  pass(5_000)
  await ask('more', 100, 1_500)
  await ask('more', 100, 1_500)
  t.same(read, ['many', 'more', 'more', 'more'])
})

t.test('a list that two readers bring at the same time takes its room once', async (t) => {
  const { read, ask } = stage()
  await Promise.all([ask('many', 100, 9_000), ask('many', 100, 9_000)])
  await ask('more', 100, 9_000)
  await ask('more', 100, 9_000)
  t.same(read, ['many', 'many', 'more'])
})
