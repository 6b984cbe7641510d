import { TooMany } from '../errors.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { Concern, Place, RateLimiter } from '../ports/rate-limiter.ts'
import { append, unlink, linkedList, type LinkedList, type Linked } from '../linked-list.ts'

/**
 * Gives a place back. The promise rejects when the limiter is out of reach; the place then ends by its `ttl`.
 */
export type Release = () => Promise<void>

/** Ms after which a place of a dead process is free again. Living places are renewed three times as often. */
const ttl = 30_000
/** Minimum hold time in ms assumed for Retry-After: coming back late is cheaper than a second 429. */
const leastHoldMs = 300
/** Names that are remembered although nobody holds a place there. */
const idle = 10_000

interface Hold extends Linked<Hold> {
  readonly place: Place
  readonly began: number
}

interface Lane {
  readonly holds: LinkedList<Hold>
  /** Ms that a place is usually held. */
  held: number
  /** When the place is free that the next who is refused may have. */
  next: number
}

/**
 * Places that are held while a request runs and renewed as long as it does. A refused caller learns when to come
 * back: each refused caller gets the next free moment of an imagined queue, with some jitter. So waiting callers come
 * neither all at once nor later than needed.
 */
export const renewedPlaces = (limiter: RateLimiter, clock: Clock, random: Random) => {
  const lanes = new Map<string, Lane>()
  const renew = renewing(lanes, clock)
  let bound = idle

  const laneOf = (name: string): Lane => {
    let lane = lanes.get(name)
    if (lane === undefined) {
      if (lanes.size >= bound) {
        for (const [name, { holds }] of lanes) if (holds.length === 0) lanes.delete(name)
        bound = idle + lanes.size
      }
      lanes.set(name, (lane = { holds: linkedList(), held: leastHoldMs, next: 0 }))
    }
    return lane
  }

  return async (name: string, most: number, concern: Concern = 'places'): Promise<Release> => {
    const place = await limiter.take(name, most, ttl, concern)
    const began = clock.now()
    const lane = laneOf(name)
    const { holds } = lane
    if (place === null) {
      // What is held for long already will be held for longer than was usual so far.
      const held = Math.max(leastHoldMs, lane.held, 2 * (began - (holds.first?.began ?? began)))
      lane.next = Math.max(began + held, lane.next) + (1.25 * held) / most
      const retryAfter = Math.ceil(lane.next - began + (random.fraction() * held) / most)
      throw new TooMany('Too many concurrent requests', { retryAfter, apart: true })
    }
    const hold: Hold = { place, began, before: null, behind: null }
    append(holds, hold)
    renew()
    return () => {
      if (unlink(holds, hold)) lane.held += (clock.now() - began - lane.held) / 8
      return place.release()
    }
  }
}

/** Renews all held places by one clock, since a timer a request would cost more than the place itself. */
const renewing = (lanes: ReadonlyMap<string, Lane>, clock: Clock): (() => void) => {
  let ticking = false
  const tick = () => {
    ticking = false
    for (const { holds } of lanes.values()) {
      for (let hold = holds.first; hold !== null; hold = hold.behind) {
        ticking = true
        hold.place.renew().catch(() => undefined)
      }
    }
    if (ticking) clock.alarm(ttl / 3, tick)
  }
  return () => {
    if (!ticking) clock.alarm(ttl / 3, tick)
    ticking = true
  }
}
