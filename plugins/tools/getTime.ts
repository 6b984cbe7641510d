import * as v from 'valibot'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock } from '../../core/ports/platform.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({
  timezone: v.pipe(v.string(), v.maxLength(100), v.description('A name such as Europe/Berlin')),
})

export default plugin({
  port: Tool,
  name: 'getTime',
  needs: { clock: Clock },
  create: ({ clock }): Tool<typeof params> => ({
    name: 'getTime',
    description: 'Current date and time in a time zone, named (`Asia/Kolkata`) or by its offset (`+05:30`).',
    kind: 'simple',
    clear: true,
    params,
    async run({ timezone }, signal) {
      signal.throwIfAborted()
      const time = new Date(clock.now())
      const local = formatted(timezone, time)
      return { timezone, utc: time.toISOString(), ...local }
    },
  }),
})

/** Throws BadRequest for a zone that Node does not know. An offset is shown by a shifted UTC. */
const formatted = (timeZone: string, time: Date) => {
  try {
    const offset = offsetOf(timeZone)
    const parts = new Intl.DateTimeFormat('en-GB', {
      timeZone: offset === null ? timeZone : 'UTC',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      weekday: 'long',
      timeZoneName: 'longOffset',
    }).formatToParts(time.getTime() + (offset ?? 0) * 60_000)
    const at = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? ''
    return {
      date: `${at('year')}-${at('month')}-${at('day')}`,
      time: `${at('hour')}:${at('minute')}:${at('second')}`,
      weekday: at('weekday'),
      offset: offset !== null ? signed(offset) : at('timeZoneName').replace('GMT', '') || '+00:00',
    }
  } catch (cause) {
    throw new BadRequest('Unknown time zone', {
      validator: { timezone: 'Expected an IANA time zone or an offset such as +05:30' },
      cause,
    })
  }
}

/** The minutes of an offset such as `+05:30` ahead of UTC. Null when the text is no offset. Throws beyond fourteen hours, where no zone is. */
const offsetOf = (timeZone: string): number | null => {
  const [, sign, hours, minutes] = /^(?:UTC|GMT)?([+-])(\d{2}):?([0-5]\d)$/.exec(timeZone) ?? []
  if (hours === undefined) return null
  const ahead = Number(hours) * 60 + Number(minutes)
  if (ahead > 14 * 60) throw new RangeError('No zone has such an offset')
  return sign === '-' ? -ahead : ahead
}

/** As ISO 8601 has it: `+05:30`. */
const signed = (minutes: number): string => {
  const two = (value: number) => String(value).padStart(2, '0')
  const whole = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(whole / 60))}:${two(whole % 60)}`
}
