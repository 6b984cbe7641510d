import { type Caller, limitsOf, organizationLimitsOf, perCaller } from '../access/caller.ts'
import { TooMany } from '../errors.ts'
import type { Charge, Concern, RateLimiter } from '../ports/rate-limiter.ts'
import type { Settings } from '../settings.ts'
import type { Release } from './slots.ts'

type Headers = Record<string, string | number>

/** Counts a request against the key and its organisation, and puts what is left into these headers. */
export const counting = (limiter: RateLimiter, settings: Settings) => {
  const chargesOf = perCaller((caller) => {
    const charges: Charge[] = []
    const charge = (name: string, most: number | null) => {
      if (most !== null) charges.push({ allowance: { name, concern: 'requests', most, per: 1000 }, amount: 1 })
    }
    charge(`requests/key/${caller.key}`, limitsOf(caller, settings).requestsPerSecond)
    const organization = organizationLimitsOf(caller.organization, settings)
    charge(`requests/organization/${caller.organization}`, organization.requestsPerSecond)
    return charges
  })

  return async (caller: Caller, headers: Headers): Promise<void> => {
    const charges = chargesOf(caller)
    if (charges.length === 0) return
    const spent = await limiter.spend(charges)
    const { most } = charges[0]!.allowance
    headers['x-ratelimit-limit-requests'] = most
    headers['x-ratelimit-remaining-requests'] = spent.ok ? Math.max(0, Math.floor(spent.left[0] ?? most)) : 0
    headers['x-ratelimit-reset-requests'] = '1s'
    if (!spent.ok) throw new TooMany('Too many requests', { retryAfter: Math.ceil(spent.wait) })
  }
}

/** Places of the key and its organisation, over all routes, are added to what is held. */
export const crowding = (
  take: (name: string, most: number, concern: Concern) => Promise<Release>,
  settings: Settings,
) => {
  const placesOf = perCaller((caller) =>
    [
      { name: `concurrent/key/${caller.key}`, most: limitsOf(caller, settings).concurrentRequests },
      {
        name: `concurrent/organization/${caller.organization}`,
        most: organizationLimitsOf(caller.organization, settings).concurrentRequests,
      },
    ].filter((place): place is { name: string; most: number } => place.most !== null),
  )

  return async (caller: Caller, held: Release[]): Promise<void> => {
    for (const { name, most } of placesOf(caller)) held.push(await take(name, most, 'requests'))
  }
}
