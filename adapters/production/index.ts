import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Adapters } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'
import { MetadataStore } from '../../core/ports/metadata-store.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import memoryCache from '../memory/cache.ts'
import { clock, random } from '../memory/host.ts'
import memoryLimiter from '../memory/rate-limiter.ts'
import redisCache from './cache.ts'
import type { Config } from './config.ts'
import { chosen } from './discover.ts'
import { connected, started } from './enclave.ts'
import { fetch, log } from './host.ts'
import redisLimiter from './rate-limiter.ts'
import { toolsOf } from './tools.ts'

/** From a configuration to a complete set of adapters. Everything that can be wrong is wrong here, before the port opens. */
export const production = async (config: Config, data: string): Promise<Adapters> => {
  const { storage, limits, providers } = config
  const { redis, whenDown } = limits
  return {
    clock: use(clock),
    random: use(random),
    fetch: use(fetch, { outside: config.outside }),
    log: use(log, config.log),
    cache: redis === undefined ? use(memoryCache) : use(redisCache, { url: redis }),
    rateLimiter: redis === undefined ? use(memoryLimiter) : use(redisLimiter, { url: redis, whenDown }),
    enclave: await confidential(config),
    blobStore: await chosen(
      BlobStore,
      'storage',
      'storage.blobs',
      storage.blobs ?? { use: 'fs', folder: join(data, 'blobs') },
    ),
    metadataStore: await chosen(
      MetadataStore,
      'storage',
      'storage.metadata',
      storage.metadata ?? { use: 'sqlite', file: join(data, 'sealgate.db') },
    ),
    upstreams: await Promise.all(
      Object.entries(providers).map(([name, choice]) =>
        chosen(Upstream, 'providers', `providers.${name}`, choice, name),
      ),
    ),
    tools: await toolsOf(config),
  }
}

/** The line to the confidential processes that are named, or to one that is started with what it needs of the configuration. */
const confidential = async (config: Config) => {
  const { connect, tls } = config.enclave
  if (connect === undefined) {
    const { providers, models, timeouts, routing, outside, env, enclave, tools, bodies } = config
    return use(started, {
      config: { providers, models, timeouts, routing, outside, env, enclave, bodies, ...(tools && { tools }) },
    })
  }
  if (tls === undefined) return use(connected, { connect })
  const [ca, cert, key] = await Promise.all([tls.ca, tls.cert, tls.key].map((file) => readFile(file)))
  return use(connected, { connect, tls: { ca: ca!, cert: cert!, key: key! } })
}
