import t from 'tap'
import { bodyBudget } from '../../../../../core/http/body-budget.ts'
import { chain, joined } from '../../../../../plugins/surfaces/v1/socket/chain.ts'

const room = { key: 100, organization: 1_000, process: 1_000 }
const holder = { key: 'key', organization: 'organization' }
const partsOf = (...texts: string[]) => texts.map((text) => Buffer.from(text))
const member = (id: string) => ({
  name: 'previous_response_id',
  whole: Buffer.alloc(0),
  value: Buffer.from(JSON.stringify(id)),
})

t.test('a conversation is remembered as far as its caller has room for it', (t) => {
  const budget = bodyBudget()
  const [held, others] = [budget(holder, room), budget(holder, room)]
  others.grow(40)
  const own = chain(80, held)
  const told = (id: string) => own.until(member(id))?.map(String).join('') ?? null
  t.same(own.until(null), [], 'a turn of its own')
  t.equal(told('resp_1'), null)
  own.remember('resp_1', partsOf('{"a":1}', ',', '{"b":2}'))
  t.equal(told('resp_1'), '{"a":1},{"b":2}')
  t.equal(told('resp_2'), null)
  own.remember('resp_2', joined(own.until(member('resp_1'))!, partsOf('{}')))
  t.equal(told('resp_2'), '{"a":1},{"b":2},{}', 'the parts of the last one, and more')
  others.grow(100 - 40 - 18)
  t.throws(() => others.grow(1), 'the conversation counts')
  own.remember('resp_3', partsOf('1'))
  t.equal(told('resp_3'), null, 'without room it is forgotten')
  others.grow(18)
  const third = budget(holder, room)
  t.throws(() => third.grow(1), 'and gives back its bytes, and no more')
  others.release()
  own.remember('resp_4', partsOf('x'.repeat(81)))
  t.equal(told('resp_4'), null, 'a conversation that is too long is forgotten')
  held.release()
  own.remember('resp_5', partsOf('1'))
  t.equal(told('resp_5'), null, 'the connection has ended')
  budget(holder, room).grow(100)
  t.end()
})

t.test('parts of long messages are kept, and of short ones copies', (t) => {
  const own = chain(1e9, bodyBudget()(holder, { key: 1e9, organization: 1e9, process: 1e9 }))
  const message = Buffer.alloc(1_000_000, 'x')
  own.remember('resp_1', [message.subarray(10), Buffer.from(','), message.subarray(0, 100_000)])
  const [long, comma, short] = own.until(member('resp_1'))!
  t.equal(long!.buffer, message.buffer, 'most of a message')
  t.same([comma!.buffer.byteLength, short!.buffer.byteLength], [1, 100_000], 'a small part of one')
  for (let turn = 2; turn <= 2_000; turn++)
    own.remember(`resp_${turn}`, joined(own.until(member(`resp_${turn - 1}`))!, partsOf('y'.repeat(100))))
  const all = own.until(member('resp_2000'))!
  t.ok(all.length < 10, `2,000 turns are ${all.length} parts`)
  t.equal(Buffer.concat(all).length, 1_000_000 - 10 + 1 + 100_000 + 1_999 * 101)
  t.end()
})

t.test('empty parts bring no comma', (t) => {
  const text = (before: Buffer[], after: Buffer[]) => joined(before, after).map(String).join('')
  t.equal(text([], []), '')
  t.equal(text(partsOf('1'), []), '1')
  t.equal(text([], partsOf('1')), '1')
  t.equal(text(partsOf('1'), partsOf('2', '3')), '1,23')
  t.end()
})
