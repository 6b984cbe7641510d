import t from 'tap'
import { freeTurn, loopTime, turnsOf } from '../../../core/dialects/loop-time.ts'

const ms = 1_000_000
const allowance = { key: 100, organization: 150 }
const of = (organization: string, key = `key of ${organization}`) => ({ organization, key })

t.test('work within an allowance waits for nothing but turns of the loop', async (t) => {
  let now = 0
  const ofLoop = loopTime({ now: () => now })
  t.equal(ofLoop(of('a'), allowance).spend(ms / 2), null)
  const pace = ofLoop(of('a'), allowance)
  t.equal(pace.spend(0.6 * ms), null)
  t.not(pace.spend(0.6 * ms), null, 'a turn of the loop does a millisecond')
  t.equal(pace.spend(0.1 * ms), null)
})

t.test('work beyond an allowance waits, until the debt has worn off', async (t) => {
  let now = 0
  const ofLoop = loopTime({ now: () => now })
  await ofLoop(of('a'), allowance).spend(101 * ms)
  const later = ofLoop(of('a'), allowance).spend(1)
  t.not(later, null)
  await later
  t.equal(ofLoop(of('a', 'other'), allowance).spend(1), null, 'another key of the organisation')
  t.equal(ofLoop(of('b'), allowance).spend(1), null, 'another organisation')
  await ofLoop(of('a', 'other'), allowance).spend(60 * ms)
  t.not(ofLoop(of('a', 'third'), allowance).spend(1), null, 'the organisation has an allowance too')
  now += 2_000
  t.equal(ofLoop(of('a'), allowance).spend(1), null)
})

t.test('who had less goes first, one in a turn of the loop', async (t) => {
  const ofLoop = loopTime({ now: () => 0 })
  const order: string[] = []
  const works = async (organization: string, pieces: number) => {
    const pace = ofLoop(of(organization), allowance)
    for (let at = 0; at < pieces; at++) {
      await pace.spend(2 * ms)
      order.push(organization)
    }
  }
  const heavy = Promise.all(Array.from({ length: 5 }, () => works('heavy', 20)))
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  const before = order.length
  t.ok(before <= 11, `${before} pieces in ten turns`)
  await works('light', 3)
  const between = order.slice(before).filter((text) => text === 'heavy').length
  t.ok(between <= 4, `${between} pieces of the other went first`)
  await heavy
})

t.test('a turn of the loop does one piece of all work that nobody is charged for', async (t) => {
  let pieces = 0
  const works = async () => {
    for (let at = 0; at < 10; at++) {
      await freeTurn()
      pieces++
    }
  }
  const all = Promise.all([works(), works(), works()])
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.ok(pieces >= 9 && pieces <= 11, `${pieces} pieces in ten turns`)
  await all
})

t.test('the owners of work that waits take turns', async (t) => {
  const nextTurn = turnsOf()
  const begun: string[] = []
  const works = (owner: string) => nextTurn(owner).then(() => void begun.push(owner))
  await Promise.all([...Array.from({ length: 5 }, () => works('many')), works('one'), works('another')])
  t.same(begun, ['many', 'one', 'another', 'many', 'many', 'many', 'many'])
})

t.test('a clock that is set makes no debt, and forgives one once', async (t) => {
  let now = 3_600_000
  const ofLoop = loopTime({ now: () => now })
  await ofLoop(of('a'), allowance).spend(50 * ms)
  now -= 3_600_000
  t.equal(ofLoop(of('a'), allowance).spend(1), null, 'set back by an hour')
  await ofLoop(of('a'), allowance).spend(60 * ms)
  t.not(ofLoop(of('a'), allowance).spend(1), null, 'debts are kept')
  now += 7_200_000
  t.equal(ofLoop(of('a'), allowance).spend(1), null, 'set forwards')
})
