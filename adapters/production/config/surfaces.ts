import * as v from 'valibot'
import type { Fitting } from '../../../core/container.ts'
import { Surface } from '../../../core/ports/surface.ts'
import { type Choice, chosenPlugin, pluginNames } from './load-plugin.ts'

/** Surfaces that stand alone: none of them brings another one along. */
const chapters: readonly string[] = ['decision', 'chat', 'rvenc', 'tools', 'files', 'index', 'admin']
const doors = pluginNames('surfaces').filter((name) => !chapters.includes(name))

/** Names of the surfaces of this package, in the order of the reference. */
export const surfaceNames: readonly string[] = [...chapters, ...doors]

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
export const nameOfSurface = (surface: string | Choice): string => (typeof surface === 'string' ? surface : surface.use)

/** The entries of the setting, by their places. */
export const chosenSurfaces = ({ surfaces = [] }: Asking): ReadonlyMap<number, Choice> =>
  new Map(surfaces.map((surface, at) => [at, typeof surface === 'string' ? { use: surface } : surface]))

/**
 * The surfaces of this package, and those that the configuration names by a path or a package. The gateway makes all that
 * may come along and serves those that are asked for.
 */
export const surfacesOf = async (asking: Asking): Promise<readonly Fitting<Surface>[]> => {
  const chosen = chosenSurfaces(asking)
  const named = [...chosen.values()].map(({ use }) => use)
  const isAlone = named.every((name) => chapters.includes(name))
  const wanted = asking.surfaces === undefined ? surfaceNames : isAlone ? [] : doors
  const others = wanted.filter((name) => !named.includes(name))
  return Promise.all([
    ...others.map((use) => chosenPlugin(Surface, 'surfaces', ['surfaces'], { use })),
    ...[...chosen].map(([at, choice]) => chosenPlugin(Surface, 'surfaces', ['surfaces', String(at)], choice)),
  ])
}
