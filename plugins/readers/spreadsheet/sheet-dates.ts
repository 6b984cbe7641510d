/** The parts of a date or time, as the spreadsheet library names them. */
export interface Parts {
  /** Days since the beginning of the count; 0 is a time without a day. */
  readonly D: number
  /** Seconds of the day. */
  readonly T: number
  readonly y: number
  readonly m: number
  readonly d: number
  readonly H: number
  readonly M: number
  readonly S: number
}

/** ISO 8601 for a number of days that is formatted as a date, time or duration. */
export const momentOf = (days: number, format: string, parts: Parts): string => {
  if (showsDuration(format)) return durationOf(Math.round(days * 86_400))
  const time = `${two(parts.H)}:${two(parts.M)}:${two(parts.S)}`
  // Day 0 is no day of the calendar: it belongs to a time, or to an empty cell in the format of a date.
  if (parts.D === 0 && tellsTime(format)) return time
  const date = parts.D === 0 ? emptyDate : `${String(parts.y).padStart(4, '0')}-${two(parts.m)}-${two(parts.d)}`
  return parts.T > 0 || tellsTime(format) ? `${date}T${time}` : date
}

/** What LibreOffice and others show for 0 in the format of a date. */
const emptyDate = '1899-12-30'

/** ISO 8601 for a moment that is stored as a date, or the number of days for a format that shows only a time. */
export const saidMoment = (moment: Date, format: string): string | number => {
  // The library truncates to milliseconds, which may give the millisecond before.
  const at = Math.round(moment.getTime() / 10) * 10
  const days = (at - dayZero) / 86_400_000
  if (Number.isNaN(days)) return '#VALUE!'
  // The library skips 29 February 1900, a day that never existed.
  if (tellsTime(format) && !/[dy]/i.test(bare(format))) return days < 61 ? days - 1 : days
  const [date, time] = new Date(at).toISOString().slice(0, -5).split('T') as [string, string]
  return time !== '00:00:00' || tellsTime(format) ? `${date}T${time}` : date
}

/** Day 0 of the count. The library counts the days before March 1900 one lower. */
const dayZero = Date.UTC(1899, 11, 30)

const tellsTime = (format: string): boolean => /[hs]/i.test(bare(format)) || showsDuration(format)

/** True for a format such as `[h]:mm`, which alone shows negative numbers. */
export const showsDuration = (format: string): boolean => /\[[hms]+\]/i.test(format)

// An unclosed bracket extends to the end; otherwise the search would restart at every place.
const bare = (format: string): string => format.replace(/"[^"]*"|\\.|\[[^\]]*(?:\]|$)/g, '')

const two = (value: number): string => String(value).padStart(2, '0')

/** ISO 8601, such as PT1H30M. The sign of a negative duration stands in front. */
const durationOf = (seconds: number): string => {
  const whole = Math.abs(seconds)
  const parts = [
    [Math.floor(whole / 3600), 'H'],
    [Math.floor(whole / 60) % 60, 'M'],
    [whole % 60, 'S'],
  ] as const
  const text = parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : '')).join('')
  return `${seconds < 0 ? '-' : ''}PT${text || '0S'}`
}
