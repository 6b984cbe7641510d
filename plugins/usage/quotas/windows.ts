import { createHmac } from 'node:crypto'
import { TooMany } from '../../../core/errors.ts'
import { calendar, everOnward, type Window } from '../metering/windows.ts'
import type { Allowance } from '../../../core/ports/rate-limiter.ts'
import type { Quota, QuotaCall, QuotasOf } from './port.ts'

/** A window of the calendar: whose it is, and the one amount that it holds. */
interface QuotaRow {
  readonly of: 'endUser' | 'key' | 'team' | 'organization' | 'gateway'
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly requests?: number | undefined
  readonly tokens?: number | undefined
  readonly cost?: number | undefined
  readonly per: 'minute' | 'hour' | 'day' | 'week' | 'month'
}

interface QuotaSettings {
  readonly windows: readonly QuotaRow[]
  readonly userSecret?: string | undefined
}

const minute = 60_000
const lengths = { minute, hour: 60 * minute, day: 1440 * minute, week: 7 * 1440 * minute, month: 30 * 1440 * minute }

/** A window of UTC. */
const fixed = (per: 'minute' | 'hour') =>
  everOnward((now) => {
    const begun = Math.floor(now / lengths[per])
    return { name: String(begun), until: (begun + 1) * lengths[per] }
  })

/** The window in which a time lies: minutes and hours of UTC, days and longer ones of the time zone. */
const windowsIn = (timeZone: string): Readonly<Record<QuotaRow['per'], (now: number) => Window>> => {
  return {
    minute: fixed('minute'),
    hour: fixed('hour'),
    day: calendar('day', timeZone),
    week: calendar('week', timeZone),
    month: calendar('month', timeZone),
  }
}

/** Names end users by a keyed hash, so that no store learns who they are. */
const userHash = (secret: string, organization: string, user: string): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify([organization, user]))
    .digest('base64url')
    .slice(0, 24)

/** Whom a window counts for; null for a call that the window does not hold. */
const whoseOf = ({ of, key, model }: QuotaRow, call: QuotaCall, secret: string): string | null => {
  const { caller, user } = call
  const { organization, team } = caller
  if ((key !== undefined && key !== caller.key) || (model !== undefined && model !== call.model)) return null
  if (of === 'endUser') return user === undefined ? null : userHash(secret, organization, user)
  if (of === 'team') return team === undefined ? null : [organization, team].map(encodeURIComponent).join('/')
  return of === 'key' ? caller.key : of === 'organization' ? encodeURIComponent(organization) : ''
}

const amountOf = ({ requests, tokens, cost }: QuotaRow): Pick<Allowance, 'concern' | 'most'> =>
  cost !== undefined
    ? { concern: 'money', most: cost * 1e6 }
    : requests !== undefined
      ? { concern: 'requests', most: requests }
      : { concern: 'tokens', most: tokens! }

const names = { endUser: 'end user', key: 'key', team: 'team', organization: 'organization', gateway: 'gateway' }

/** Tells whose window has no room, and since when it has room again. */
const refusalOf =
  ({ of, per, model }: QuotaRow, concern: Allowance['concern'], until: number): Quota['refused'] =>
  (wait, _now, { headers = {} }) => {
    const isMoney = concern === 'money'
    const anew = new Date(until).toISOString()
    const whose = `The ${isMoney ? 'budget' : `window of ${concern}`} of the ${names[of]} for the ${per}`
    const large = wait === Infinity
    const facts = {
      limit: isMoney ? 'budget' : 'window',
      ...(isMoney && { code: 'budget_exceeded' }),
      ...(!large && { retryAfter: Math.ceil(wait) }),
      validator: {
        [isMoney ? 'budget' : 'window']:
          `${whose}${model === undefined ? '' : ' with this model'}${large ? '' : ` has room at ${anew}`}`,
      },
      headers: {
        ...headers,
        [isMoney ? 'x-sealgate-budget' : 'x-sealgate-window']: isMoney ? `${of}/${per}` : `${of}/${concern}/${per}`,
        ...(!large && { [isMoney ? 'x-sealgate-budget-reset' : 'x-sealgate-window-reset']: anew }),
      },
    }
    return new TooMany(large ? 'The request is larger than its window' : 'Window used up', facts)
  }

/** The windows that hold a call. */
export const windowsOf = ({ windows, userSecret = '' }: QuotaSettings, timeZone: string): QuotasOf => {
  const windowAt = windowsIn(timeZone)
  const quotaOf = (row: QuotaRow, call: QuotaCall, now: number): readonly Quota[] => {
    const whose = whoseOf(row, call, userSecret)
    if (whose === null) return []
    const { of, per, model = '' } = row
    const amount = amountOf(row)
    const { name, until } = windowAt[per](now)
    const bucket = ['quota', amount.concern, of, whose, encodeURIComponent(model), per, name].join('/')
    const allowance = { name: bucket, ...amount, per: lengths[per], until }
    return [{ allowance, refused: refusalOf(row, amount.concern, until) }]
  }
  const ofModels = windows.filter(({ model }) => model !== undefined)
  return {
    of: (call, now) => windows.flatMap((row) => quotaOf(row, call, now)),
    ofModel: (call, now) => ofModels.flatMap((row) => quotaOf(row, call, now)),
    models: [...new Set(ofModels.map(({ model }) => model!))],
  }
}
