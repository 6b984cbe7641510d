/** From the shortest to the longest. */
export const periods = ['day', 'week', 'month'] as const
export type Period = (typeof periods)[number]

/** Days of a period that refills evenly. */
const lengths: Readonly<Record<Period, number>> = { day: 1, week: 7, month: 30 }

const dayMs = 86_400_000
/** Longer than any calendar month, whatever the clocks of its time zone do. */
const horizon = 33 * dayMs

/** Ms. */
export const lengthOf = (period: Period): number => lengths[period] * dayMs

/** A period of the calendar. */
export interface Window {
  /** Its first day, or its month. */
  readonly name: string
  /** Unix ms at which the next one begins. */
  readonly until: number
}

/**
 * A clock that was set back opens no window anew: the later window goes on, and ends where the earlier one does. Nobody
 * waits for longer than one window.
 */
export const everOnward = (windowAt: (now: number) => Window): ((now: number) => Window) => {
  let last: Window = { name: '', until: -Infinity }
  return (now) => {
    const window = windowAt(now)
    if (window.until < last.until) last = { name: last.name, until: window.until }
    else if (window.until > last.until) last = window
    return last
  }
}

/** The window in which a time lies, as people in the time zone count their days; weeks begin on Monday. */
export const calendar = (period: Period, timeZone: string): ((now: number) => Window) => {
  let format: Intl.DateTimeFormat | null = null
  const nameAt = (time: number): string => {
    format ??= dateFormat(timeZone)
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]))
    const month = `${parts.get('year')}-${parts.get('month')}`
    if (period === 'month') return month
    const date = `${month}-${parts.get('day')}`
    return period === 'day' ? date : mondayOf(date)
  }

  let from = Infinity
  let current: Window = { name: '', until: -Infinity }
  return everOnward((now) => {
    if (now >= from && now < current.until) return current
    const name = nameAt(now)
    let [inside, behind] = [now, now + horizon]
    while (behind - inside > 1) {
      const middle = Math.floor((inside + behind) / 2)
      if (nameAt(middle) === name) inside = middle
      else behind = middle
    }
    from = now
    return (current = { name, until: behind })
  })
}

/** A format costs a start several ms and MB, so each is made when a budget first needs it. */
const dateFormat = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })

const mondayOf = (date: string): string => {
  const time = Date.parse(date)
  return new Date(time - ((new Date(time).getUTCDay() + 6) % 7) * dayMs).toISOString().slice(0, 10)
}
