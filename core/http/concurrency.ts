import { TooMany } from '../errors.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { Soon } from '../ports/soon.ts'
import type { Concern, Place, RateLimiter } from '../ports/rate-limiter.ts'
import { append, unlink, linkedList, type LinkedList, type Linked } from './linked-list.ts'

/** Ms after which a place of a dead process is free again. Living places are renewed three times as often. */
const ttl = 30_000
/** Minimum hold time in ms assumed for Retry-After: coming back late is cheaper than a second 429. */
const leastHoldMs = 300
/** Longer times than these are of a clock that was set, and make no caller wait for longer than ten minutes. */
const [mostHoldMs, mostAheadMs] = [150_000, 300_000]
/** Names that are remembered although nobody holds a place there. */
const idle = 10_000

interface Lane {
  readonly holds: LinkedList<HeldPlace>
  /** Ms that a place is usually held. */
  held: number
  /** When the place is free that the next who is refused may have. */
  next: number
}

/** A place, held and renewed until it is given back. */
export class HeldPlace implements Linked<HeldPlace> {
  before: HeldPlace | null = null
  behind: HeldPlace | null = null
  readonly began: number
  readonly #place: Place
  readonly #lane: Lane
  readonly #clock: Clock

  constructor(place: Place, lane: Lane, began: number, clock: Clock) {
    this.#place = place
    this.#lane = lane
    this.began = began
    this.#clock = clock
  }

  /** A limiter that is out of reach does not renew the place, and the place ends by its `ttl`. */
  renew(): void {
    const renewed = this.#place.renew()
    if (renewed instanceof Promise) renewed.catch(() => undefined)
  }

  /** Rejects when the limiter is out of reach; the place then ends by its `ttl`. */
  release(): Soon<void> {
    const lane = this.#lane
    if (unlink(lane.holds, this)) lane.held += (this.#clock.now() - this.began - lane.held) / 8
    return this.#place.release()
  }
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

  const held = (name: string, most: number, place: Place | null): HeldPlace => {
    const began = clock.now()
    const lane = laneOf(name)
    const { holds } = lane
    if (place === null) {
      // What is held for long already will be held for longer than was usual so far.
      const held = Math.min(mostHoldMs, Math.max(leastHoldMs, lane.held, 2 * (began - (holds.first?.began ?? began))))
      const next = lane.next - began > mostAheadMs ? began : lane.next
      lane.next = Math.max(began + held, next) + (1.25 * held) / most
      const retryAfter = Math.ceil(lane.next - began + (random.fraction() * held) / most)
      throw new TooMany('Too many concurrent requests', { retryAfter, apart: true, limit: 'concurrent' })
    }
    const hold = new HeldPlace(place, lane, began, clock)
    append(holds, hold)
    renew()
    return hold
  }

  /** Throws, or rejects, when all places are taken. */
  return (name: string, most: number, concern: Concern = 'places'): Soon<HeldPlace> => {
    const place = limiter.take(name, most, ttl, concern)
    return place instanceof Promise ? place.then((later) => held(name, most, later)) : held(name, most, place)
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
        hold.renew()
      }
    }
    if (ticking) clock.alarm(ttl / 3, tick)
  }
  return () => {
    if (!ticking) clock.alarm(ttl / 3, tick)
    ticking = true
  }
}
