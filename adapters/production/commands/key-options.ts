import * as v from 'valibot'
import { type Scope, plainScopes, scopes } from '../../../core/access/caller.ts'
import type { Mode } from '../../../core/access/credential.ts'
import type { KeyChange, NewKey } from '../../../core/access/keyring.ts'
import type { KeyRow } from '../../../core/access/key-row.ts'
import { OwnLimits } from '../../../core/settings.ts'
import { isName } from '../../../plugins/shared/names.ts'
import { didYouMean } from '../config/did-you-mean.ts'

/** The options of all verbs of `keys`; each verb reads those that concern it. */
export const keyOptions = {
  name: { type: 'string' },
  organization: { type: 'string' },
  user: { type: 'string' },
  team: { type: 'string' },
  mode: { type: 'string' },
  scopes: { type: 'string' },
  models: { type: 'string' },
  addresses: { type: 'string' },
  days: { type: 'string' },
  'requests-per-second': { type: 'string' },
  'bytes-per-minute': { type: 'string' },
  'concurrent-requests': { type: 'string' },
  'tokens-per-minute': { type: 'string' },
  'tokens-per-day': { type: 'string' },
  'audio-minutes-per-day': { type: 'string' },
  'cost-per-day': { type: 'string' },
  'cost-per-week': { type: 'string' },
  'cost-per-month': { type: 'string' },
  keep: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

/** Undefined means that the option is absent: `keys update` leaves that field as it is. */
export type KeyValues = Readonly<
  Partial<Record<Exclude<keyof typeof keyOptions, 'keep' | 'json'>, string>> & { keep?: boolean; json?: boolean }
>

/** In ms. */
const day = 86_400_000

/** The new key that `keys create` asks for. */
export const newKeyOf = (values: KeyValues): NewKey => {
  const { name, organization, user, team } = values
  return {
    ...(name !== undefined && { name }),
    ...(organization !== undefined && { organization: plain(organization) }),
    ...(user !== undefined && { user: plain(user) }),
    ...(team !== undefined && { team: plain(team) }),
    mode: modeOf(values.mode ?? 'live'),
    scopes: scopesOf(values.scopes),
    models: listOf(values.models),
    addresses: listOf(values.addresses),
    expires_at: expiryOf(values.days),
    limits: limitsOf(values, {}),
  }
}

/** The changes that `keys update` names; all other fields stay. */
export const changeOf = (values: KeyValues, own: KeyRow['limits']): KeyChange => ({
  ...changesOf(values),
  ...(limitFlags.some((flag) => values[flag] !== undefined) && { limits: limitsOf(values, own) }),
})

const changesOf = ({ name, models, addresses, days }: KeyValues): KeyChange => ({
  ...(name !== undefined && { name }),
  ...(models !== undefined && { models: listOf(models) }),
  ...(addresses !== undefined && { addresses: listOf(addresses) }),
  ...(days !== undefined && { expires_at: expiryOf(days) }),
})

type LimitFlag = Extract<keyof KeyValues, `${string}-per-${string}` | 'concurrent-requests'>

/** The options that name a limit. */
export const limitFlags = Object.keys(keyOptions).filter(
  (flag): flag is LimitFlag => flag.includes('-per-') || flag === 'concurrent-requests',
)

/** `cost-per-day` as the configuration names it: `costPerDay`. */
const nameOfLimit = (flag: string): string => flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The key's own limits with those that flags name: `none` takes a limit away, `default` leaves it to the configuration. */
const limitsOf = (values: KeyValues, own: KeyRow['limits']): KeyRow['limits'] => {
  const limits: Record<string, unknown> = { ...own }
  for (const flag of limitFlags) {
    const text = values[flag]
    if (text === undefined) continue
    const name = nameOfLimit(flag)
    if (text === 'default') delete limits[name]
    else limits[name] = text === 'none' ? null : Number(text)
    if (!v.is(OwnLimits, limits)) {
      const number = flag.startsWith('cost') ? 'an amount above 0' : 'a whole number from 1'
      throw new Error(`--${flag} takes ${number}, none or default`)
    }
  }
  return limits
}

const split = (list: string): readonly string[] => list.split(',').map((part) => part.trim())

/** Null means all. Throws for an empty part: a variable of a script that is not set would make a key that opens nothing. */
const listOf = (list: string | undefined): readonly string[] | null => {
  if (list === undefined || list === 'all') return null
  const parts = split(list)
  if (parts.includes('')) throw new Error('a list has no empty part; all stands for every one')
  return parts
}

/** In ms. A key that the API made may end later. */
export const lastDate = 8.64e15

/** Unix ms, up to the last date; null means never. Parts of a day are allowed. */
const expiryOf = (days: string | undefined): number | null => {
  if (days === undefined || days === 'never') return null
  const expiry = Date.now() + Number(days) * day
  if (!(Number(days) > 0 && expiry <= lastDate)) throw new Error('--days takes a number above 0, or never')
  return expiry
}

/** Such names stand in paths, reports and tags, so they have the same letters everywhere. */
const plain = (text: string): string => {
  if (!isName(text))
    throw new Error(
      'organisations, users and teams are letters, digits and . _ @ -, with a letter or digit at both ends',
    )
  return text
}

const modeOf = (text: string): Mode => {
  if (text !== 'live' && text !== 'test') throw new Error('--mode is live or test')
  return text
}

const scopesOf = (list: string | undefined): readonly Scope[] => {
  if (list === undefined) return plainScopes
  return list === 'all' ? scopes : split(list).map(scopeOf)
}

const scopeOf = (text: string): Scope => {
  const scope = scopes.find((scope) => scope === text)
  if (scope === undefined)
    throw new Error(`--scopes has no ${text}${didYouMean(text, scopes)}; it knows all, ${scopes.join(', ')}`)
  return scope
}
