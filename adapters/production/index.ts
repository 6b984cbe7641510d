import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Fitting } from '../../core/container.ts'
import type { Adapters, WholeAdapters } from '../../core/gateway.ts'
import type { Renewable } from '../../core/generations/generation.ts'
import { fixedSetting } from '../../core/generations/reload.ts'
import { use } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'
import { MetadataStore } from '../../core/ports/metadata-store.ts'
import { catalog } from '../../plugins/shared/models/catalog.ts'
import { meter } from '../../plugins/usage/meter.ts'
import { drill } from '../drill/drill.ts'
import memoryCache from '../memory/cache.ts'
import { clock, random } from '../memory/platform.ts'
import { parts } from '../memory/parts.ts'
import { sections } from '../memory/sections.ts'
import memoryLimiter from '../memory/rate-limiter.ts'
import { type LentEnclave, connectEnclave, isSameEnclave } from './enclave/connect-enclave.ts'
import { type Config, settingsOf } from './config/config.ts'
import { type Choice, chosenPlugin } from './config/load-plugin.ts'
import { configurationIn, dataFolder } from './config/read-config.ts'
import { parsing } from './network/parse-in-pieces.ts'
import { fetch, log } from './platform.ts'
import usageJournal from './usage-journal.ts'
import { guardsOf, toolsOf } from './config/named-plugins.ts'
import { surfacesOf } from './config/surfaces.ts'
import { chosenUpstream } from './config/upstreams.ts'

export type { ShippedSettings } from '../memory/sections.ts'

/**
 * From a configuration to a complete set of adapters. Everything that can be wrong is wrong here, before the port opens.
 * A confidential process is started where the configuration names none, unless one is lent.
 */
export const production = async (
  config: Config,
  data: string,
  lent: LentEnclave | null = null,
): Promise<WholeAdapters> => {
  const { storage, providers } = config
  return {
    clock: use(clock),
    random: use(random),
    fetch: use(fetch, { outside: config.outside }),
    log: use(log, config.log),
    ...(await counting(config)),
    catalog: use(catalog),
    meter: use(meter),
    enclave: await connectEnclave(config, lent),
    blobStore: await chosenPlugin(
      BlobStore,
      'storage',
      ['storage', 'blobs'],
      storage.blobs ?? { use: 'fs', folder: join(data, 'blobs') },
    ),
    metadataStore: await rowsOf(config, data, lent !== null),
    upstreams: await Promise.all(Object.entries(providers).map(([name, choice]) => provider(name, choice))),
    tools: await toolsOf(config),
    guards: await guardsOf(config.guards, ['guards']),
    surfaces: await surfacesOf(config),
    sections,
    parts: [...parts, use(usageJournal, { folder: join(data, 'usage') }), use(drill), use(parsing)],
  }
}

/**
 * Rows in the configured store, or in a file of the data folder. Where the file's library was left out, and no file is there,
 * one process keeps its rows in memory, and says so.
 */
const rowsOf = async ({ storage }: Config, data: string, shared: boolean): Promise<Fitting<MetadataStore>> => {
  const file = join(data, 'sealgate.db')
  if (storage.metadata === undefined && !shared && !existsSync(file) && isLeftOut('libsql')) {
    process.stderr.write(
      'sealgate: keys and records are in memory and end with this process: libsql has no binary here; ' +
        'install without --omit=optional, or name storage.metadata\n',
    )
    return use((await import('../memory/metadata-store.ts')).default)
  }
  return chosenPlugin(MetadataStore, 'storage', ['storage', 'metadata'], storage.metadata ?? { use: 'sqlite', file })
}

/** Asked by `require`: Node 20 ends a process in which the import of such a package fails. */
const isLeftOut = (name: string): boolean => {
  try {
    createRequire(import.meta.url)(name)
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return true
    throw error
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
 * Throws with the place of each fault.
 */
export const fromConfig = async (
  source: string | object,
  { env = process.env, data }: ConfigPlace = {},
): Promise<WholeAdapters> => {
  const config = await configurationIn(source, env)
  const folder = dataFolder(data === undefined ? env : { SEALGATE_DATA: data })
  return { ...(await production(config, folder)), settings: settingsOf(config) }
}

/** What a gateway that runs was made from. */
export interface RunningStand {
  readonly config: Config
  readonly lent: LentEnclave | null
  readonly parts: Renewable
}

/** The parts of another configuration that a running gateway can take; unchanged parts stay the same objects. */
export const renewed = async (
  config: Config,
  lent: LentEnclave | null,
  { config: before, lent: had, parts: stood }: RunningStand,
): Promise<Renewable> => {
  const [{ firstDifference }, { fixedPaths }] = await Promise.all([
    import('../../core/generations/fixed-settings.ts'),
    import('./config/fixed-paths.ts'),
  ])
  const fixed = firstDifference(fixedPaths, before, config)
  if (fixed !== null) throw fixedSetting(fixed)
  if (config.sealing !== before.sealing) throw fixedSetting('enclave')
  const kept = ([name, choice]: [string, Choice]) =>
    isDeepStrictEqual(choice, before.providers[name])
      ? stood.upstreams.find((fitting) => fitting.name === name)
      : undefined
  const same =
    !config.sealing ||
    config.enclave.connect !== undefined ||
    (lent?.socket === had?.socket && isSameEnclave(config, before))
  return {
    enclave: same ? stood.enclave : await connectEnclave(config, lent),
    upstreams: await Promise.all(Object.entries(config.providers).map((named) => kept(named) ?? provider(...named))),
    tools: await toolsOf(config),
    guards: await guardsOf(config.guards, ['guards']),
  }
}

/** One place for providers at the start and later, so that both meet the same demands for evidence. */
const provider = (name: string, choice: Choice) => chosenUpstream(['providers', name], name, choice)
