import t from 'tap'
import { BadRequest } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { Tool } from '../../../core/ports/tool.ts'
import getTime from '../../../plugins/tools/getTime.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted, given } from '../../fitted.ts'

const noon = given(Clock, 'noon', () => ({
  now: () => Date.UTC(2030, 0, 1, 12),
  sleep: async () => {},
  alarm: () => ({ again() {}, off() {} }),
}))
const made = () => fitted(noon, use(getTime)).supply({ tools: Tool }).tools[0]!

t.test('contract', (t) =>
  conform(t, tool.contract, () => ({
    tool: made(),
    good: { params: { timezone: 'Europe/Berlin' } },
    bad: { params: { timezone: 'Mars/Phobos' } },
  })),
)

t.test('tells the time where it is asked for', async (t) => {
  const tool = made()
  if (tool.kind !== 'simple') return t.fail('is simple')
  const at = (timezone: string) => tool.run({ timezone }, AbortSignal.timeout(1000))
  t.same(await at('Asia/Tokyo'), {
    timezone: 'Asia/Tokyo',
    utc: '2030-01-01T12:00:00.000Z',
    date: '2030-01-01',
    time: '21:00:00',
    weekday: 'Tuesday',
    offset: '+09:00',
  })
  t.match(await at('Asia/Kathmandu'), { time: '17:45:00', offset: '+05:45' })
  t.match(await at('UTC'), { time: '12:00:00', offset: '+00:00' })
  t.match(await at('+05:30'), { timezone: '+05:30', time: '17:30:00', offset: '+05:30' })
  t.match(await at('-1300'), { date: '2029-12-31', weekday: 'Monday', time: '23:00:00', offset: '-13:00' })
  await t.rejects(at('+15:00'), BadRequest)
})
