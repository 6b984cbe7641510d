import { many, one } from '../container.ts'
import type { Chapter } from './chapter.ts'
import type { AnyRoute, Render } from '../http/route.ts'
import type { Tool } from './tool.ts'
import type { Settings } from '../settings.ts'

/** Paths on the gateway by what they are for, or by the clients that take them. */
export type NamedPaths = (names: Settings['names']) => Readonly<Record<string, string>>

/** A door to callers: routes as data, with the access, limits and bodies that all routes have. */
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
  /** The words of the reference on each of the routes, with the gateway's tools. Loaded with the first look at it. */
  chapter(tools: readonly Tool[]): Promise<Chapter | readonly Chapter[]>
  /** Links that `GET /` shows to programs; none when absent. */
  readonly links?: NamedPaths
  /** Base URLs of clients, by the clients' names, as the front page shows them; none when absent. */
  readonly clients?: NamedPaths
  /** The form of errors about paths that no route has, by how such paths begin; the longest beginning counts. */
  readonly lost?: Readonly<Record<string, Render>>
  /** Beginnings of paths that no page of another origin ever reaches; none when absent. */
  readonly closed?: readonly string[]
  /** Called once, when the whole gateway ends; a reload keeps the surface. */
  dispose?(): Promise<void> | void
}

/** What an embedder knows of a request beside the request itself. */
export interface FetchOptions {
  /** Whence it comes. Without it, keys that are bound to addresses are refused. */
  readonly address?: string
}

/** Rejects with the reason of the signal where the request is aborted before the head of its answer. */
export type FetchRequest = (request: Request, options?: FetchOptions) => Promise<Response>

/** The gateway's own interface without a port: a request goes the way of one from outside, with its key and its limits. */
export const OwnFetch = one<FetchRequest>('OwnFetch')

export const Surface = many<Surface>('Surface', { name: 'text', routes: 'list', chapter: 'function' })

/** The surfaces of one gateway, in the order of their routes. */
export interface Served {
  readonly names: readonly string[]
  readonly surfaces: ReadonlyMap<string, Surface>
}
