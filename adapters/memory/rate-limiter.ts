import { plugin } from '../../core/plugin.ts'
import { Clock } from '../../core/ports/platform.ts'
import { RateLimiter, type Allowance, type Charge, type Place } from '../../core/ports/rate-limiter.ts'
import { append, unlink, linkedList, type LinkedList, type Linked } from '../../core/http/linked-list.ts'

interface Lease extends Linked<Lease> {
  /** Unix ms until which the place is taken; 0 once it was released. */
  over: number
  /** Ms that the place is taken where nobody renews it. */
  readonly ttl: number
}

interface Bucket {
  /** Below 0 where a call cost more than was charged before it, and where a soft allowance is overdrawn. */
  left: number
  /** The amount of a full bucket. */
  most: number
  /** Unix ms up to which the bucket was refilled. */
  at: number
  /** The time at which the bucket is full and can be forgotten. */
  whole: number
}

/** Tolerates rounding when a bucket refills; far below any amount. */
const crumb = 1e-9

/** Forgets idle buckets each time the map has doubled, so that every step pays the same small share. */
const tidy = <T>(map: Map<string, T>, idle: (entry: T) => boolean) => {
  let bound = 1024
  return () => {
    if (map.size < bound) return
    for (const [name, entry] of map) if (idle(entry)) map.delete(name)
    bound = Math.max(1024, map.size * 2)
  }
}

/** Frees the places whose holders did not renew them in time. */
const lapse = (leases: LinkedList<Lease>, now: number) => {
  for (let lease = leases.first; lease !== null;) {
    const { behind, over, ttl } = lease
    if (over <= now) unlink(leases, lease)
    // A clock that was set back holds no place for longer than its time.
    else if (over - now > ttl) lease.over = now + ttl
    lease = behind
  }
}

/** The time at which a bucket can be forgotten. */
const wholeAt = ({ most, per, until }: Allowance, left: number, now: number): number =>
  left >= most ? now : (until ?? now + ((most - left) * per) / most)

/** In ms: the wait until an amount fits. `left` is negative by the missing amount. */
const fitsIn = ({ most, per, until }: Allowance, amount: number, left: number, now: number): number => {
  if (amount > most) return Infinity
  return until === undefined ? Math.ceil((-left * per) / most) : Math.max(1, until - now)
}

type Refilled = (allowance: Allowance, now: number) => Bucket

/** Charges that were booked. A class: each request makes two. */
class Booked {
  readonly ok = true
  readonly left: readonly number[]
  readonly #charges: readonly Charge[]
  readonly #refilled: Refilled
  readonly #clock: Clock
  /** A second settlement would give the difference back twice. */
  #isSettled = false

  constructor(charges: readonly Charge[], left: readonly number[], refilled: Refilled, clock: Clock) {
    this.#charges = charges
    this.left = left
    this.#refilled = refilled
    this.#clock = clock
  }

  settle(actual: readonly number[]): readonly number[] | void {
    if (this.#isSettled) return
    this.#isSettled = true
    const now = this.#clock.now()
    const left = new Array<number>(this.#charges.length)
    for (let at = 0; at < left.length; at++) {
      const { allowance, amount } = this.#charges[at]!
      const bucket = this.#refilled(allowance, now)
      bucket.left = Math.min(allowance.most, bucket.left + amount - (actual[at] ?? amount))
      bucket.whole = wholeAt(allowance, bucket.left, now)
      left[at] = bucket.left
    }
    return left
  }
}

/** A place until it is released. A class: each request takes two. */
class LeasedPlace implements Lease, Place {
  over: number
  before: Lease | null = null
  behind: Lease | null = null
  readonly ttl: number
  readonly #leases: LinkedList<Lease>
  readonly #clock: Clock

  constructor(leases: LinkedList<Lease>, over: number, ttl: number, clock: Clock) {
    this.over = over
    this.#leases = leases
    this.ttl = ttl
    this.#clock = clock
  }

  renew(): boolean {
    const now = this.#clock.now()
    if (this.over <= now) return false
    this.over = now + this.ttl
    return true
  }

  release(): void {
    this.over = 0
    unlink(this.#leases, this)
  }
}

/** Exact within this process, and lost with it. */
export default plugin({
  port: RateLimiter,
  name: 'memory',
  needs: { clock: Clock },
  create: ({ clock }): RateLimiter => {
    const places = new Map<string, LinkedList<Lease>>()
    const buckets = new Map<string, Bucket>()
    const tidyPlaces = tidy(places, (leases) => {
      lapse(leases, clock.now())
      return leases.length === 0
    })
    const tidyBuckets = tidy(buckets, (bucket) => bucket.whole <= clock.now())

    const refilled = ({ name, most, per, until }: Allowance, now: number): Bucket => {
      let bucket = buckets.get(name)
      if (!bucket) {
        tidyBuckets()
        buckets.set(name, (bucket = { left: most, most, at: now, whole: now }))
        return bucket
      }
      // A window that ended has its whole amount, also where its name comes again after the clock was set back.
      if (until !== undefined && until > now && bucket.whole <= now) bucket.left = bucket.most
      const more = until === undefined ? (Math.max(0, now - bucket.at) * bucket.most) / per : 0
      bucket.left = Math.min(bucket.most, bucket.left + more) + most - bucket.most
      bucket.most = most
      bucket.at = now
      return bucket
    }

    return {
      take(name, most, ttl) {
        const now = clock.now()
        let leases = places.get(name)
        if (leases === undefined) {
          tidyPlaces()
          places.set(name, (leases = linkedList()))
        }
        if (leases.length >= most) lapse(leases, now)
        if (leases.length >= most) return null
        const place = new LeasedPlace(leases, now + ttl, ttl, clock)
        append(leases, place)
        return place
      },

      spend(charges) {
        const now = clock.now()
        const left = new Array<number>(charges.length)
        const before = new Array<number>(charges.length)
        let refused = -1
        let wait = 0
        for (let at = 0; at < charges.length; at++) {
          const { allowance, amount } = charges[at]!
          const bucket = refilled(allowance, now)
          before[at] = bucket.left
          left[at] = bucket.left -= amount
          bucket.whole = wholeAt(allowance, bucket.left, now)
          if (bucket.left >= -crumb || allowance.soft === true) continue
          const fits = fitsIn(allowance, amount, bucket.left, now)
          if (fits > wait) [refused, wait] = [at, fits]
        }
        if (refused < 0) return new Booked(charges, left, refilled, clock)
        // In reverse order, since two charges may concern one bucket.
        for (const [at, { allowance }] of [...charges.entries()].reverse()) {
          const bucket = refilled(allowance, now)
          bucket.left = before[at] ?? bucket.left
          bucket.whole = wholeAt(allowance, bucket.left, now)
        }
        return { ok: false, refused, wait }
      },
    }
  },
})
