import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Adapters } from '../../core/gateway.ts'
import type { Renewable } from '../../core/generations/generation.ts'
import { differing, lasting } from '../../core/fixed-settings.ts'
import { use } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'
import { MetadataStore } from '../../core/ports/metadata-store.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import memoryCache from '../memory/cache.ts'
import { clock, random } from '../memory/platform.ts'
import memoryLimiter from '../memory/rate-limiter.ts'
import { type Lent, confidential, sameInside } from './enclave/connect-enclave.ts'
import { type Config, checkedConfig, settingsOf } from './config/config.ts'
import { type Choice, chosen } from './config/load-plugin.ts'
import { dataFolder, readConfig } from './config/read-config.ts'
import { fetch, log } from './platform.ts'
import { toolsOf } from './config/tools.ts'

/**
 * From a configuration to a complete set of adapters. Everything that can be wrong is wrong here, before the port opens.
 * A confidential process is started where the configuration names none, unless one is lent.
 */
export const production = async (config: Config, data: string, lent: Lent | null = null): Promise<Adapters> => {
  const { storage, providers } = config
  return {
    clock: use(clock),
    random: use(random),
    fetch: use(fetch, { outside: config.outside }),
    log: use(log, config.log),
    ...(await counting(config)),
    enclave: await confidential(config, lent),
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
    upstreams: await Promise.all(Object.entries(providers).map(([name, choice]) => provider(name, choice))),
    tools: await toolsOf(config),
  }
}

/** Counts of this process alone, or shared over Redis, whose client is loaded for that. */
const counting = async ({ limits }: Config): Promise<Pick<Adapters, 'cache' | 'rateLimiter'>> => {
  const { redis: url, patience, whenDown } = limits
  if (url === undefined) return { cache: use(memoryCache), rateLimiter: use(memoryLimiter) }
  const [cache, limiter] = await Promise.all([import('./redis/cache.ts'), import('./redis/rate-limiter.ts')])
  return { cache: use(cache.default, { url }), rateLimiter: use(limiter.default, { url, patience, whenDown }) }
}

/** Where a configuration's variables and stores are. */
export interface ConfigPlace {
  /** The environment of this process when absent. */
  readonly env?: NodeJS.ProcessEnv
  /** The folder of the embedded stores; `SEALGATE_DATA` or `./data` when absent. */
  readonly data?: string
}

/**
 * What `createGateway` takes, from a configuration or the file of one: adapters and settings, with every default filled in.
 * Throws with the path of what is wrong.
 */
export const fromConfig = async (
  source: string | object,
  { env = process.env, data }: ConfigPlace = {},
): Promise<Adapters> => {
  const said = typeof source === 'string' ? (await readConfig(source)).value : source
  const config = checkedConfig(said, env)
  const folder = dataFolder(data === undefined ? env : { SEALGATE_DATA: data })
  return { ...(await production(config, folder)), settings: settingsOf(config) }
}

/** What a gateway that runs was made from. */
export interface Stand {
  readonly config: Config
  readonly lent: Lent | null
  readonly parts: Renewable
}

/** The parts of another configuration that a running gateway can take; unchanged parts stay the same objects. */
export const renewed = async (
  config: Config,
  lent: Lent | null,
  { config: before, lent: had, parts: stood }: Stand,
): Promise<Renewable> => {
  const fixed = differing(unchanging, before, config)
  if (fixed !== null) throw new Error(`${fixed} can't be changed while the gateway runs`)
  const kept = ([name, choice]: [string, Choice]) =>
    isDeepStrictEqual(choice, before.providers[name]) ? stood.upstreams.find((it) => it.name === name) : undefined
  const same = config.enclave.connect !== undefined || (lent?.socket === had?.socket && sameInside(config, before))
  return {
    enclave: same ? stood.enclave : await confidential(config, lent),
    upstreams: await Promise.all(Object.entries(config.providers).map((named) => kept(named) ?? provider(...named))),
    tools: await toolsOf(config),
  }
}

const unchanging = [
  ...lasting,
  'server',
  'log',
  'outside',
  'storage',
  'limits.redis',
  'limits.patience',
  'limits.whenDown',
  'enclave.connect',
  'enclave.listen',
  'enclave.tls',
  'enclave.collateral',
  'enclave.releases',
  'enclave.notices',
]

const provider = (name: string, choice: Choice) => chosen(Upstream, 'providers', `providers.${name}`, choice, name)
