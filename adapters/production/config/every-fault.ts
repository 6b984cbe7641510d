import { createGateway } from '../../../core/gateway.ts'
import { use } from '../../../core/plugin.ts'
import blobStore from '../../memory/blob-store.ts'
import cache from '../../memory/cache.ts'
import metadataStore from '../../memory/metadata-store.ts'
import { clock, log, random } from '../../memory/platform.ts'
import rateLimiter from '../../memory/rate-limiter.ts'
import { withoutEnclave } from '../enclave/without-enclave.ts'
import { fetch } from '../platform.ts'
import { type Config, checkedConfig, settingsOf } from './config.ts'
import type { Fault } from './faults.ts'
import { allFaults, faultsOfStart } from './file-faults.ts'
import { guardsOf, toolsOf } from './named-plugins.ts'
import { sections } from '../../memory/sections.ts'
import { catalog } from '../../../plugins/shared/models/catalog.ts'
import { modelRules } from '../../../plugins/shared/rules/rules.ts'
import { meter } from '../../../plugins/usage/meter.ts'
import { surfacesOf } from './surfaces.ts'
import { chosenUpstream } from './upstreams.ts'

/** The parts of a gateway with stores in memory and without an enclave. */
export const partsInMemory = async (config: Config) => {
  const upstreams = Object.entries(config.providers).map(([name, choice]) =>
    chosenUpstream(['providers', name], name, choice),
  )
  return {
    ...{ clock: use(clock), random: use(random), log: use(log), cache: use(cache), rateLimiter: use(rateLimiter) },
    ...{ blobStore: use(blobStore), metadataStore: use(metadataStore), enclave: use(withoutEnclave) },
    ...{ catalog: use(catalog), meter: use(meter) },
    fetch: use(fetch, { outside: config.outside }),
    upstreams: await Promise.all(upstreams),
    tools: await toolsOf(config),
    guards: await guardsOf(config.guards, ['guards']),
    surfaces: await surfacesOf(config),
    sections,
    parts: [use(modelRules)],
  }
}

/** Makes such a gateway, and closes it. Throws what a start throws. */
const assemble = async (config: Config): Promise<void> =>
  createGateway(await partsInMemory(config), settingsOf(config)).close()

/** The fault by which a start would refuse parts that are each right. */
const assemblyFaults = async (config: Config): Promise<readonly Fault[]> => {
  try {
    await assemble(config)
    return []
  } catch (error) {
    return faultsOfStart(error)
  }
}

/** All faults that a start would find, and those that it would find later. */
export const everyFault = async (config: unknown, env: NodeJS.ProcessEnv): Promise<readonly Fault[]> => {
  const faults = await allFaults(config, env)
  return faults.length > 0 ? faults : assemblyFaults(checkedConfig(config, env))
}
