import { createKeyv } from '@keyv/redis'
import * as v from 'valibot'
import { plugin } from '../../../core/plugin.ts'
import { Cache } from '../../../core/ports/cache.ts'
import { Log } from '../../../core/ports/platform.ts'
import { timer } from '../../../core/settings.ts'
import { redisAddress } from '../../../plugins/storage/shared/redis-address.ts'
import { connectRedis } from './redis.ts'

/** Copies that all processes share. Without Redis the cache is empty, and no caller waits for Redis. */
export default plugin({
  port: Cache,
  name: 'redis',
  settings: v.strictObject({
    url: redisAddress,
    /** The prefix of every key. */
    prefix: v.optional(v.pipe(v.string(), v.regex(/^[\w:.-]+$/, 'letters, digits and : . - _')), 'sealgate'),
    /** In ms: after this time without an answer, Redis counts as down. */
    patience: v.optional(timer(), 40),
  }),
  needs: { log: Log },
  create: ({ log }, { url, prefix, patience }): Cache => {
    // Keyv alone would queue commands and reconnect, so it gets only open connections.
    const redis = connectRedis({ url, patience, prefix, use: 'cache', log }, (client) => {
      const copies = createKeyv(client as never, { namespace: `${prefix}:cache`, throwOnErrors: true })
      // The caller gets the error; an `error` event without a listener would end the process.
      copies.on('error', () => {})
      return copies
    })
    const nothing = () => undefined
    const remove = (key: string) => redis.ask((copies) => copies.delete(key)).then(nothing, nothing)

    return {
      get: <T>(key: string) => redis.ask((copies) => copies.get<T>(key)).catch(nothing),
      set: (key, value, ttl) =>
        // In Keyv, a time of 0 means forever.
        ttl >= 1 ? redis.ask((copies) => copies.set(key, value, Math.floor(ttl))).then(nothing, nothing) : remove(key),
      remove,
      dispose: redis.close,
    }
  },
})
