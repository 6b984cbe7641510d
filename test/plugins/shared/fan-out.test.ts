import { getEventListeners } from 'node:events'
import t from 'tap'
import { fanOut } from '../../../plugins/shared/fan-out.ts'

const numbers = [0, 1, 2, 3, 4, 5]

/** Rejects with the signal's reason once it fires. */
const waiting = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

t.test('answers come in the order of the items, so many at a time', async (t) => {
  let [running, most] = [0, 0]
  const answers = await fanOut(
    numbers,
    2,
    async (item, _, index) => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return [item, index]
    },
    new AbortController().signal,
  )
  t.same(
    answers,
    numbers.map((item) => [item, item]),
  )
  t.equal(most, 2)
})

t.test('the first failure ends the others, and those that did not begin', async (t) => {
  const first = new Error('first')
  const begun: number[] = []
  const ends: unknown[] = []
  const failing = fanOut(
    numbers,
    3,
    async (item, signal) => {
      begun.push(item)
      if (item === 1) throw first
      return waiting(signal).catch((reason: unknown) => {
        ends.push(reason)
        throw reason
      })
    },
    new AbortController().signal,
  )
  await t.rejects(failing, first)
  await new Promise(setImmediate)
  t.same(ends, [first, first])
  t.same(begun, [0, 1, 2])
})

t.test('a caller that leaves ends all of them, and the signal of the caller is left alone', async (t) => {
  const caller = new AbortController()
  const left = new Error('left')
  const leaving = fanOut(numbers, 6, (_, signal) => waiting(signal), caller.signal)
  caller.abort(left)
  await t.rejects(leaving, left)
  await t.rejects(
    fanOut(numbers, 6, () => t.fail('nothing is asked for a caller that has left') as never, caller.signal),
    left,
  )
  const { signal } = new AbortController()
  await fanOut(numbers, 6, async (item) => item, signal)
  t.same(getEventListeners(signal, 'abort'), [])
})
