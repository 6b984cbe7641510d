import { namedPath } from '../http/named-path.ts'
import type { AnyRoute } from '../http/route.ts'
import type { Settings } from '../settings.ts'

/** The routes of a chapter or of a surface. */
export interface Door {
  readonly name: string
  readonly routes: readonly AnyRoute[]
}

interface Owned {
  readonly name: string
  readonly route: AnyRoute
}

/** An operator may give `names.std` the name of `v1`; the standard routes then serve what both have. */
const isWanted = (before: Owned, { path }: AnyRoute): boolean =>
  before.name === 'v1' && before.route.path.startsWith('/v1/') && path.startsWith('/std/')

const openings = new Set<unknown>(['any-key', 'anyone', 'unasked'])

const saysWhoMayCall = ({ access }: AnyRoute): boolean =>
  openings.has(access) || (typeof access === 'object' && access !== null && typeof access.scope === 'string')

/** Throws for a route of a surface in JavaScript that says not who may call it: no check would stand before it. */
export const refuseOpenRoutes = (doors: readonly Door[]): void => {
  for (const { name, routes } of doors)
    for (const route of routes)
      if (!saysWhoMayCall(route)) throw new Error(`surfaces: ${name} has no access for ${route.method} ${route.path}`)
}

/** Throws where two doors have one path, and names both. */
export const refuseClashes = (doors: readonly Door[], settings: Settings): void => {
  const seen = new Map<string, Owned>()
  for (const { name, routes } of doors)
    for (const route of routes) {
      const path = `${route.method} ${namedPath(route.path, settings)}`
      const pattern = path.replace(/\{\w+\}/g, '{}')
      const before = seen.get(pattern)
      if (before !== undefined && !isWanted(before, route))
        throw new Error(`surfaces: ${before.name} and ${name} both have ${path}`)
      seen.set(pattern, { name, route })
    }
}
