import type { Logins } from '../access/logins.ts'
import type { Needs, Supplied } from '../container.ts'
import type { Generation } from '../generations/generation.ts'
import type { Settings } from '../settings.ts'
import type { About } from './envelope.ts'
import type { Pace } from './events.ts'
import type { countRequests, holdPlaces } from './limits.ts'
import type { AnyRoute } from './route.ts'

/** One generation, as the routes see it. */
export interface RouteGeneration {
  readonly generation: Generation
  readonly settings: Settings
  readonly logins: Logins
  readonly pace: Pace
  readonly count: ReturnType<typeof countRequests>
  readonly crowd: ReturnType<typeof holdPlaces>
  /** In the order of the routes. */
  readonly given: readonly { readonly supplied: Supplied<Needs>; readonly most: number | undefined }[]
}

/** A request from its head to the end of its answer. */
export interface RequestContext {
  readonly routeGeneration: RouteGeneration
  readonly about: About
  readonly began: number
  /** Of the answer, gathered until its head is written. */
  readonly headers: Record<string, string | number>
  route: AnyRoute | null
  key: string | null
}

/** How logs, metrics and spans name a route. */
export const labelOf = ({ method, path }: AnyRoute): string => `${method} ${path}`
