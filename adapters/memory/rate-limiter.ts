import { plugin } from '../../core/plugin.ts'
import { Clock } from '../../core/ports/platform.ts'
import { RateLimiter, type Allowance } from '../../core/ports/rate-limiter.ts'
import { append, unlink, linkedList, type LinkedList, type Linked } from '../../core/linked-list.ts'

interface Lease extends Linked<Lease> {
  /** Unix ms until which the place is taken; 0 once it was released. */
  over: number
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
const tidy = <T>(map: Map<string, T>, idle: (it: T) => boolean) => {
  let bound = 1024
  return () => {
    if (map.size < bound) return
    for (const [name, it] of map) if (idle(it)) map.delete(name)
    bound = Math.max(1024, map.size * 2)
  }
}

/** Frees the places whose holders did not renew them in time. */
const lapse = (leases: LinkedList<Lease>, now: number) => {
  for (let lease = leases.first; lease !== null;) {
    const { behind, over } = lease
    if (over <= now) unlink(leases, lease)
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
      const more = until === undefined ? (Math.max(0, now - bucket.at) * bucket.most) / per : 0
      bucket.left = Math.min(bucket.most, bucket.left + more) + most - bucket.most
      bucket.most = most
      bucket.at = now
      return bucket
    }

    return {
      async take(name, most, ttl) {
        const now = clock.now()
        let leases = places.get(name)
        if (leases === undefined) {
          tidyPlaces()
          places.set(name, (leases = linkedList()))
        }
        if (leases.length >= most) lapse(leases, now)
        if (leases.length >= most) return null
        const held = leases
        const lease: Lease = { over: now + ttl, before: null, behind: null }
        append(held, lease)
        return {
          async renew() {
            const now = clock.now()
            if (lease.over <= now) return false
            lease.over = now + ttl
            return true
          },
          async release() {
            lease.over = 0
            unlink(held, lease)
          },
        }
      },

      async spend(charges) {
        const now = clock.now()
        const left: number[] = []
        let refused = -1
        let wait = 0
        const undo: (() => void)[] = []
        for (const [i, { allowance, amount }] of charges.entries()) {
          const bucket = refilled(allowance, now)
          const before = bucket.left
          undo.push(() => {
            bucket.left = before
            bucket.whole = wholeAt(allowance, before, now)
          })
          left.push((bucket.left -= amount))
          bucket.whole = wholeAt(allowance, bucket.left, now)
          if (bucket.left >= -crumb || allowance.soft === true) continue
          const fits = fitsIn(allowance, amount, bucket.left, now)
          if (fits > wait) [refused, wait] = [i, fits]
        }
        if (refused >= 0) {
          // In reverse order, since two charges may concern one bucket.
          for (const restore of undo.reverse()) restore()
          return { ok: false, refused, wait }
        }
        // A second settlement would give the difference back twice.
        let settled = false
        return {
          ok: true,
          left,
          async settle(actual) {
            if (settled) return
            settled = true
            const now = clock.now()
            return charges.map(({ allowance, amount }, i) => {
              const bucket = refilled(allowance, now)
              bucket.left = Math.min(allowance.most, bucket.left + amount - (actual[i] ?? amount))
              bucket.whole = wholeAt(allowance, bucket.left, now)
              return bucket.left
            })
          },
        }
      },
    }
  },
})
