import { many } from '../container.ts'
import type { Chapter } from '../http/reference.ts'
import type { AnyRoute } from '../http/route.ts'
import type { Settings } from '../settings.ts'

/** Paths on the gateway by what they are for, or by the clients that take them. */
export type NamedPaths = (names: Settings['names']) => Readonly<Record<string, string>>

/** A door beyond the interface's own chapters: routes as data, with the same access, limits and bodies. */
export interface Surface {
  /** The setting `surfaces` serves it by this name. */
  readonly name: string
  /** The name of another surface that brings this one along. */
  readonly servedWith?: string
  /**
   * The routes stay as long as the gateway runs. What they need is of the generation with which a request begins; what
   * the plugin needs is of the whole gateway.
   */
  readonly routes: readonly AnyRoute[]
  /** The words of the reference on each of the routes. Loaded with the first look at the reference. */
  chapter(): Promise<Chapter>
  /** Links that `GET /` shows to programs; none when absent. */
  readonly links?: NamedPaths
  /** Base URLs of clients, by the clients' names, as the front page shows them; none when absent. */
  readonly clients?: NamedPaths
  /** Called once, when the whole gateway ends; a reload keeps the surface. */
  dispose?(): Promise<void> | void
}

export const Surface = many<Surface>('Surface')
