import { namedPath, type AnyRoute } from './route.ts'
import type { Settings } from '../settings.ts'

/** The routes of a surface, or of the front. */
export interface Door {
  readonly name: string
  readonly routes: readonly AnyRoute[]
}

interface Owned {
  readonly name: string
  readonly route: AnyRoute
  /** The path under its configured name. */
  readonly path: string
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

const isOpen = (segment: string): boolean => segment.includes('{')

const endsOf = (segment: string) => ({
  head: segment.slice(0, segment.indexOf('{')),
  tail: segment.slice(segment.lastIndexOf('}') + 1),
})

const takes = (segment: string, text: string): boolean => {
  const { head, tail } = endsOf(segment)
  return text.startsWith(head) && text.endsWith(tail) && text.length > head.length + tail.length
}

const segmentsMeet = (one: string, other: string): boolean => {
  if (!isOpen(one)) return isOpen(other) ? takes(other, one) : one === other
  if (!isOpen(other)) return takes(one, other)
  const [ends, others] = [endsOf(one), endsOf(other)]
  const sameHead = ends.head.startsWith(others.head) || others.head.startsWith(ends.head)
  return sameHead && (ends.tail.endsWith(others.tail) || others.tail.endsWith(ends.tail))
}

/** Whether some path of a request fits both. */
const pathsMeet = (one: string, other: string): boolean => {
  const [segments, others] = [one.split('/'), other.split('/')]
  return segments.length === others.length && segments.every((segment, at) => segmentsMeet(segment, others[at] ?? ''))
}

/** Throws where a request could reach two doors, and names both. */
export const refuseClashes = (doors: readonly Door[], settings: Settings): void => {
  const seen: Owned[] = []
  for (const { name, routes } of doors) {
    const own = routes.map((route): Owned => ({ name, route, path: namedPath(route.path, settings) }))
    for (const { route, path } of own) {
      const before = seen.find(
        (owned) => owned.route.method === route.method && pathsMeet(owned.path, path) && !isWanted(owned, route),
      )
      if (before !== undefined)
        throw new Error(`surfaces: ${before.name} and ${name} both have ${route.method} ${path}`)
    }
    seen.push(...own)
  }
}
