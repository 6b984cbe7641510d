import type { Fitting } from '../../../core/container.ts'
import { Surface } from '../../../core/ports/surface.ts'
import { chapterNames } from '../../../core/settings.ts'
import type { Config } from './config.ts'
import { type Choice, chosenPlugin, pluginNames } from './load-plugin.ts'

type Asked = NonNullable<Config['surfaces']>[number]

/** The name by which the gateway serves an entry of the setting. */
export const nameOfSurface = (asked: Asked): string => (typeof asked === 'string' ? asked : asked.use)

const isChapter = (name: string): boolean => (chapterNames as readonly string[]).includes(name)

/** The entries of the setting that are plugins, by their places. */
export const chosenSurfaces = ({ surfaces = [] }: Pick<Config, 'surfaces'>): ReadonlyMap<number, Choice> =>
  new Map(
    surfaces.flatMap((asked, at) =>
      isChapter(nameOfSurface(asked)) ? [] : [[at, typeof asked === 'string' ? { use: asked } : asked]],
    ),
  )

/**
 * The surfaces of this package, and those that the configuration names by a path or a package. The gateway makes all of
 * them and serves those that are asked for; where chapters alone are asked for, none is loaded.
 */
export const surfacesOf = async (config: Pick<Config, 'surfaces'>): Promise<readonly Fitting<Surface>[]> => {
  const chosen = chosenSurfaces(config)
  if (config.surfaces !== undefined && chosen.size === 0) return []
  const named = [...chosen.values()].map(({ use }) => use)
  const others = (await pluginNames('surfaces')).filter((name) => !named.includes(name))
  return Promise.all([
    ...others.map((use) => chosenPlugin(Surface, 'surfaces', 'surfaces', { use })),
    ...[...chosen].map(([at, choice]) => chosenPlugin(Surface, 'surfaces', `surfaces.${at}`, choice)),
  ])
}
