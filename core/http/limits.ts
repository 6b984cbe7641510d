import { type Caller, limitsOf, organizationLimitsOf, perCaller } from '../access/caller.ts'
import { TooMany } from '../errors.ts'
import type { Allowance, Charge, Concern, RateLimiter, Spent } from '../ports/rate-limiter.ts'
import type { Settings } from '../settings.ts'
import { type Soon, soon } from '../ports/soon.ts'
import type { HeldPlace } from './concurrency.ts'

type Headers = Record<string, string | number>

/** Counts requests and bytes against the key and its organisation, and puts what is left of the requests into these headers. */
export const countRequests = (limiter: RateLimiter, settings: Settings) => {
  const allowancesOf = perCaller((caller) => {
    const limits = limitsOf(caller, settings)
    const organization = organizationLimitsOf(caller.organization, settings)
    const named = (kind: string, key: number | null, all: number | null, per: number): readonly Allowance[] =>
      (
        [
          [`${kind}/key/${caller.key}`, key],
          [`${kind}/organization/${caller.organization}`, all],
        ] as const
      ).flatMap(([name, most]) => (most === null ? [] : [{ name, concern: 'requests', most, per }]))
    return {
      requests: named('requests', limits.requestsPerSecond, organization.requestsPerSecond, 1000).map(
        (allowance): Charge => ({ allowance, amount: 1 }),
      ),
      bytes: named('bytes', limits.bytesPerMinute, organization.bytesPerMinute, 60_000),
    }
  })

  const spend = (requests: readonly Charge[], bytes: readonly Allowance[], length: number): Soon<Spent> | null => {
    const charges =
      length > 0 && bytes.length > 0
        ? [...requests, ...bytes.map((allowance) => ({ allowance, amount: length }))]
        : requests
    return charges.length === 0 ? null : limiter.spend(charges)
  }

  const told = (requests: readonly Charge[], spent: Spent, headers: Headers): void => {
    const ofBytes = !spent.ok && spent.refused >= requests.length
    const [first] = requests
    if (first !== undefined && !ofBytes) {
      const { most } = first.allowance
      headers['x-ratelimit-limit-requests'] = most
      headers['x-ratelimit-remaining-requests'] = spent.ok ? Math.max(0, Math.floor(spent.left[0] ?? most)) : 0
      headers['x-ratelimit-reset-requests'] = '1s'
    }
    if (!spent.ok) throw tooMany(ofBytes, spent.wait)
  }

  return {
    /** One request whose body has so many bytes, as far as its head tells. */
    request(caller: Caller, length: number, headers: Headers): Soon<void> {
      const { requests, bytes } = allowancesOf(caller)
      const spent = spend(requests, bytes, length)
      if (spent instanceof Promise) return spent.then((later) => told(requests, later, headers))
      if (spent !== null) told(requests, spent, headers)
    },

    /** Bytes of a body whose length nobody knew. */
    bytes(caller: Caller, length: number): Soon<void> {
      const spent = spend([], allowancesOf(caller).bytes, length)
      if (spent === null) return
      return soon(spent, (spent) => {
        if (!spent.ok) throw tooMany(true, spent.wait)
      })
    },
  }
}

/** An infinite wait is a body larger than its whole allowance: no time helps, so the refusal names none. */
const tooMany = (ofBytes: boolean, wait: number): TooMany =>
  new TooMany(ofBytes ? 'Too many bytes' : 'Too many requests', {
    retryAfter: Number.isFinite(wait) ? Math.ceil(wait) : null,
    limit: ofBytes ? 'bytes' : 'requests',
  })

/** Takes places of the key and its organisation, over all routes, and adds them to `held`. */
export const holdPlaces = (
  take: (name: string, most: number, concern: Concern) => Soon<HeldPlace>,
  settings: Settings,
) => {
  const placesOf = perCaller((caller) =>
    [
      { name: `concurrent/key/${caller.key}`, most: limitsOf(caller, settings).concurrentRequests },
      {
        name: `concurrent/organization/${caller.organization}`,
        most: organizationLimitsOf(caller.organization, settings).concurrentRequests,
      },
    ].filter((place): place is CrowdedPlace => place.most !== null),
  )

  return (caller: Caller, held: HeldPlace[]): Soon<void> => {
    const places = placesOf(caller)
    for (let at = 0; at < places.length; at++) {
      const { name, most } = places[at]!
      const place = take(name, most, 'requests')
      if (place instanceof Promise) return takeLater(place, places.slice(at + 1), held)
      held.push(place)
    }
  }

  async function takeLater(first: Promise<HeldPlace>, rest: readonly CrowdedPlace[], held: HeldPlace[]): Promise<void> {
    held.push(await first)
    for (const { name, most } of rest) held.push(await take(name, most, 'requests'))
  }
}

interface CrowdedPlace {
  readonly name: string
  readonly most: number
}
