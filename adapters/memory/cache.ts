import Keyv from 'keyv'
import { plugin } from '../../core/plugin.ts'
import { Cache } from '../../core/ports/cache.ts'
import { Clock } from '../../core/ports/platform.ts'

/** How long a copy is good: until a time of the clock, and no longer than its `ttl` before that time. */
interface Term {
  readonly until: number
  readonly ttl: number
}

/** A clock that was set back keeps no copy alive. */
const isOver = ({ until, ttl }: Term, now: number): boolean => until <= now || until - now > ttl

/** Copies in this process. The oldest copies are dropped first. */
export default plugin({
  port: Cache,
  name: 'memory',
  needs: { clock: Clock },
  create: ({ clock }): Cache => {
    // Entries. Beyond this number, expired copies go first and then the oldest, down to nine tenths.
    const most = 10_000
    const copies = new Keyv()
    // Keyv forgets an entry only when it is read, so the times are kept here, oldest copy first.
    const over = new Map<string, Term>()

    const forget = async (key: string) => {
      over.delete(key)
      await copies.delete(key)
    }

    return {
      async get<T>(key: string) {
        const term = over.get(key)
        if (term === undefined) return undefined
        if (!isOver(term, clock.now())) return copies.get<T>(key)
        await forget(key)
        return undefined
      },
      async set(key, value, ttl) {
        if (!(ttl > 0)) return forget(key)
        over.delete(key)
        over.set(key, { until: clock.now() + ttl, ttl })
        await copies.set(key, value)
        // The copy was removed while it was being stored.
        if (!over.has(key)) await copies.delete(key)
        if (over.size <= most) return
        for (const [old, term] of over) if (isOver(term, clock.now())) await forget(old)
        for (const old of over.keys()) {
          if (over.size <= most * 0.9) break
          await forget(old)
        }
      },
      remove: forget,
    }
  },
})
