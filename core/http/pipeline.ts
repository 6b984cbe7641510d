import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import type { Caller } from '../access/caller.ts'
import { tagHeader, taggedCaller } from '../access/tags.ts'
import { checked } from '../validate.ts'
import type { Clock } from '../ports/platform.ts'
import type { Settings } from '../settings.ts'
import type { Admit } from './access.ts'
import { RouteRequest } from './request.ts'
import { inputOf, lengthOf } from './body.ts'
import type { HeldBytes } from './body-budget.ts'
import { type Intake, bodyIntake } from './body-intake.ts'
import { render } from './render.ts'
import type { AnyRoute } from './route.ts'
import type { Release, renewedPlaces } from './concurrency.ts'
import type { Wait } from './http-errors.ts'
import { showsKey } from './connections.ts'
import { isTraced, spanOf } from './spans.ts'
import { type RequestContext, isListened, labelOf } from './context.ts'
import type { Live } from '../live/live.ts'

/** What all routes of a process share on the way of a request. */
interface Gate {
  readonly admit: Admit
  readonly take: ReturnType<typeof renewedPlaces>
  /** Null stands for all callers without a key together. */
  readonly hold: (caller: Caller | null, settings: Settings) => HeldBytes
  /** Counts a request that came without a key. */
  readonly keyless: (request: IncomingMessage, settings: Settings) => void
  /** Counts attempts of each address at one route, at most so many a second. */
  readonly attempts: (perSecond: number) => (request: IncomingMessage) => void
  readonly clock: Clock
  readonly live: Live
  /** The headers that say when a refused request may come again. */
  waits(refusal: Wait): Record<string, string>
  report(context: RequestContext, error: unknown): void
}

/** The way of a request through its route: key, limits, input, answer. `at` is the route's place among all. */
export const serveRoute = (
  { admit, take, hold, keyless, attempts, clock, live, waits, report }: Gate,
  route: AnyRoute,
  at: number,
) => {
  const headers = Object.entries(route.headers ?? {})
  const label = labelOf(route)
  const listened = isListened(route)
  const attempt = route.attempts === undefined ? null : attempts(route.attempts)

  return async (ctx: Koa.Context): Promise<void> => {
    const visit = ctx.state as RequestContext
    const { settings, pace, count, crowd, given, logins } = visit.routeGeneration
    const own = given[at]
    if (own === undefined) throw new Error('A route has no supplies')
    const { supplied, most } = own
    visit.route = route
    for (const [name, value] of headers) visit.headers[name] = value.replace('{id}', visit.about.id)
    const span = isTraced() ? await spanOf(label) : null
    const held: Release[] = []
    let room: HeldBytes | null = null
    try {
      const caller = await admit(ctx.req, route.access, logins, route.keyHeaders)
      if (caller === null) {
        keyless(ctx.req, settings)
        attempt?.(ctx.req)
      } else {
        visit.key = caller.key
        if (listened && live.isHeard()) {
          const { key, organization } = caller
          visit.trace = live.begin({ id: visit.about.id, at: visit.began, route: label, organization, key })
        }
        showsKey(ctx.req)
        await count.request(caller, lengthOf(ctx.req, route.body, settings), visit.headers)
        await crowd(caller, held)
        if (most !== undefined && route.places !== undefined)
          held.push(await take(`${route.places.name}/key/${caller.key}`, most))
      }
      const tagged = caller && taggedCaller(caller, ctx.req.headers[tagHeader])
      let intake: Intake | null = null
      // A body without a key is read where attempts are counted.
      if (route.body !== undefined && (caller !== null || attempt !== null)) {
        room = hold(caller, settings)
        const charge = caller === null ? unpaid : (bytes: number) => count.bytes(caller, bytes)
        intake = bodyIntake(ctx.req, ctx.res, { clock, held: room, charge, leastRate: settings.bodies.leastRate })
      }
      const input = intake === null ? undefined : await inputOf(ctx, route.body, settings, intake)
      const query = route.query ? checked(route.query, queryOf(ctx.query)) : undefined
      const params = (ctx['params'] ?? nothing) as Readonly<Record<string, string>>
      const request = new RouteRequest(visit.about.id, input, query, params, tagged, ctx.req, ctx.res, intake)
      const reply = await route.handle(request, supplied)
      await render(ctx, reply, visit.about, pace, (error) => report(visit, error), waits)
    } finally {
      span?.setAttribute('http.response.status_code', ctx.res.statusCode).end()
      room?.release()
      for (const release of held.reverse()) release().catch((error) => report(visit, error))
    }
  }
}

const nothing = {}

/** Bytes of callers without a key are bounded by the route alone. */
const unpaid = async (): Promise<void> => {}

/** A field without a value stands for an absent one. */
const queryOf = (query: Koa.Context['query']): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))
