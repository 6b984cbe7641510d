import t from 'tap'
import { isDay, portOf, timeOf, wholeNumberOf } from '../../../adapters/local/option-values.ts'

t.test('a day is one of the calendar', async (t) => {
  for (const day of ['2028-02-29', '2030-12-31', '0001-01-01']) t.ok(isDay(day), day)
  for (const day of [
    '2030-02-29',
    '2030-04-31',
    '2030-13-01',
    '2030-00-10',
    '2030-1-1',
    '30-01-01',
    '',
    '2030-01-01\n',
  ])
    t.notOk(isDay(day), day)
})

t.test('a time is a day or a moment, and its order of day and month no guess', async (t) => {
  t.equal(timeOf('2026-11-01'), Date.UTC(2026, 10, 1))
  t.equal(timeOf('2026-11-01T12:00:00Z'), Date.UTC(2026, 10, 1, 12))
  t.equal(timeOf('2026-11-01T12:00:00.5+02:00'), Date.UTC(2026, 10, 1, 10, 0, 0, 500))
  t.equal(timeOf(undefined, 7), 7)
  for (const text of [
    '11.12.2026',
    '12/11/2026',
    '5',
    '2026',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '2026-11-01T25:00Z',
    '',
  ])
    t.throws(() => timeOf(text), { message: /^--at is a time/ }, text)
})

t.test('a port is a number, and a variable that is not set is none', async (t) => {
  t.same(['0', '8788', '65535'].map(portOf), [0, 8788, 65_535])
  for (const text of ['', ' ', '-1', '65536', '0x10', '1e3', '80.0', 'http'])
    t.throws(() => portOf(text), { message: '--port is a number up to 65535' }, `"${text}"`)
  t.equal(wholeNumberOf('1', 1, 1, ''), 1, 'both bounds are inside')
})
