import { TooMany } from '../errors.ts'
import type { Alarm, Clock, Random } from '../ports/host.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'

export type Release = () => Promise<void>

const ttl = 30_000
const guess = 300

/**
 * Places that are held while a request runs and renewed as long as it does. Whoever finds none is told when to come
 * back: each refused caller is given the next free moment of an imagined queue, with some jitter, so that those who wait
 * don't all come at once and don't wait longer than they need.
 */
export const slots = (limiter: RateLimiter, clock: Clock, random: Random) => {
  const pace = new Map<string, { held: number; next: number }>()

  return async (name: string, most: number): Promise<Release> => {
    const place = await limiter.take(name, most, ttl)
    const began = clock.now()
    let seen = pace.get(name)
    if (seen === undefined) {
      if (pace.size > 10_000) pace.clear()
      pace.set(name, (seen = { held: guess, next: 0 }))
    }
    if (place === null) {
      seen.next = Math.max(began + seen.held / 2, seen.next) + seen.held / most
      const retryAfter = Math.ceil(seen.next - began + (random.fraction() * seen.held) / most)
      throw new TooMany('Too many concurrent requests', { retryAfter })
    }
    let released = false
    const renewing = (): Alarm =>
      clock.alarm(ttl / 3, () => {
        const next = () => {
          if (!released) renewal = renewing()
        }
        place.renew().then((kept) => kept && next(), next)
      })
    let renewal = renewing()
    return async () => {
      released = true
      renewal.off()
      const held = clock.now() - began
      seen.held += (held - seen.held) / 8
      await place.release()
    }
  }
}
