import { type Caller, limitsOf, organizationLimitsOf } from '../access/caller.ts'
import { TooMany } from '../errors.ts'
import type { Allowance, Charge, Concern, RateLimiter, Spent } from '../ports/rate-limiter.ts'
import type { Settings } from '../settings.ts'
import { type Soon, soon } from '../ports/soon.ts'
import type { HeldPlace } from './concurrency.ts'

type Headers = Record<string, string | number>

/** What the limits say of a caller. */
interface CallerLimits {
  readonly requests: readonly Charge[]
  readonly bytes: readonly Allowance[]
  readonly places: readonly Row[]
}

type Row = readonly [name: string, most: number]

const limitsFor = (caller: Caller, settings: Settings): CallerLimits => {
  const limits = limitsOf(caller, settings)
  const all = organizationLimitsOf(caller.organization, settings)
  const rows = (kind: string, limit: 'requestsPerSecond' | 'bytesPerMinute' | 'concurrentRequests'): readonly Row[] => {
    const [key, organization] = [limits[limit], all[limit]]
    return [
      ...(key === null ? [] : [[`${kind}/key/${caller.key}`, key] as const]),
      ...(organization === null ? [] : [[`${kind}/organization/${caller.organization}`, organization] as const]),
    ]
  }
  const allowance = ([name, most]: Row, per: number): Allowance => ({ name, concern: 'requests', most, per })
  return {
    requests: rows('requests', 'requestsPerSecond').map((row) => ({ allowance: allowance(row, 1000), amount: 1 })),
    bytes: rows('bytes', 'bytesPerMinute').map((row) => allowance(row, 60_000)),
    places: rows('concurrent', 'concurrentRequests'),
  }
}

type Take = (name: string, most: number, concern: Concern) => Soon<HeldPlace>

const takePlaces = (take: Take, places: readonly Row[], held: HeldPlace[] | null): Soon<void> => {
  if (held === null) return
  for (let at = 0; at < places.length; at++) {
    const [name, most] = places[at]!
    const place = take(name, most, 'requests')
    if (place instanceof Promise)
      return place.then((later) => {
        held.push(later)
        return takePlaces(take, places.slice(at + 1), held)
      })
    held.push(place)
  }
}

/** The limits of keys and their organisations, over all routes. */
export const callerLimits = (limiter: RateLimiter, take: Take, settings: Settings) => {
  /** Worked out for each caller once, and again when its key was read anew. */
  const known = new WeakMap<Caller, CallerLimits>()
  const of = (caller: Caller): CallerLimits => {
    let limits = known.get(caller)
    if (limits === undefined) known.set(caller, (limits = limitsFor(caller, settings)))
    return limits
  }

  const spend = (requests: readonly Charge[], bytes: readonly Allowance[], length: number): Soon<Spent> | null => {
    const charges =
      length > 0 && bytes.length > 0
        ? [...requests, ...bytes.map((allowance) => ({ allowance, amount: length }))]
        : requests
    return charges.length === 0 ? null : limiter.spend(charges)
  }

  return {
    /**
     * Counts one request whose body has so many bytes, as far as its head tells, puts what is left into these headers, and
     * adds the places that the request takes to `held`.
     */
    enter(caller: Caller, length: number, headers: Headers, held: HeldPlace[] | null): Soon<void> {
      const { requests, bytes, places } = of(caller)
      const spent = spend(requests, bytes, length)
      if (spent instanceof Promise)
        return spent.then((later) => {
          tell(requests, later, headers)
          return takePlaces(take, places, held)
        })
      if (spent !== null) tell(requests, spent, headers)
      return takePlaces(take, places, held)
    },

    /** Bytes of a body whose length nobody knew. */
    bytes(caller: Caller, length: number): Soon<void> {
      const spent = spend([], of(caller).bytes, length)
      if (spent === null) return
      return soon(spent, (spent) => {
        if (!spent.ok) throw tooMany(true, spent.wait)
      })
    },
  }
}

const tell = (requests: readonly Charge[], spent: Spent, headers: Headers): void => {
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

/** An infinite wait is a body larger than its whole allowance: no time helps, so the refusal names none. */
const tooMany = (ofBytes: boolean, wait: number): TooMany =>
  new TooMany(ofBytes ? 'Too many bytes' : 'Too many requests', {
    retryAfter: Number.isFinite(wait) ? Math.ceil(wait) : null,
    limit: ofBytes ? 'bytes' : 'requests',
  })
