import { TooMany } from '../errors.ts'
import type { Clock, Random } from '../ports/host.ts'
import type { Concern, Place, RateLimiter } from '../ports/rate-limiter.ts'

export type Release = () => Promise<void>

const ttl = 30_000
/** Ms that a place is held at least, as far as those who wait are told: to come too late costs less than to come in vain. */
const least = 300

/**
 * Places that are held while a request runs and renewed as long as it does. Whoever finds none is told when to come
 * back: each refused caller is given the next free moment of an imagined queue, with some jitter, so that those who wait
 * don't all come at once and don't wait longer than they need.
 */
export const slots = (limiter: RateLimiter, clock: Clock, random: Random) => {
  const pace = new Map<string, { held: number; next: number; readonly holds: Set<{ readonly began: number }> }>()
  const renew = renewing(clock)

  return async (name: string, most: number, concern: Concern = 'places'): Promise<Release> => {
    const place = await limiter.take(name, most, ttl, concern)
    const began = clock.now()
    let seen = pace.get(name)
    if (seen === undefined) {
      if (pace.size > 10_000) pace.clear()
      pace.set(name, (seen = { held: least, next: 0, holds: new Set() }))
    }
    if (place === null) {
      const [oldest] = seen.holds
      // What is held for long already will be held for longer than was usual so far.
      const held = Math.max(least, seen.held, 2 * (began - (oldest?.began ?? began)))
      seen.next = Math.max(began + held, seen.next) + (1.25 * held) / most
      const retryAfter = Math.ceil(seen.next - began + (random.fraction() * held) / most)
      throw new TooMany('Too many concurrent requests', { retryAfter })
    }
    renew.add(place)
    const hold = { began }
    seen.holds.add(hold)
    return () => {
      renew.delete(place)
      seen.holds.delete(hold)
      seen.held += (clock.now() - began - seen.held) / 8
      return place.release()
    }
  }
}

/** Renews all held places by one clock, since a timer a request would cost more than the place itself. */
const renewing = (clock: Clock) => {
  const places = new Set<Place>()
  let ticking = false
  const tick = () => {
    ticking = places.size > 0
    if (!ticking) return
    for (const place of places)
      place.renew().then(
        (kept) => kept || places.delete(place),
        () => undefined,
      )
    clock.alarm(ttl / 3, tick)
  }
  return {
    add(place: Place) {
      places.add(place)
      if (!ticking) clock.alarm(ttl / 3, tick)
      ticking = true
    },
    delete: (place: Place) => places.delete(place),
  }
}
