import type { Fitting, Port } from '../../../core/container.ts'
import { Guard } from '../../../core/ports/guard.ts'
import { Reader } from '../../../core/ports/reader.ts'
import { Tool } from '../../../core/ports/tool.ts'
import type { Config } from './config.ts'
import { type Family, type Path, chosenPlugin, pluginNames } from './load-plugin.ts'

/** Names of plugins with their settings, in the order of the configuration. */
export type NamedPlugins = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const each = <T>(
  port: Port<T>,
  family: Family,
  path: Path,
  named: NamedPlugins = Object.fromEntries(pluginNames(family).map((name) => [name, {}])),
): Promise<readonly Fitting<T>[]> =>
  Promise.all(
    Object.entries(named).map(([name, settings]) =>
      chosenPlugin(port, family, [...path, name], { ...settings, use: name }),
    ),
  )

/** The tools that the configuration names, or all tools. The gateway lists them, and the enclave runs them. */
export const toolsOf = ({ tools }: Pick<Config, 'tools'>) => each(Tool, 'tools', ['tools'], tools)

/** The readers that the configuration names, in its order, or all readers. Readers run inside the enclave. */
export const readersOf = ({ readers }: Pick<Config, 'readers'>) => each(Reader, 'readers', ['readers'], readers)

/** In the order in which guards see a request; none when the configuration names none. */
export const guardsOf = (guards: NamedPlugins = {}, path: Path) => each(Guard, 'guards', path, guards)
