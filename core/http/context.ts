import type { Caller } from '../access/caller.ts'
import type { Needs, Supplied } from '../container.ts'
import type { Generation } from '../generations/generation.ts'
import type { JsonBounds } from '../dialects/json-scan.ts'
import type { Credentials } from '../ports/credentials.ts'
import type { RequestRecord, Trace } from '../ports/observer.ts'
import type { Settings } from '../settings.ts'
import type { About } from './reply.ts'
import type { Pace } from './events.ts'
import type { callerLimits } from './limits.ts'
import { type AnyRoute, isKeyless } from './route.ts'

/** One generation, as the routes see it. */
export interface RouteGeneration {
  readonly generation: Generation
  readonly settings: Settings
  /** Kinds of credentials beside keys. */
  readonly credentials: readonly Credentials[]
  readonly pace: Pace
  readonly limits: ReturnType<typeof callerLimits>
  /** What the JSON of a body may have. */
  readonly jsonBounds: JsonBounds
  /** In the order of the routes. */
  readonly given: readonly {
    readonly supplied: Supplied<Needs>
    readonly most: number | undefined
    /** Bytes that the body may have; 0 where the route takes none. */
    readonly bodyBytes: number
  }[]
}

/** A request from its head to the end of its answer. */
export interface RequestContext {
  readonly routeGeneration: RouteGeneration
  readonly about: About
  readonly began: number
  /** Whether an observer watched requests when this one began. */
  readonly isWatched: boolean
  /** Of the answer, gathered until its head is written. */
  readonly headers: Record<string, string | number>
  route: AnyRoute | null
  /** How logs, metrics and spans name the route; `none` before it is known. */
  label: string
  /** The status of an answer that its route gives by itself; null for any other. */
  ownStatus: number | null
  caller: Caller | null
  /** Of the calls of models. */
  readonly record: RequestRecord
  /** Told when the response closes, before it is counted. */
  closed: ((whole: boolean) => void) | null
  /** Of a request that is listened to, once its caller is known. */
  trace: Trace | null
}

/** A fresh context: route, caller and trace are null until the request has got so far. */
export const contextOf = (
  routeGeneration: RouteGeneration,
  about: About,
  began: number,
  isWatched: boolean,
  headers: RequestContext['headers'],
): RequestContext => ({
  routeGeneration,
  about,
  began,
  isWatched,
  headers,
  route: null,
  label: 'none',
  ownStatus: null,
  caller: null,
  record: { id: about.id, model: null, backend: null, tokens: 0 },
  closed: null,
  trace: null,
})

/** What a route answers by itself may last for an hour, and keeps no generation so long. */
export const leaveRoute = (context: RequestContext, status: number): void => {
  context.ownStatus = status
  context.routeGeneration.generation.end()
}

/** Whether its requests are shown to listeners: probes and administration are not. */
export const isListened = ({ access, path }: AnyRoute): boolean =>
  !isKeyless(access) && !path.startsWith('/admin/') && path !== '/metrics'

/** How logs, metrics and spans name a route. */
export const labelOf = ({ method, path }: AnyRoute): string => `${method} ${path}`
