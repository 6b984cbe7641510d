import { surfaces } from '../adapters/memory/surfaces.ts'
import { Surface } from '../core/ports/surface.ts'
import type { AnyRoute } from '../core/http/route.ts'
import { allRoutes } from '../core/routes/all.ts'
import { type Served, servedOf } from '../core/routes/served.ts'
import { fitted } from './fitted.ts'

const given = fitted(...surfaces)
  .supply({ surfaces: Surface })
  .surfaces.map((surface) => ({ label: surface.name, surface }))

/** The chapters and the surfaces of this package; all where none is named. */
export const served = (names?: readonly string[]): Served => servedOf(names, given)

/** Every route of this package. */
export const everyRoute: readonly AnyRoute[] = allRoutes(served())

/** What the surfaces of this package say of their routes. */
export const surfaceChapters = await Promise.all(given.map(({ surface }) => surface.chapter()))
