import { type Caller, limitsOf, organizationLimitsOf } from '../../../core/access/caller.ts'
import type { Allowance } from '../../../core/ports/rate-limiter.ts'
import type { Limits, Settings } from '../../../core/settings.ts'
import { calendar, lengthOf } from './windows.ts'

const minute = 60_000

type Row = readonly [name: string, most: number | null]

/** Which allowances a caller's work is taken from; the same ones until a key is read anew or a day of the calendar ends. */
export interface Allowances {
  /** Tokens by the minute, of the caller's own key and organisation, and by the day, of its makers too. */
  tokens(caller: Caller, now: number): readonly Allowance[]
  /** In seconds. */
  audio(caller: Caller, now: number): readonly Allowance[]
}

/** A limit of null has no allowance, so nothing is counted for it. */
export const allowances = (settings: Settings): Allowances => {
  const { days, timeZone } = settings.limits
  const today = days === 'calendar' ? calendar('day', timeZone) : null

  const aDay = (now: number, rows: readonly Row[]): readonly Allowance[] => {
    const per = lengthOf('day')
    if (today === null) return named(rows, per)
    const { name: day, until } = today(now)
    return named(rows, per).map((row) => ({ ...row, name: `${row.name}/${day}`, until }))
  }

  /** Of the key, of those that made it, and of the organisation. */
  const each = (caller: Caller, kind: string, mostOf: (limits: Limits) => number | null): readonly Row[] => [
    [`${kind}/key/${caller.key}`, mostOf(limitsOf(caller, settings))],
    ...(caller.makers ?? []).map(
      ({ key, limits }) => [`${kind}/key/${key}`, mostOf(limitsOf({ limits }, settings))] as const,
    ),
    [`${kind}/organization/${caller.organization}`, mostOf(organizationLimitsOf(caller.organization, settings))],
  ]

  return {
    tokens: perCallerUntil((caller, now) => {
      const { makers: _, ...alone } = caller
      return [
        ...named(
          each(alone, 'tokens/minute', ({ tokensPerMinute }) => tokensPerMinute),
          minute,
        ),
        ...aDay(
          now,
          each(caller, 'tokens/day', ({ tokensPerDay }) => tokensPerDay),
        ),
      ]
    }, endOf),
    audio: perCallerUntil(
      (caller, now) =>
        aDay(
          now,
          each(caller, 'audio/day', ({ audioMinutesPerDay: most }) => (most === null ? null : most * 60)),
        ),
      endOf,
    ),
  }
}

const endOf = ({ until }: Allowance) => until

const named = (rows: readonly Row[], per: number): readonly Allowance[] =>
  rows.flatMap(([name, most]) => (most === null ? [] : [{ name, concern: 'tokens' as const, most, per }]))

/** Works something out for a caller once, and again where a part of it has come to its end. */
export const perCallerUntil = <T>(
  make: (caller: Caller, now: number) => readonly T[],
  endOf: (part: T) => number | undefined,
): typeof make => {
  const made = new WeakMap<Caller, { readonly all: readonly T[]; readonly since: number; readonly until: number }>()
  return (caller, now) => {
    let found = made.get(caller)
    if (found === undefined || now < found.since || now >= found.until) {
      const all = make(caller, now)
      found = { all, since: now, until: Math.min(...all.map((one) => endOf(one) ?? Infinity)) }
      made.set(caller, found)
    }
    return found.all
  }
}
