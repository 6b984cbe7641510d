import { fetch } from '../platform.ts'
import type { Config } from './config.ts'
import { type Shape, bareShape } from './config-shape.ts'
import { loadPlugin } from './load-plugin.ts'
import { namedPlugins } from './plugin-faults.ts'
import type { PluginShapes } from './shown-settings.ts'

const keyOf = (path: readonly string[]): string => JSON.stringify(path)

/**
 * The shapes of the settings of this package's own plugins, by their places. A plugin of the operator's own is not loaded,
 * and its settings have no shape here.
 */
export const pluginShapesOf = async (config: Config): Promise<PluginShapes> => {
  const shapes = new Map<string, Shape>()
  for (const { family, path, choice } of namedPlugins(config)) {
    if (choice.use.includes('/')) continue
    const found = await loadPlugin(family, choice.use).catch(() => null)
    if (found?.settings !== undefined) shapes.set(keyOf(path), found.settings as Shape)
  }
  const door = fetch.settings as unknown as Shape
  const outside = door.entries?.['outside']
  if (outside !== undefined) shapes.set(keyOf(['outside']), bareShape(outside))
  return (path) => shapes.get(keyOf(path)) ?? null
}
