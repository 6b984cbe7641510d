import { parts } from '../adapters/memory/parts.ts'
import { surfaces } from '../adapters/memory/surfaces.ts'
import { Front } from '../core/ports/front.ts'
import { Surface } from '../core/ports/surface.ts'
import { doorsOf } from '../core/http/interface.ts'
import type { AnyRoute } from '../core/http/route.ts'
import { servedOf } from '../core/http/served.ts'
import type { Served } from '../core/ports/surface.ts'
import { chaptersOf } from '../plugins/surfaces/docs/documents.ts'
import { fitted } from './fitted.ts'

const whole = fitted(...surfaces, ...parts.filter(({ port }) => port.key === Front.key)).supply({
  surfaces: Surface,
  fronts: Front,
})
const given = whole.surfaces.map((surface) => ({ label: surface.name, surface }))

/** The surfaces of this package; all where none is named. */
export const served = (names?: readonly string[]): Served => servedOf(names, given)

/** Every route of this package. */
export const everyRoute: readonly AnyRoute[] = doorsOf(served(), whole.fronts).flatMap(({ routes }) => routes)

/** What the surfaces of this package say of their routes. */
export const surfaceChapters = await chaptersOf(served(), [])
