const dayMs = 86_400_000

/** The day so many days later, or earlier; `YYYY-MM-DD`. */
export const dayAfter = (day: string, days = 1): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)

/** `YYYY-MM`. */
export const monthOf = (day: string): string => day.slice(0, 7)

/** The last day of a month. */
export const endOfMonth = (month: string): string => {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
}

type Span = readonly [from: string, to: string]

/** The parts of a span of days that have sums by day, sums by month, and none yet. */
export interface Spans {
  /** Of days; both ends are inclusive, as in all spans. */
  readonly days: readonly Span[]
  /** Of months. */
  readonly months: readonly Span[]
  readonly open: readonly Span[]
}

const span = (from: string, to: string): readonly Span[] => (from <= to ? [[from, to]] : [])

/** `folded` is the last day with sums; null for none. */
export const spansOf = (from: string, to: string, folded: string | null): Spans => {
  if (folded === null || from > folded) return { days: [], months: [], open: span(from, to) }
  const end = to < folded ? to : folded
  const open = span(dayAfter(folded), to)
  // A month is whole from its first day on, and until its last.
  const first = from.endsWith('-01') ? monthOf(from) : monthOf(dayAfter(endOfMonth(monthOf(from))))
  const last = endOfMonth(monthOf(end)) === end ? monthOf(end) : monthOf(dayAfter(`${monthOf(end)}-01`, -1))
  if (first > last) return { days: span(from, end), months: [], open }
  return {
    days: [...span(from, dayAfter(`${first}-01`, -1)), ...span(dayAfter(endOfMonth(last)), end)],
    months: [[first, last]],
    open,
  }
}
