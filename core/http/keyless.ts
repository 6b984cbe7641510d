import { TooMany } from '../errors.ts'
import type { Clock } from '../ports/platform.ts'
import { senderOf } from './caller-address.ts'

interface Bucket {
  left: number
  at: number
}

/** Addresses that are remembered; the ones seen longest ago are forgotten first. */
const mostAddresses = 10_000

/**
 * Requests without a valid key, counted for each address in this process. The count holds for routes that need no key, for
 * paths that no route has and for refused keys. Throws TooMany.
 */
export const keylessAllowance = (clock: Clock) => {
  const buckets = new Map<string, Bucket>()
  return (address: string, perSecond: number | null): void => {
    if (perSecond === null) return
    const sender = senderOf(address)
    const now = clock.now()
    const bucket = buckets.get(sender) ?? { left: perSecond, at: now }
    bucket.left = Math.min(perSecond, bucket.left + (Math.max(0, now - bucket.at) / 1000) * perSecond)
    bucket.at = now
    buckets.delete(sender)
    buckets.set(sender, bucket)
    for (const oldest of buckets.keys()) {
      if (buckets.size <= mostAddresses) break
      buckets.delete(oldest)
    }
    if (bucket.left < 1)
      throw new TooMany('Too many requests', { retryAfter: Math.ceil(1000 / perSecond), limit: 'without_key' })
    bucket.left--
  }
}
