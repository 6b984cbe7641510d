import t from 'tap'
import { sumsOfTurn } from '../../../../core/inference/metering/sums-of-turn.ts'
import type { Sum } from '../../../../core/ports/metadata-store.ts'

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

t.test('a failure is not kept', async (t) => {
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
