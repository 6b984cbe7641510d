import { BadRequest, Forbidden } from '../../../core/errors.ts'
import type { Settings, Limits } from '../../../core/settings.ts'
import { blockListOf, listOf, rangeOf } from '../../../core/access/addresses.ts'
import { type Scope, plainScopes, teamsOf, limitsOf } from '../../../core/access/caller.ts'
import { type KeyRow, lives } from '../../../core/access/key-row.ts'
import type { Decide, KeyChange } from '../../../core/access/keyring.ts'
import type { RegisterAct } from '../../../core/access/register.ts'
import type { BlockList } from 'node:net'

type Bounds = { readonly [B in Bound]?: Reach[B] | undefined }

/** What one key may give to another. */
export interface KeyRequest extends Bounds {
  /** The plain ones of the caller's own when absent. */
  readonly scopes?: readonly Scope[] | undefined
  /** The caller's own when absent. */
  readonly user?: string | undefined
  /** The caller's team when absent. A caller with a team gives that team alone. */
  readonly team?: string | undefined
}

/** What may be changed of a key. */
export interface KeyChangeRequest extends Bounds {
  readonly name?: string | undefined
  readonly scopes?: readonly Scope[] | undefined
  /** Null for none. */
  readonly team?: string | null | undefined
}

/** All that a maker decides about a new key, after the check against the maker's own powers. */
export type GrantedPowers = Reach & Pick<KeyRow, 'scopes' | 'makers' | 'user' | 'team'>

/** The powers of a new key: the given ones, and otherwise the plain scopes and the reach of its maker. Throws Forbidden for more than the maker has. */
export const grantedPowers = (
  given: KeyRequest,
  own: KeyRow,
  settings: Settings,
  now: number,
  /** A team that is kept and open; null for none. */
  kept: string | null = null,
): GrantedPowers => {
  const { scopes = plainScopes.filter((scope) => own.scopes.includes(scope)), user = own.user, team = own.team } = given
  const reach = { ...own, ...reachOf(given, own) }
  sound(given, now)
  insist('scopes', hasAll(own, scopes))
  for (const bound of bounds) insist(bound, isWithinBound(bound, reach, own, settings))
  openTeam(team, own, settings, kept)
  if (user !== own.user && !own.scopes.includes('api_key.delegate')) {
    throw new Forbidden('Missing required permissions', {
      validator: { user: 'Expected the caller’s own user, or a caller with api_key.delegate' },
    })
  }
  const { models, addresses, limits, expires_at } = reach
  return { scopes, user, team, models, addresses, limits, expires_at, makers: [...own.makers, own.id] }
}

/** What a caller's change makes of a key. Throws Forbidden where it widens the key further than the caller may. */
export const changedKey =
  (given: KeyChangeRequest, own: KeyRow, settings: Settings, now: number, kept: string | null = null): Decide =>
  (key) => {
    sound(given, now)
    const { name, scopes, team } = given
    const change: KeyChange = {
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes }),
      ...(team !== undefined && { team }),
      ...reachOf(given, own),
    }
    const after = { ...key, ...change }
    if (after.team !== key.team) {
      openTeam(after.team, own, settings, kept)
      insistOnScopes('team', own, key)
    }
    let narrows = false
    for (const part of ['scopes', ...bounds] as const) {
      if (given[part] === undefined) continue
      const isWithin = (inner: KeyRow, outer: KeyRow): boolean =>
        part === 'scopes' ? hasAll(outer, inner.scopes) : isWithinBound(part, inner, outer, settings)
      const widens = !isWithin(after, key)
      const less = !isWithin(key, after)
      if (less) narrows = true
      if (less && !widens) continue
      insist(part, isWithin(after, own))
      if (widens) insistOnScopes(part, own, key)
    }
    return { change, leaves: narrows ? keyToLeave(own, settings, now)(key) : null }
  }

/** Throws Forbidden for a caller without every scope of the key. */
const insistOnScopes = (field: string, own: KeyRow, key: KeyRow): void => {
  if (!hasAll(own, key.scopes))
    throw new Forbidden('A key is widened by a caller with every scope of it', {
      validator: { [field]: 'Expected no more than the key has' },
    })
}

/** A caller of a team gives its own team alone; every other caller gives an open team. `kept` is the name of a stored team. */
const openTeam = (team: string | null, own: KeyRow, settings: Settings, kept: string | null): void => {
  insist('team', own.team === null || team === own.team)
  const isTeam = (name: string) =>
    name === kept || Object.hasOwn(teamsOf(own.organization, settings.organizations), name)
  if (team !== null && team !== own.team && !isTeam(team))
    throw new BadRequest('Validation failed', { validator: { team: 'Expected an open team of the organisation' } })
}

/** A key with one of these scopes administers keys: an act that narrows it may have to leave another such key. */
const administrative: readonly Scope[] = ['api_key.create', 'api_key.update', 'api_key.delete']

/** Which other key an act of the caller has to leave when it narrows this one; null where it may leave none. */
const keyToLeave =
  ({ scopes }: { readonly scopes: readonly Scope[] }, settings: Settings, now: number) =>
  (key: KeyRow): RegisterAct['leaves'] => {
    const administers = key.scopes.some((scope) => administrative.includes(scope))
    if (!administers || !lives(key, now) || hasAll({ scopes }, key.scopes)) return null
    // Where test keys are refused, one of them administers nothing.
    const stands = ({ mode }: KeyRow) => mode === 'live' || mode === key.mode
    return (other) =>
      stands(other) && hasAll(other, key.scopes) && bounds.every((bound) => isWithinBound(bound, key, other, settings))
  }

/** Limits are given all at once: an absent limit is the giver's. */
const reachOf = ({ models, addresses, limits, expires_at }: Bounds, own: KeyRow): Partial<Reach> => ({
  ...(models !== undefined && { models }),
  ...(addresses !== undefined && { addresses }),
  ...(limits !== undefined && { limits: { ...own.limits, ...limits } }),
  ...(expires_at !== undefined && { expires_at }),
})

/** Throws BadRequest for powers that no caller may give. */
const sound = ({ addresses, expires_at }: Bounds, now: number): void => {
  if (expires_at != null && expires_at <= now) {
    throw new BadRequest('Validation failed', { validator: { expires_at: 'Expected a time in the future' } })
  }
  blockListOf(addresses ?? null)
}

const insist = (field: string, fine: boolean): void => {
  if (!fine)
    throw new Forbidden('A key cannot be given more than its giver has', {
      validator: { [field]: 'Expected no more than the caller’s own key has' },
    })
}

/** How far a key reaches with its scopes. */
type Reach = Pick<KeyRow, 'models' | 'addresses' | 'limits' | 'expires_at'>

/** Every bound is checked on its own, so a refusal can name the field. */
const bounds = ['models', 'addresses', 'limits', 'expires_at'] as const satisfies readonly (keyof Reach)[]

type Bound = (typeof bounds)[number]

/** Whether the first reaches no further than the second in this bound. False where nothing proves it. */
export const isWithinBound = (bound: Bound, inner: Reach, outer: Reach, settings: Settings): boolean => {
  switch (bound) {
    case 'models': {
      const most = outer.models && new Set(outer.models)
      return most === null || (inner.models !== null && inner.models.every((model) => most.has(model)))
    }
    case 'addresses':
      return admitsAll(outer.addresses, inner.addresses)
    case 'limits':
      return limitsWithin(inner, outer, settings)
    case 'expires_at':
      return atMost(inner.expires_at, outer.expires_at)
  }
}

/** A limit of the key's own is less than none of its own: the configured one may change. */
const limitsWithin = (inner: Reach, outer: Reach, settings: Settings): boolean => {
  const [limits, most] = [limitsOf(inner, settings), limitsOf(outer, settings)]
  return (Object.keys(most) as (keyof Limits)[]).every((name) => {
    const lost = inner.limits[name] === undefined && outer.limits[name] != null
    return !lost && atMost(limits[name], most[name])
  })
}

/** Null is more than every number. */
const atMost = (limit: number | null, most: number | null): boolean =>
  most === null || (limit !== null && limit <= most)

/** Whether the key has each of the wanted scopes. An empty list is always had. */
const hasAll = (key: { readonly scopes: readonly Scope[] }, wanted: readonly Scope[]): boolean =>
  wanted.every((scope) => key.scopes.includes(scope))

/** Whether all that the one list admits is admitted by the other, entry by entry; null admits all. */
export const admitsAll = (own: readonly string[] | null, wanted: readonly string[] | null): boolean => {
  if (own === null) return true
  if (wanted === null) return false
  const ranges = own.map(rangeOf)
  const wide = new Map<string, BlockList>()
  return wanted.map(rangeOf).every(({ address, family, prefix }) => {
    const name = `${family}/${prefix}`
    // A list also finds addresses of one family within the other, whose lengths say something else.
    const list = wide.get(name) ?? listOf(ranges.filter((range) => range.family === family && range.prefix <= prefix))
    wide.set(name, list)
    return list.check(address, family)
  })
}
