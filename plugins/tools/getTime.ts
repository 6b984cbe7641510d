import * as v from 'valibot'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock } from '../../core/ports/host.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ timezone: v.pipe(v.string(), v.maxLength(100)) })

export default plugin({
  port: Tool,
  name: 'getTime',
  needs: { clock: Clock },
  create: ({ clock }): Tool<typeof params> => ({
    name: 'getTime',
    description: 'Current date and time in a time zone.',
    kind: 'simple',
    params,
    async run({ timezone }, signal) {
      signal.throwIfAborted()
      const time = new Date(clock.now())
      const local = formatted(timezone, time)
      return { timezone, utc: time.toISOString(), ...local }
    },
  }),
})

const formatted = (timeZone: string, time: Date) => {
  try {
    const parts = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      weekday: 'long',
      timeZoneName: 'longOffset',
    }).formatToParts(time)
    const at = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? ''
    return {
      date: `${at('year')}-${at('month')}-${at('day')}`,
      time: `${at('hour')}:${at('minute')}:${at('second')}`,
      weekday: at('weekday'),
      offset: at('timeZoneName').replace('GMT', '') || '+00:00',
    }
  } catch (cause) {
    throw new BadRequest('Unknown time zone', { validator: { timezone: 'Expected an IANA time zone' }, cause })
  }
}
