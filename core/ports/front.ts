import { functions, many } from '../container.ts'
import type { AnyRoute } from '../http/route.ts'
import type { Served } from './surface.ts'
import type { Settings } from '../settings.ts'

/** What a gateway says of itself: its first page, its health, and its documentation. */
export interface Front {
  /** Routes beside those of the surfaces, made once for the surfaces that are served. */
  routes(served: Served): readonly AnyRoute[]
  /** Routes that describe all others. */
  documented(routes: readonly AnyRoute[], served: Served, settings: Settings): readonly AnyRoute[]
  /** Beginnings of paths that no page of another origin ever reaches; none when absent. */
  readonly closed?: readonly string[]
  /** A sentence about a path that no route has. */
  lost(routes: readonly AnyRoute[], settings: Settings): (path: string) => string
}

/** A gateway without a front serves its surfaces alone. */
export const Front = many<Front>('Front', functions('routes', 'documented', 'lost'))
