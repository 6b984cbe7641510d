import type { IncomingMessage } from 'node:http'
import type { Caller } from '../access/caller.ts'
import type { loopTime } from '../dialects/loop-time.ts'
import type { Clock } from '../ports/platform.ts'
import type { Settings } from '../settings.ts'
import type { Admit, Recall } from './access.ts'
import type { bodyBudget } from './body-budget.ts'
import type { HeldPlace, renewedPlaces } from './concurrency.ts'
import type { RequestContext } from './context.ts'
import type { Wait } from './http-errors.ts'
import type { keyWatch } from './key-watch.ts'
import type { Observed } from '../ports/observed.ts'
import type { AnyRoute } from './route.ts'
import type { CallClock } from './straight-call.ts'

/** What all routes of a process share on the way of a request. */
export interface Gate {
  readonly admit: Admit
  readonly recall: Recall
  readonly beats: CallClock
  readonly take: ReturnType<typeof renewedPlaces>
  readonly hold: ReturnType<typeof bodyBudget>
  /** The time of the main loop that reading and checking take. */
  readonly pace: ReturnType<typeof loopTime>
  /** Cuts what is under way with a key that is revoked. */
  readonly watched: ReturnType<typeof keyWatch>
  /** Counts a request that came without a key. */
  readonly keyless: (request: IncomingMessage, settings: Settings) => void
  /** Makes the counter of a route's attempts, of each address at most so many a second. */
  readonly attempts: () => (request: IncomingMessage, perSecond: number) => void
  readonly clock: Clock
  readonly observed: Observed
  /** The headers that say when a refused request may come again. */
  waits(refusal: Wait): Record<string, string>
  report(context: RequestContext, error: unknown): void
}

/** Stands for all callers without a key together; no key and no organisation is called so. */
export const strangers = { key: '', organization: '' } as const

/** A request whose key and limits were seen to, and whose body was read. */
export interface Known {
  readonly caller: Caller
  readonly body: Buffer
}

export type Headers = readonly (readonly [name: string, value: string])[]

/** The request has come to its route, and has the route's headers. */
export const reach = (visit: RequestContext, route: AnyRoute, label: string, headers: Headers): void => {
  visit.route = route
  visit.label = label
  for (const [name, value] of headers) visit.headers[name] = value.replace('{id}', visit.about.id)
}

/** The last place first. */
export const giveBack = (held: readonly HeldPlace[], failed: (error: unknown) => void): void => {
  for (let at = held.length - 1; at >= 0; at--) {
    const released = held[at]?.release()
    if (released instanceof Promise) released.catch(failed)
  }
}
