import { allSums } from './all-sums.ts'
import type { Team } from './answers.ts'
import { el } from './element.ts'
import { cost, percent, utcDay } from './format.ts'
import type { Gateway } from './gateway.ts'
import { type Sum, nothing } from './sums.ts'

const periods = ['day', 'week', 'month'] as const
type Period = (typeof periods)[number]

/** What a team used in the day, the week and the month of UTC that go on. */
export type Spending = Readonly<Record<Period, Sum>>

/** A budget beside what is spent of it. */
export interface Stand {
  readonly period: Period
  readonly most: number
  readonly used: number
}

const dayMs = 86_400_000

/** The first day of the period that goes on; weeks begin on Monday. */
export const beginningOf = (period: Period, now: number): string => {
  if (period === 'day') return utcDay(now)
  if (period === 'month') return `${utcDay(now).slice(0, 7)}-01`
  return utcDay(now, (new Date(now).getUTCDay() + 6) % 7)
}

/** The sums of all teams since a day. */
const sumsSince = async (gateway: Gateway, from: string): Promise<ReadonlyMap<string, Sum>> => {
  const sums = await allSums(gateway, { by: 'team', from })
  return new Map(sums.flatMap((sum) => (sum.name === null ? [] : [[sum.name, sum]])))
}

/** By the names of the teams. */
export const spendingOf = async (gateway: Gateway, now: number): Promise<(team: string) => Spending> => {
  const [day, week, month] = await Promise.all(periods.map((period) => sumsSince(gateway, beginningOf(period, now))))
  const of = (sums: ReadonlyMap<string, Sum> | undefined, team: string): Sum => sums?.get(team) ?? nothing
  return (team) => ({ day: of(day, team), week: of(week, team), month: of(month, team) })
}

/** The budgets of a team, the tightest first. */
export const standsOf = ({ limits }: Team, spending: Spending): readonly Stand[] =>
  periods
    .flatMap((period) => {
      const most = limits[`costPer${period[0]?.toUpperCase()}${period.slice(1)}`] ?? null
      return most === null ? [] : [{ period, most, used: spending[period].cost ?? 0 }]
    })
    .sort((one, other) => other.used / other.most - one.used / one.most)

/** The cost of the whole month at the pace so far; null in its first hours, which tell nothing. */
export const forecastOf = ({ month: { cost: spent } }: Spending, now: number): number | null => {
  const at = new Date(now)
  const [from, to] = [0, 1].map((more) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + more)) as [number, number]
  return spent === null || now - from < dayMs / 4 ? null : (spent * (to - from)) / (now - from)
}

export const leftOf = ({ most, used }: Stand): number => Math.max(0, most - used)

/** A budget as a bar with its words. */
export const standBar = (stand: Stand): HTMLElement => {
  const { period, most, used } = stand
  const words = `${percent(used / most)} of ${cost(most)} a ${period}`
  return el(
    'span',
    { class: 'span' },
    el('progress', { max: 1, value: Math.min(1, used / most), 'aria-label': `Budget of the ${period}` }),
    words,
  )
}
