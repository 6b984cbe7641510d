import t from 'tap'
import type { Opened } from '../../../../adapters/production/backends/held-lines.ts'
import { verdicts } from '../../../../adapters/production/backends/verdicts.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { fakeClock, settled } from '../../../fakes/clock.ts'

const minute = 60_000

/** Evidence by number. `next` is what the following question brings: evidence, no answer, a refusal, or silence. */
const stage = () => {
  const clock = fakeClock()
  const backend = { next: 'evidence' as 'evidence' | 'nothing' | 'refusal', life: 1000 * minute, asked: 0 }
  const moves: (() => void)[] = []
  const retired: number[] = []
  const closed: number[] = []
  let hold: Promise<void> = Promise.resolve()
  const verify = async (moved: () => void): Promise<Opened & { readonly number: number }> => {
    const number = ++backend.asked
    moves[number] = moved
    const { next } = backend
    await hold
    if (next === 'nothing') throw new UpstreamFailed()
    if (next === 'refusal') throw new Error('refused')
    return {
      number,
      ends: clock.now() + backend.life,
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
  return { clock, backend, held, moves, called, retired, closed, wait, signal }
}

t.test('evidence is asked for at the first call, and once for calls that wait together', async (t) => {
  const { backend, called, clock } = stage()
  t.equal(backend.asked, 0)
  t.strictSame(await Promise.all([called(), called(), called()]), [1, 1, 1])
  t.equal(backend.asked, 1)
  await clock.pass(9 * minute)
  t.equal(backend.asked, 1)
})

t.test('evidence is renewed before its end, and no call waits for that', async (t) => {
  const { backend, called, clock, wait, retired } = stage()
  await called()
  const go = wait()
  await clock.pass(10 * minute)
  t.equal(backend.asked, 2)
  t.equal(await called(), 1, 'the evidence before counts meanwhile')
  go()
  await settled()
  t.equal(await called(), 2)
  t.strictSame(retired, [1])

  backend.life = 4 * minute
  await clock.pass(10 * minute)
  t.equal(await called(), 3)
  await clock.pass(2 * minute)
  t.equal(await called(), 4, 'evidence with an early end is renewed at half of its life')
})

t.test('a backend without an answer keeps its evidence to the end, and no longer', async (t) => {
  const { backend, called, clock, retired } = stage()
  await called()
  backend.next = 'nothing'
  await clock.pass(19 * minute)
  t.ok(backend.asked > 10, 'it is asked again')
  t.equal(await called(), 1)
  await clock.pass(minute)
  t.equal(await called(), 'backend_unverified')
  t.strictSame(retired, [1])
  backend.next = 'evidence'
  t.equal(await called(), backend.asked)

  const brief = stage()
  brief.backend.life = 3 * minute
  await brief.called()
  brief.backend.next = 'nothing'
  await brief.clock.pass(3 * minute)
  t.equal(await brief.called(), 'backend_unverified', 'its own end comes first')
})

t.test('refused evidence ends the evidence before it at once', async (t) => {
  const { backend, called, clock, retired } = stage()
  await called()
  backend.next = 'refusal'
  await clock.pass(10 * minute)
  t.equal(await called(), 'backend_unverified')
  t.equal(backend.asked, 2, 'and is not asked for again at once')
  t.strictSame(retired, [1])
  backend.next = 'evidence'
  await clock.pass(4_999)
  t.equal(await called(), 'backend_unverified')
  await clock.pass(1)
  t.equal(await called(), 3)
})

t.test('another key of the backend needs evidence of its own', async (t) => {
  const { backend, called, moves } = stage()
  await called()
  moves[1]!()
  t.equal(await called(), 2)
  moves[2]!()
  backend.next = 'nothing'
  t.equal(await called(), 'backend_unverified')
  t.equal(await called(), 'backend_unverified')
})

t.test('a refusal on a line ends all evidence that was asked for before', async (t) => {
  const renewed = async () => {
    const backend = stage()
    await backend.called()
    const go = backend.wait()
    await backend.clock.pass(10 * minute)
    return { ...backend, go }
  }
  const during = await renewed()
  during.moves[1]!()
  during.backend.next = 'refusal'
  during.go()
  t.equal(await during.called(), 'backend_unverified')
  t.equal(during.backend.asked, 3)
  t.strictSame(during.closed, [2], 'the renewal that ran')

  const after = await renewed()
  after.go()
  await settled()
  after.moves[1]!()
  after.backend.next = 'refusal'
  t.equal(await after.called(), 'backend_unverified')
  t.strictSame(after.retired, [1, 2], 'the renewal that was held')
})

t.test('a line is retired after its running calls, and closed with its owner', async (t) => {
  const { backend, held, called, clock, retired, closed, signal } = stage()
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
  t.equal(backend.asked, 2)
  t.equal(clock.armed(), 0)
})

t.test('a caller that leaves does not wait, and the evidence serves the others', async (t) => {
  const { backend, held, called, wait } = stage()
  const go = wait()
  const stop = new AbortController()
  const left = held.use(stop.signal, async () => 0)
  stop.abort(new Error('left'))
  await t.rejects(left, { message: 'left' })
  go()
  t.equal(await called(), 1)
  t.equal(backend.asked, 1)
})
