import type { Fitting, Port } from '../container.ts'
import type { Front } from '../ports/front.ts'
import type { Surface } from '../ports/surface.ts'
import type { Settings } from '../settings.ts'
import { type Door, refuseClashes, refuseOpenRoutes } from './doors.ts'
import { errorEnvelope } from './reply.ts'
import { namedPath, type AnyRoute, type Render } from './route.ts'
import { servedOf } from './served.ts'
import type { Served } from '../ports/surface.ts'

/** The routes that a gateway serves. */
export interface Interface {
  /** The names of the surfaces. */
  readonly names: readonly string[]
  readonly routes: readonly AnyRoute[]
  readonly lost: Lost
  /** Whether no page of another origin reaches the path. */
  isClosed(path: string): boolean
}

/** What is said of a path that no route has. */
export interface Lost {
  sentence(path: string): string
  /** The form of an error there: that of the surface under which the path would be, else the envelope. */
  form(path: string): Render
}

/** What an interface is made of. */
interface InterfaceParts {
  readonly fronts: readonly Front[]
  readonly surfaces: readonly Surface[]
  /** In the order of the surfaces: a fitting has the name of the configuration, a path where it names a file. */
  readonly fittings: readonly Fitting<Surface>[]
  /** Whether a plugin fits a port of one. */
  readonly isFitted: (port: Port<unknown>) => boolean
}

/** The last route of a path serves it. */
export const doorsOf = (served: Served, fronts: readonly Front[]): readonly Door[] => [
  { name: 'front', routes: fronts.flatMap((front) => front.routes(served)) },
  ...served.names.map((name) => ({ name, routes: served.surfaces.get(name)?.routes ?? [] })),
]

const formsOf = ({ names, surfaces }: Served, settings: Settings): Lost['form'] => {
  const forms = names
    .flatMap((name) => Object.entries(surfaces.get(name)?.lost ?? {}))
    .map(([under, form]) => [namedPath(under, settings), form] as const)
    .sort(([a], [b]) => b.length - a.length)
  return (path) => forms.find(([under]) => path.startsWith(under))?.[1] ?? errorEnvelope
}

const closing = (parts: readonly Pick<Surface, 'closed'>[]): Interface['isClosed'] => {
  const beginnings = parts.flatMap(({ closed = [] }) => closed)
  return (path) => beginnings.some((beginning) => path === beginning || path.startsWith(`${beginning}/`))
}

/**
 * The routes of the surfaces that are asked for. A route is left out where no plugin fits a port of its needs. Throws when
 * two routes have one path, or a route has no access.
 */
export const interfaceOf = (
  { fronts, surfaces, fittings, isFitted }: InterfaceParts,
  settings: Settings,
): Interface => {
  const served = servedOf(
    settings.surfaces,
    surfaces.map((surface, at) => ({ label: fittings[at]?.name ?? surface.name, surface })),
  )
  const isSupplied = ({ needs }: AnyRoute) => Object.values(needs).every((port) => port.many || isFitted(port))
  const doors = doorsOf(served, fronts).map(({ name, routes }) => ({ name, routes: routes.filter(isSupplied) }))
  const routes = doors.flatMap((door) => door.routes)
  const documented = fronts.flatMap((front) => front.documented(routes, served, settings))
  refuseOpenRoutes(doors)
  refuseClashes([...doors, { name: 'docs', routes: documented }], settings)
  const [sentence = () => 'Not found'] = fronts.map((front) => front.lost(routes, settings))
  return {
    names: served.names,
    routes: [...routes, ...documented],
    lost: { sentence, form: formsOf(served, settings) },
    isClosed: closing([...fronts, ...surfaces]),
  }
}
