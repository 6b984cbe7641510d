import t from 'tap'
import { backendRecords, callsKept } from '../../../../plugins/surfaces/admin/records.ts'

const attempt = { model: 'small', streams: false, cause: 'first' } as const

t.test('the last calls of a backend are kept in their order', async (t) => {
  let now = 0
  const records = backendRecords.create({ clock: { now: () => now } as never }, {}, 'memory')
  for (; now < 2 * callsKept + 5; now++) records.saw('house', 'answered', now, null, attempt)
  const { calls, times } = records.of('house')
  t.same(
    calls.map(({ at }) => at),
    Array.from({ length: callsKept }, (_, at) => now - callsKept + at),
  )
  t.equal(times.length, now)
  for (; now < 450; now++) records.saw('house', 'answered', now, null, attempt)
  t.same(
    records.of('house').times,
    Array.from({ length: 200 }, (_, at) => 250 + at),
  )
  t.same(records.of('stranger').calls, [])
})
