import * as v from 'valibot'
import type { Fitting } from '../../../core/container.ts'
import { Surface } from '../../../core/ports/surface.ts'
import { chapterNames } from '../../../core/settings.ts'
import { type Choice, chosenPlugin, pluginNames } from './load-plugin.ts'

const shipped = pluginNames('surfaces')

/** Names of the interface's chapters, and of the surfaces of this package. */
export const surfaceNames: readonly string[] = [...chapterNames, ...shipped]

const expected = `(${surfaceNames.map((name) => JSON.stringify(name)).join(' | ')}), or a path or a package with a slash`

/** A known name, or the path or the package of an own surface. */
export const SurfaceName = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    if (dataset.typed && !dataset.value.includes('/') && !surfaceNames.includes(dataset.value))
      addIssue({ expected, message: 'No such surface' })
  }),
)

interface Asking {
  /** Names, and plugins with settings of their own; everything when undefined. */
  readonly surfaces?: readonly (string | Choice)[] | undefined
}

/** The name by which the gateway serves an entry of the setting. */
export const nameOfSurface = (asked: string | Choice): string => (typeof asked === 'string' ? asked : asked.use)

const isChapter = (name: string): boolean => (chapterNames as readonly string[]).includes(name)

/** The entries of the setting that are plugins, by their places. */
export const chosenSurfaces = ({ surfaces = [] }: Asking): ReadonlyMap<number, Choice> =>
  new Map(
    surfaces.flatMap((asked, at) =>
      isChapter(nameOfSurface(asked)) ? [] : [[at, typeof asked === 'string' ? { use: asked } : asked]],
    ),
  )

/**
 * The surfaces of this package, and those that the configuration names by a path or a package. The gateway makes all of
 * them and serves those that are asked for; where chapters alone are asked for, none is loaded.
 */
export const surfacesOf = async (asking: Asking): Promise<readonly Fitting<Surface>[]> => {
  const chosen = chosenSurfaces(asking)
  if (asking.surfaces !== undefined && chosen.size === 0) return []
  const named = [...chosen.values()].map(({ use }) => use)
  const others = shipped.filter((name) => !named.includes(name))
  return Promise.all([
    ...others.map((use) => chosenPlugin(Surface, 'surfaces', 'surfaces', { use })),
    ...[...chosen].map(([at, choice]) => chosenPlugin(Surface, 'surfaces', `surfaces.${at}`, choice)),
  ])
}
