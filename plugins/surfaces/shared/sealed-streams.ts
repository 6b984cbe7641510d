import type { Caller } from '../../../core/access/caller.ts'
import { one } from '../../../core/container.ts'
import { TooMany } from '../../../core/errors.ts'
import { plugin } from '../../../core/plugin.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import { RateLimiter } from '../../../core/ports/rate-limiter.ts'
import { renewedPlaces } from '../../../core/http/concurrency.ts'

/** The sealed chat streams that a key may have open. */
export interface Streams {
  /** Gives the function that ends the stream's hold. Rejects when `most` are open. */
  take(caller: Caller, most: number): Promise<() => Promise<void>>
}

/** The port of the places for sealed streams. */
export const Streams = one<Streams>('Streams')

/** Places are held in the limiter, so a limiter that processes share bounds their streams together. */
export const streams = plugin({
  port: Streams,
  name: 'streams',
  needs: { limiter: RateLimiter, clock: Clock, random: Random },
  create: ({ limiter, clock, random }): Streams => {
    const take = renewedPlaces(limiter, clock, random)
    return {
      async take(caller, most) {
        try {
          const place = await take(`stream/key/${caller.key}`, most)
          return async () => place.release()
        } catch (error) {
          if (!(error instanceof TooMany)) throw error
          throw new TooMany('An active chat stream already exists', {
            retryAfter: error.retryAfter,
            apart: true,
            limit: 'streams',
          })
        }
      },
    }
  },
})
