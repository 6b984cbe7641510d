import { type Caller, limitsOf, organizationLimitsOf, teamsOf } from '../../../core/access/caller.ts'
import { Forbidden, TooMany } from '../../../core/errors.ts'
import type { Allowance } from '../../../core/ports/rate-limiter.ts'
import type { Holder } from '../../../core/ports/observer.ts'
import type { Budgets as Most, Settings } from '../../../core/settings.ts'
import { perCallerUntil } from './allowances.ts'
import { calendar, lengthOf, type Period, periods } from './windows.ts'

/** An allowance of money: its amounts are millionths of the currency. */
export interface Budget {
  readonly allowance: Allowance
  readonly of: Holder
  /** The name of an organisation, `organization/team`, or the id of a key. */
  readonly whose: string
  readonly period: Period
}

const settingOf = { day: 'costPerDay', week: 'costPerWeek', month: 'costPerMonth' } as const

/** What the keys of a team may cost together: the configuration goes before what is kept. */
const teamBudgetsOf = (
  { organization, team = '', teamBudgets }: Pick<Caller, 'organization' | 'team' | 'teamBudgets'>,
  { limits, organizations }: Settings,
): Most => {
  const teams = teamsOf(organization, organizations)
  return { ...limits.team, ...(Object.hasOwn(teams, team) ? teams[team] : teamBudgets) }
}

/** The budgets from which a caller's calls are paid: of the gateway, of its organisation and team, of its key and of those that made it. */
export const budgets = (settings: Settings): ((caller: Caller, now: number) => readonly Budget[]) => {
  const { limits } = settings
  const { window, soft } = limits.budgets
  const windows = new Map(periods.map((period) => [period, calendar(period, limits.timeZone)]))

  const allowance = (name: string, most: number, of: Holder, period: Period, now: number): Allowance => {
    const whole = { name, concern: 'money' as const, most: most * 1e6, per: lengthOf(period), soft: soft.includes(of) }
    if (window === 'rolling') return whole
    const stretch = windows.get(period)!(now)
    return { ...whole, name: `${name}/${stretch.name}`, until: stretch.until }
  }

  const each = (of: Holder, whose: string, most: Partial<Most>, now: number): readonly Budget[] =>
    periods.flatMap((period) => {
      const sum = most[settingOf[period]] ?? null
      if (sum === null) return []
      return [{ allowance: allowance(`cost/${period}/${of}/${whose}`, sum, of, period, now), of, whose, period }]
    })

  const ofTeam = (caller: Caller, now: number): readonly Budget[] =>
    caller.team === undefined
      ? []
      : each('team', `${caller.organization}/${caller.team}`, teamBudgetsOf(caller, settings), now)

  return perCallerUntil(
    (caller: Caller, now) => [
      ...each('key', caller.key, limitsOf(caller, settings), now),
      ...(caller.makers ?? []).flatMap(({ key, limits }) => each('key', key, limitsOf({ limits }, settings), now)),
      ...ofTeam(caller, now),
      ...each('organization', caller.organization, organizationLimitsOf(caller.organization, settings), now),
      ...each('gateway', '', limits.gateway, now),
    ],
    ({ allowance }) => allowance.until,
  )
}

/** The refusal of a call: it names the owner of the budget and the time of its renewal. */
export const spentBudget = ({ of, period, allowance }: Budget, wait: number, now: number, headers: object): TooMany => {
  const facts = {
    code: 'budget_exceeded',
    limit: 'budget',
    headers: { ...headers, 'x-sealgate-budget': `${of}/${period}` },
  }
  const whose = `The budget of the ${of} for the ${period}`
  if (wait === Infinity)
    return new TooMany('The request costs more than its budget', { ...facts, validator: { budget: whose } })
  // A window of the calendar ends at its own moment, however long the refusal took.
  const anew = new Date(allowance.until ?? now + wait).toISOString()
  return new TooMany('Budget used up', {
    ...facts,
    headers: { ...facts.headers, 'x-sealgate-budget-reset': anew },
    retryAfter: Math.ceil(wait),
    validator: { budget: `${whose} has room at ${anew}` },
  })
}

/**
 * The refusal of a call whose cost nobody can reserve. The setting `unknownPrice: count` allows such calls.
 */
export const unknownPrice = (): Forbidden =>
  new Forbidden('The model has no price, and budgets hold', { code: 'price_unknown' })
