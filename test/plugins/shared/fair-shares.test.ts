import t from 'tap'
import { TooMany } from '../../../core/errors.ts'
import type { QueueLimits } from '../../../plugins/shared/errand.ts'
import { fairShares } from '../../../plugins/shared/fair-shares.ts'

const never = new AbortController().signal
const wide: QueueLimits = { all: 100, organization: 100 }

/** Shares whose takers are noted in the order in which they got them. */
const stage = (room: { all: number; organization: number; key: number }, queue = wide) => {
  const shares = fairShares(room)
  const got: string[] = []
  const held = new Map<string, () => void>()
  return {
    got,
    take(name: string, size = 1, signal = never) {
      const [organization = '', key = ''] = name.split('/')
      const taken = shares.take({ organization, key }, size, queue, signal)
      return taken.then((release) => {
        got.push(name)
        held.set(name, release)
      })
    },
    async give(name: string) {
      held.get(name)!()
      await new Promise(setImmediate)
    },
  }
}

t.test('organisations take turns, and within each who came first goes first', async (t) => {
  const { take, give, got } = stage({ all: 1, organization: 1, key: 1 })
  for (const name of ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1']) void take(name)
  await new Promise(setImmediate)
  for (let given = 0; given < 5; given++) await give(got[given]!)
  t.same(got, ['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3'])
})

t.test('organisations take turns at room that becomes free at once', async (t) => {
  const { take, give, got } = stage({ all: 2, organization: 2, key: 2 })
  void take('x/1', 2)
  for (const name of ['a/1', 'a/2', 'b/1']) void take(name)
  await new Promise(setImmediate)
  await give('x/1')
  t.same(got, ['x/1', 'a/1', 'b/1'])
})

t.test('an organisation and a key have their share and no more, but always one', async (t) => {
  const { take, give, got } = stage({ all: 100, organization: 50, key: 25 })
  for (const [name, size] of [
    ['a/1', 20],
    ['a/1', 20],
    ['a/2', 25],
    ['a/3', 10],
    ['b/1', 90],
    ['c/1', 40],
  ] as const)
    void take(name, size)
  await new Promise(setImmediate)
  t.same(got, ['a/1', 'a/2'])
  await give('a/1')
  t.same(got, ['a/1', 'a/2'], 'nothing overtakes a large one whose turn it is')
  await give('a/2')
  t.same(got.slice(2), ['b/1'], 'which is held though it is larger than its share')
  await give('b/1')
  t.same(got.slice(3), ['c/1', 'a/1', 'a/3'])
})

t.test('no more wait than may, in all and of one organisation', async (t) => {
  const { take } = stage({ all: 1, organization: 1, key: 1 }, { all: 3, organization: 2 })
  void take('a/1')
  void take('a/2')
  void take('a/3')
  await t.rejects(take('a/4'), TooMany)
  void take('b/1')
  const refusal: unknown = await take('c/1').catch((error: unknown) => error)
  t.match(refusal, { status: 429, retryAfter: 2_000 })
})

t.test('who leaves is taken out of the queue', async (t) => {
  const { take, give, got } = stage({ all: 1, organization: 1, key: 1 }, { all: 1, organization: 1 })
  void take('a/1')
  const leaving = new AbortController()
  const left = take('a/2', 1, leaving.signal)
  const reason = new Error('left')
  leaving.abort(reason)
  await t.rejects(left, reason)
  void take('a/3')
  await give('a/1')
  t.same(got, ['a/1', 'a/3'])
  await t.rejects(take('a/4', 1, AbortSignal.abort(reason)), reason)
})
