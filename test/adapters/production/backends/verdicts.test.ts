import t from 'tap'
import type { Opened } from '../../../../adapters/production/backends/held-lines.ts'
import { verdicts } from '../../../../adapters/production/backends/verdicts.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { fakeClock, settled } from '../../../fakes/clock.ts'

const minute = 60_000

/** Evidence by number. `next` is what the following question brings: evidence, no answer, a refusal, or silence. */
const stage = () => {
  const clock = fakeClock()
  const it = { next: 'evidence' as 'evidence' | 'nothing' | 'refusal', life: 1000 * minute, asked: 0 }
  const moves: (() => void)[] = []
  const retired: number[] = []
  const closed: number[] = []
  let hold: Promise<void> = Promise.resolve()
  const verify = async (moved: () => void): Promise<Opened & { readonly number: number }> => {
    const number = ++it.asked
    moves[number] = moved
    const { next } = it
    await hold
    if (next === 'nothing') throw new UpstreamFailed()
    if (next === 'refusal') throw new Error('refused')
    return {
      number,
      ends: clock.now() + it.life,
      retire: async () => void retired.push(number),
      close: async () => void closed.push(number),
    }
  }
  const held = verdicts(clock, 10 * minute, verify)
  const signal = new AbortController().signal
  const called = () => held.use(signal, async ({ number }) => number).catch((error: UpstreamFailed) => error.code)
  const wait = () => {
    let go = () => {}
    hold = new Promise((resolve) => (go = resolve))
    return go
  }
  return { clock, it, held, moves, called, retired, closed, wait, signal }
}

t.test('evidence is asked for at the first call, and once for calls that wait together', async (t) => {
  const { it, called, clock } = stage()
  t.equal(it.asked, 0)
  t.strictSame(await Promise.all([called(), called(), called()]), [1, 1, 1])
  t.equal(it.asked, 1)
  await clock.pass(9 * minute)
  t.equal(it.asked, 1)
})

t.test('evidence is renewed before its end, and no call waits for that', async (t) => {
  const { it, called, clock, wait, retired } = stage()
  await called()
  const go = wait()
  await clock.pass(10 * minute)
  t.equal(it.asked, 2)
  t.equal(await called(), 1, 'the evidence before counts meanwhile')
  go()
  await settled()
  t.equal(await called(), 2)
  t.strictSame(retired, [1])

  it.life = 4 * minute
  await clock.pass(10 * minute)
  t.equal(await called(), 3)
  await clock.pass(2 * minute)
  t.equal(await called(), 4, 'evidence with an early end is renewed at half of its life')
})

t.test('a backend without an answer keeps its evidence to the end, and no longer', async (t) => {
  const { it, called, clock, retired } = stage()
  await called()
  it.next = 'nothing'
  await clock.pass(19 * minute)
  t.ok(it.asked > 10, 'it is asked again')
  t.equal(await called(), 1)
  await clock.pass(minute)
  t.equal(await called(), 'backend_unverified')
  t.strictSame(retired, [1])
  it.next = 'evidence'
  t.equal(await called(), it.asked)

  const brief = stage()
  brief.it.life = 3 * minute
  await brief.called()
  brief.it.next = 'nothing'
  await brief.clock.pass(3 * minute)
  t.equal(await brief.called(), 'backend_unverified', 'its own end comes first')
})

t.test('refused evidence ends the evidence before it at once', async (t) => {
  const { it, called, clock, retired } = stage()
  await called()
  it.next = 'refusal'
  await clock.pass(10 * minute)
  t.equal(await called(), 'backend_unverified')
  t.equal(it.asked, 2, 'and is not asked for again at once')
  t.strictSame(retired, [1])
  it.next = 'evidence'
  await clock.pass(4_999)
  t.equal(await called(), 'backend_unverified')
  await clock.pass(1)
  t.equal(await called(), 3)
})

t.test('another key of the backend needs evidence of its own', async (t) => {
  const { it, called, moves } = stage()
  await called()
  moves[1]!()
  t.equal(await called(), 2)
  moves[2]!()
  it.next = 'nothing'
  t.equal(await called(), 'backend_unverified')
  t.equal(await called(), 'backend_unverified')
})

t.test('a refusal on a line ends all evidence that was asked for before', async (t) => {
  const renewed = async () => {
    const it = stage()
    await it.called()
    const go = it.wait()
    await it.clock.pass(10 * minute)
    return { ...it, go }
  }
  const during = await renewed()
  during.moves[1]!()
  during.it.next = 'refusal'
  during.go()
  t.equal(await during.called(), 'backend_unverified')
  t.equal(during.it.asked, 3)
  t.strictSame(during.closed, [2], 'the renewal that ran')

  const after = await renewed()
  after.go()
  await settled()
  after.moves[1]!()
  after.it.next = 'refusal'
  t.equal(await after.called(), 'backend_unverified')
  t.strictSame(after.retired, [1, 2], 'the renewal that was held')
})

t.test('a line is retired after its running calls, and closed with its owner', async (t) => {
  const { it, held, called, clock, retired, closed, signal } = stage()
  let end = () => {}
  const running = held.use(signal, () => new Promise<void>((resolve) => (end = resolve)))
  await settled()
  await clock.pass(10 * minute)
  t.equal(await called(), 2)
  t.strictSame(retired, [])
  end()
  await running
  t.strictSame(retired, [1])
  await held.dispose()
  t.strictSame(closed, [2])
  await clock.pass(60 * minute)
  t.equal(it.asked, 2)
  t.equal(clock.armed(), 0)
})

t.test('a caller that leaves does not wait, and the evidence serves the others', async (t) => {
  const { it, held, called, wait } = stage()
  const go = wait()
  const stop = new AbortController()
  const left = held.use(stop.signal, async () => 0)
  stop.abort(new Error('left'))
  await t.rejects(left, { message: 'left' })
  go()
  t.equal(await called(), 1)
  t.equal(it.asked, 1)
})
