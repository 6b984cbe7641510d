import t from 'tap'
import { mostAnswerBytes } from '../../../../plugins/shared/backend.ts'
import { noCalls, released, waits } from '../../../../plugins/shared/dialects/open-call.ts'

const piece = (number: number, text: string, name?: string) => ({
  part: { index: number, function: { ...(name !== undefined && { name }), arguments: text } },
  ...{ number, text },
})

t.test('calls wait in the order in which they began, each with all of its pieces', (t) => {
  const calls = { ...noCalls(), grown: '{"a":' }
  t.notOk(waits({ ...noCalls(), grown: '{"a":1}' }, piece(1, '', 'one'), true), 'none waits for a whole call')
  t.notOk(waits(calls, piece(1, '', 'one'), false), 'nor where no call grows')
  t.ok(waits(calls, piece(2, '{', 'two'), true))
  calls.grown = '{"a":1}'
  t.ok(waits(calls, piece(1, '{}', 'one'), true), 'a call waits behind one that waits')
  t.ok(waits(calls, piece(2, '}'), true))
  t.same([...released(calls)].map(({ number, text }) => [number, text]), [[2, '{}'], [1, '{}']]) // prettier-ignore
  t.same([...released(calls)], [], 'nothing is released twice')
  t.end()
})

t.test('an answer whose calls wait without an end fails', (t) => {
  const calls = { ...noCalls(), grown: '{', held: mostAnswerBytes - 1_000 }
  t.ok(waits(calls, piece(1, '{', 'one'), true))
  t.throws(() => waits(calls, piece(1, 'x'.repeat(1_000)), true), { name: 'UpstreamFailed' })
  const fresh = { ...noCalls(), grown: '{', held: mostAnswerBytes - 1_000 }
  t.throws(() => waits(fresh, piece(1, '', 'x'.repeat(1_000)), true), { name: 'UpstreamFailed' }, 'names count')
  t.end()
})
