import type { Fitting } from '../../../core/container.ts'
import { Tool } from '../../../core/ports/tool.ts'
import type { Config } from './config.ts'
import { chosenPlugin, pluginNames } from './load-plugin.ts'

/** The tools that the configuration names, or all tools. The gateway lists them, and the enclave runs them. */
export const toolsOf = async ({ tools }: Config): Promise<readonly Fitting<Tool>[]> => {
  const named = tools ?? Object.fromEntries(pluginNames('tools').map((name) => [name, {}]))
  return Promise.all(
    Object.entries(named).map(([name, settings]) =>
      chosenPlugin(Tool, 'tools', ['tools', name], { ...settings, use: name }),
    ),
  )
}
