import t from 'tap'
import { calendar, periods } from '../../../../plugins/usage/metering/windows.ts'
import { isTimeZone } from '../../../../core/settings.ts'

const at = (text: string) => Date.parse(text)

t.test('days, weeks and months end at midnight where people count them', async (t) => {
  for (const [period, timeZone, now, name, until] of [
    ['day', 'UTC', '2030-01-31T12:00:00Z', '2030-01-31', '2030-02-01T00:00:00Z'],
    ['day', 'Europe/Berlin', '2030-01-31T23:30:00Z', '2030-02-01', '2030-02-01T23:00:00Z'],
    ['day', 'Asia/Kolkata', '2030-01-31T18:29:59Z', '2030-01-31', '2030-01-31T18:30:00Z'],
    ['week', 'UTC', '2030-02-03T23:59:59Z', '2030-01-28', '2030-02-04T00:00:00Z'],
    ['week', 'America/New_York', '2030-02-04T04:59:59Z', '2030-01-28', '2030-02-04T05:00:00Z'],
    ['month', 'UTC', '2028-02-29T00:00:00Z', '2028-02', '2028-03-01T00:00:00Z'],
    ['month', 'Pacific/Auckland', '2030-12-31T10:59:59Z', '2030-12', '2030-12-31T11:00:00Z'],
  ] as const)
    t.same(calendar(period, timeZone)(at(now)), { name, until: at(until) }, `${period} in ${timeZone} at ${now}`)
})

t.test('a day has 23 or 25 hours when clocks change, and begins late where midnight is left out', async (t) => {
  const hours = (timeZone: string, from: string) => (calendar('day', timeZone)(at(from)).until - at(from)) / 3_600_000
  t.equal(hours('Europe/Berlin', '2025-03-29T23:00:00Z'), 23)
  t.equal(hours('Europe/Berlin', '2025-10-25T22:00:00Z'), 25)
  // In Beirut the clock goes from 23:59:59 to 01:00.
  t.same(calendar('day', 'Asia/Beirut')(at('2024-03-30T12:00:00Z')).until, at('2024-03-30T22:00:00Z'))
})

t.test(
  'one window follows another without a gap, and a clock that goes back stays in the later one until the former ends',
  async (t) => {
    for (const period of periods) {
      const windowAt = calendar(period, 'Europe/Berlin')
      let now = at('2030-01-01T00:00:00Z')
      for (let i = 0; i < 60; i++) {
        const { name, until } = windowAt(now)
        t.equal(windowAt(until - 1).name, name)
        const next = windowAt(until)
        t.not(next.name, name)
        t.same(windowAt(until - 1), { name: next.name, until }, 'back again')
        t.same(windowAt(until), next)
        now = until
      }
    }
  },
)

t.test('a time zone is one that the machine knows', async (t) => {
  for (const name of ['UTC', 'Europe/Berlin']) t.ok(isTimeZone(name))
  for (const name of ['', 'Europe/Nowhere', 'midnight']) t.notOk(isTimeZone(name))
})
