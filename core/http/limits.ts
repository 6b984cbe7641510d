import { type Caller, limitsOf } from '../access/caller.ts'
import { TooMany } from '../errors.ts'
import type { Charge, Concern, RateLimiter } from '../ports/rate-limiter.ts'
import type { Settings } from '../settings.ts'
import type { Release } from './slots.ts'

/** Counts a request against the key and its organisation; the headers tell what is left. */
export const counting =
  (limiter: RateLimiter, settings: Settings) =>
  async (caller: Caller): Promise<Readonly<Record<string, string>>> => {
    const charges: Charge[] = []
    const charge = (name: string, most: number | null) => {
      if (most !== null) charges.push({ allowance: { name, concern: 'requests', most, per: 1000 }, amount: 1 })
    }
    charge(`requests/key/${caller.key}`, limitsOf(caller, settings).requestsPerSecond)
    charge(`requests/organization/${caller.organization}`, settings.limits.organization.requestsPerSecond)
    if (charges.length === 0) return {}
    const spent = await limiter.spend(charges)
    if (!spent.ok) throw new TooMany('Too many requests', { retryAfter: Math.ceil(spent.wait) })
    const left = spent.left[0]
    const { most } = charges[0]!.allowance
    return {
      'x-ratelimit-limit-requests': String(most),
      'x-ratelimit-remaining-requests': String(
        left === null || left === undefined ? most : Math.max(0, Math.floor(left)),
      ),
      'x-ratelimit-reset-requests': '1s',
    }
  }

/** Places of the key and its organisation, over all routes. */
export const crowding =
  (take: (name: string, most: number, concern: Concern) => Promise<Release>, settings: Settings) =>
  async (caller: Caller): Promise<readonly Release[]> => {
    const held: Release[] = []
    try {
      const key = limitsOf(caller, settings).concurrentRequests
      if (key !== null) held.push(await take(`concurrent/key/${caller.key}`, key, 'requests'))
      const organization = settings.limits.organization.concurrentRequests
      if (organization !== null)
        held.push(await take(`concurrent/organization/${caller.organization}`, organization, 'requests'))
      return held
    } catch (error) {
      await Promise.all(held.map((release) => release()))
      throw error
    }
  }
