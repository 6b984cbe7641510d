import t from 'tap'
import { type Row, pageOf, rowsOf } from './lab/night/report.ts'

const row = (part: string, more: Partial<Row> = {}): Row => ({
  ...{ part, isFine: true, day: '2030-01-02', commit: 'abc1234', node: 'v20.19.0', minutes: 2.5, said: 'all is fine' },
  ...more,
})

t.test('a page gives back the rows that it was made of', async (t) => {
  const rows = [row('tests'), row('soak', { isFine: false, said: 'the gateway grows' })]
  t.strictSame(rowsOf(pageOf(['tests', 'soak'], rows)), rows)
})

t.test('a new result takes the place of the old one, and the other parts stay', async (t) => {
  const page = pageOf(['tests', 'soak'], [row('soak'), row('tests')], row('tests', { isFine: false }))
  t.strictSame(rowsOf(page), [row('tests', { isFine: false }), row('soak')])
})

t.test('a part that no longer exists is left out', async (t) => {
  t.strictSame(rowsOf(pageOf(['soak'], [row('tests'), row('soak')])), [row('soak')])
})

t.test('a line that sums up breaks no table', async (t) => {
  const [value] = rowsOf(pageOf(['tests'], [], row('tests', { said: 'a | b' })))
  t.equal(value?.said, 'a / b')
})
