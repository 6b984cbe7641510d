import type { Port } from '../../../core/container.ts'
import { Prover } from '../../../core/ports/attester.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { Guard } from '../../../core/ports/guard.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Reader } from '../../../core/ports/reader.ts'
import { Surface } from '../../../core/ports/surface.ts'
import { Tool } from '../../../core/ports/tool.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import { didYouMean } from './did-you-mean.ts'
import type { Config } from './config.ts'
import type { Fault } from './faults.ts'
import { type Choice, type Family, chosenPlugin, pluginNames } from './load-plugin.ts'
import { chosenSurfaces } from './surfaces.ts'
import { chosenUpstream } from './upstreams.ts'

/** A plugin that the configuration names, and the place where it does. */
interface Named {
  readonly port: Port<unknown>
  readonly family: Family
  readonly path: readonly string[]
  readonly choice: Choice
}

const each = (
  port: Port<unknown>,
  family: Family,
  path: readonly string[],
  choices: Readonly<Record<string, object>> = {},
): readonly Named[] =>
  Object.entries(choices).map(([name, choice]) => ({
    port,
    family,
    path: [...path, name],
    choice: { use: name, ...choice },
  }))

/** The plugins that a configuration names, each with its place. */
export const namedPlugins = ({
  providers,
  enclave,
  storage,
  tools,
  readers,
  guards,
  surfaces,
}: Config): readonly Named[] => [
  ...each(Upstream, 'providers', ['providers'], providers),
  ...each(Upstream, 'providers', ['enclave', 'providers'], enclave.providers),
  ...each(BlobStore, 'storage', ['storage'], storage.blobs && { blobs: storage.blobs }),
  ...each(MetadataStore, 'storage', ['storage'], storage.metadata && { metadata: storage.metadata }),
  ...each(Prover, 'evidence', ['enclave'], enclave.evidence && { evidence: enclave.evidence }),
  ...each(Tool, 'tools', ['tools'], tools),
  ...each(Reader, 'readers', ['readers'], readers),
  ...each(Guard, 'guards', ['guards'], guards),
  ...each(Guard, 'guards', ['enclave', 'guards'], enclave.guards),
  ...[...chosenSurfaces({ surfaces })].map(([at, choice]) => ({
    port: Surface,
    family: 'surfaces' as const,
    path: ['surfaces', String(at)],
    choice,
  })),
]

/** Loading the plugin is the check: its module, its settings and its port can each be wrong. */
const faultOf = async ({ port, family, path, choice }: Named): Promise<readonly Fault[]> => {
  try {
    const name = path.at(-1)!
    if (port.key === Upstream.key) await chosenUpstream(path.join('.'), name, choice)
    else await chosenPlugin(port, family, path.join('.'), choice, name)
    return []
  } catch (error) {
    const all = pluginNames(family)
    const hint = choice.use.includes('/') || all.includes(choice.use) ? '' : didYouMean(choice.use, all)
    return [{ path, words: (error as Error).message + hint }]
  }
}

/** Models that name an unknown provider. */
const strangersIn = ({ models, providers, enclave }: Config): readonly Fault[] => {
  const known = [...Object.keys(providers), ...Object.keys(enclave.providers ?? {})]
  return Object.entries(models).flatMap(([model, { upstreams }]) =>
    upstreams.flatMap(({ provider }, at) => {
      if (known.includes(provider)) return []
      const path = ['models', model, 'upstreams', String(at), 'provider']
      return [{ path, words: `${path.join('.')} is not a provider${didYouMean(provider, known)}` }]
    }),
  )
}

/** The faults of plugins in a well-shaped configuration: missing plugins, bad settings, unknown providers. */
export const pluginFaults = async (config: Config): Promise<readonly Fault[]> => [
  ...(await Promise.all(namedPlugins(config).map(faultOf))).flat(),
  ...strangersIn(config),
]
