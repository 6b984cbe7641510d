import type { BlockList } from 'node:net'
import type { Limits, Settings } from '../../../core/settings.ts'
import { listOf, rangeOf } from '../../../core/access/addresses.ts'
import { type Scope, limitsOf } from '../../../core/access/caller.ts'
import type { KeyRow } from '../../../core/access/key-row.ts'

/** How far a key reaches with its scopes. */
export type Reach = Pick<KeyRow, 'models' | 'addresses' | 'limits' | 'expires_at'>

/** Every bound is checked on its own, so a refusal can name the field. */
export const bounds = ['models', 'addresses', 'limits', 'expires_at'] as const satisfies readonly (keyof Reach)[]

export type Bound = (typeof bounds)[number]

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
export const hasAll = (key: { readonly scopes: readonly Scope[] }, wanted: readonly Scope[]): boolean =>
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
