import rateLimiter from '../../adapters/memory/rate-limiter.ts'
import type { Fitting } from '../../core/container.ts'
import { plugin, use } from '../../core/plugin.ts'
import { Clock } from '../../core/ports/platform.ts'
import { RateLimiter } from '../../core/ports/rate-limiter.ts'

/** The limiter of this process, which tells what it has given out and not got back. */
export interface Watched {
  readonly fitting: Fitting<RateLimiter>
  /** Places that are held now. */
  held(): number
  /** Reservations of tokens or audio that nobody has settled. */
  open(): number
  /** How many of each were ever given. */
  given(): { readonly places: number; readonly reservations: number }
}

export const watchedLimiter = (): Watched => {
  const places = new Set<object>()
  const reservations = new Set<object>()
  const given = { places: 0, reservations: 0 }
  const watching = plugin({
    port: RateLimiter,
    name: 'watched',
    needs: { clock: Clock },
    create(supplied): RateLimiter {
      const inner = rateLimiter.create(supplied, {}, 'watched')
      return {
        async take(...asked) {
          const place = await inner.take(...asked)
          if (place === null) return null
          places.add(place)
          given.places++
          return {
            renew: () => place.renew(),
            async release() {
              await place.release()
              places.delete(place)
            },
          }
        },
        async spend(charges) {
          const spent = await inner.spend(charges)
          if (!spent.ok || !charges.some(({ allowance }) => allowance.concern === 'tokens')) return spent
          reservations.add(spent)
          given.reservations++
          return {
            ...spent,
            async settle(actual) {
              await spent.settle(actual)
              reservations.delete(spent)
            },
          }
        },
      }
    },
  })
  return {
    fitting: use(watching),
    held: () => places.size,
    open: () => reservations.size,
    given: () => ({ ...given }),
  }
}
