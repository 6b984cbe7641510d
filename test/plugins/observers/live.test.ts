import t from 'tap'
import { channelsOf } from '../../../plugins/observers/live/channels.ts'
import { fakeClock } from '../../fakes/clock.ts'

t.test('every listener of a crowd hears each state once, and those that keep up share a list', async (t) => {
  const clock = fakeClock()
  const channels = channelsOf(clock, () => 50)
  const boxes = Array.from({ length: 12 }, () => channels.join(null).box)
  const batch = (id: string, text: string) => ({ part: null, requests: [{ id, text }], passed: 1 })
  const { signal } = new AbortController()
  const first = batch('a', '1')
  channels.deliver(first)
  t.equal(await boxes[0]!.take(0, signal), first.requests, 'the list itself')
  t.equal(boxes[11]!.passed(), 0, 'others wait for their turn')
  channels.deliver(batch('a', '2'))
  await clock.pass(100)
  for (const [at, box] of boxes.entries()) {
    const requests = await box.take(0, signal)
    t.same(requests, [{ id: 'a', text: '2' }], `listener ${at} has the last state`)
    t.equal(box.passed(), 2)
  }
  channels.deliver(batch('b', '1'))
  channels.deliver(batch('c', '1'))
  await clock.pass(100)
  t.same(
    (await boxes[7]!.take(0, signal)).map(({ id }) => id),
    ['b', 'c'],
    'a slow listener has both',
  )
})
