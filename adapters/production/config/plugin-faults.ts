import { isDeepStrictEqual } from 'node:util'
import type { Port } from '../../../core/container.ts'
import { lazy } from '../../../core/plugin.ts'
import { Prover } from '../../../core/ports/attester.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { Guard } from '../../../core/ports/guard.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Reader } from '../../../core/ports/reader.ts'
import { Surface } from '../../../core/ports/surface.ts'
import { Tool } from '../../../core/ports/tool.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import type { Config } from './config.ts'
import { type Fault, FaultyConfiguration } from './faults.ts'
import { type Choice, type Family, chosenPlugin } from './load-plugin.ts'
import { chosenSurfaces } from './surfaces.ts'
import { chosenUpstream } from './upstreams.ts'

/** Loaded with the first plugin of an operator's own. */
const drying = lazy(() => import('./dry-make.ts'))

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

/**
 * Loading the plugin is the check: its module, its settings and its port can each be wrong. A part of an operator's own is
 * made, too, unless the running gateway has it already.
 */
const faultsIn = async (
  { port, family, path, choice }: Named,
  running: readonly Named[],
): Promise<readonly Fault[]> => {
  try {
    const name = path.at(-1)!
    const fitting =
      port.key === Upstream.key
        ? await chosenUpstream(path, name, choice)
        : await chosenPlugin(port, family, path, choice, name)
    const isRunning = running.some((other) => isDeepStrictEqual([other.path, other.choice], [path, choice]))
    if (choice.use.includes('/') && !isRunning) await (await drying()).makeDry(fitting)
    return []
  } catch (error) {
    if (error instanceof FaultyConfiguration) return error.faults
    throw error
  }
}

/** The faults of the plugins in a well-shaped configuration. `running` is that of the gateway before a reload. */
export const pluginFaults = async (config: Config, running: Config | null): Promise<readonly Fault[]> => {
  const made = running === null ? [] : namedPlugins(running)
  return (await Promise.all(namedPlugins(config).map((named) => faultsIn(named, made)))).flat()
}
