import type { BegunRequest } from '../ports/observer.ts'
import type { Clock } from '../ports/platform.ts'
import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import type { Caller } from '../access/caller.ts'
import { tagHeader, taggedCaller } from '../access/tags.ts'
import { lazy } from '../plugin.ts'
import { checked } from '../validate.ts'
import { credentialOf } from './access.ts'
import { RouteRequest } from './request.ts'
import { inputOf } from './body.ts'
import { type Intake, bodyIntake } from './body-intake.ts'
import type { HeldPlace } from './concurrency.ts'
import { showsKey } from './connections.ts'
import { type RequestContext, isListened, labelOf } from './context.ts'
import { type Gate, type Headers, type Known, giveBack, reach, strangers } from './gate.ts'
import type { KeyedRequest } from './key-watch.ts'
import { render } from './render.ts'
import type { AnyRoute, HeldBytes } from './route.ts'
import type { straightWay } from './straight-way.ts'

const ways = lazy(() => import('./straight-way.ts'))

/** The way of a request through its route. `at` is the route's place among all. */
export const serveRoute = (gate: Gate, route: AnyRoute, at: number) => {
  const headers = Object.entries(route.headers ?? {})
  const long = longWay(gate, route, at, headers)
  if (route.straight === undefined) return (ctx: Koa.Context): Promise<void> => long(ctx, null)
  let straight: ReturnType<typeof straightWay> | null = null
  // The first chat loads the code, and goes the long way.
  const loaded = lazy(async () => (straight = (await ways()).straightWay(gate, route, at, headers, long)))
  return (ctx: Koa.Context): Promise<void> =>
    straight === null ? loaded().then(() => long(ctx, null)) : (straight(ctx) ?? long(ctx, null))
}

/** Key, limits, input and answer, each step by a promise. */
const longWay = (
  { admit, take, hold, pace: paceOf, watched, keyless, attempts, clock, observed, waits, report }: Gate,
  route: AnyRoute,
  at: number,
  headers: Headers,
) => {
  const label = labelOf(route)
  const listened = isListened(route)
  const attempt = route.attempts === undefined ? null : attempts()

  return async (ctx: Koa.Context, known: Known | null): Promise<void> => {
    const visit = ctx.state as RequestContext
    const { settings, pace, limits, given, credentials } = visit.routeGeneration
    const own = given[at]
    if (own === undefined) throw new Error('A route has no supplies')
    const { supplied, most, bodyBytes } = own
    reach(visit, route, label, headers)
    const held: HeldPlace[] = []
    let room: HeldBytes | null = null
    let keyed: KeyedRequest | null = null
    try {
      const caller = known?.caller ?? (await admit(ctx.req, route, credentials))
      if (caller === null) {
        keyless(ctx.req, settings)
        if (route.attempts !== undefined) attempt?.(ctx.req, route.attempts)
      } else if (known === null) {
        visit.caller = caller
        if (listened && visit.isWatched) visit.trace = observed.begin(begunOf(ctx, label, caller))
        showsKey(ctx.req)
        keyed = watched.began(caller, ctx.res, settings.timeouts.revoked, () => credentialOf(ctx.req, route))
        await limits.enter(caller, lengthOf(ctx.req, bodyBytes), visit.headers, route.lasts === true ? null : held)
        if (most !== undefined && route.places !== undefined)
          held.push(await take(`${route.places.name}/key/${caller.key}`, most))
      }
      const payer = caller ?? strangers
      const tagged = caller && taggedCaller(caller, ctx.req.headers[tagHeader])
      // A body without a key is read where attempts are counted.
      const isRead = route.body !== undefined && (caller !== null || attempt !== null)
      const time = paceOf(payer, settings.bodies.time)
      room = isRead || route.lasts === true ? hold(payer, settings.bodies.inMemory) : null
      const intake = isRead && room !== null ? intakeOf(ctx, clock, room, caller) : null
      const input =
        intake === null ? undefined : await inputOf(ctx, route.body, settings, intake, time, known?.body ?? null)
      const query = route.query ? checked(route.query, queryOf(ctx.query)) : undefined
      const params = (ctx['params'] ?? nothing) as Readonly<Record<string, string>>
      const request = new RouteRequest(visit.record, input, query, params, tagged, ctx.req, ctx.res, intake, room, time)
      const reply = await route.handle(request, supplied)
      await render(ctx, reply, visit.about, pace, (error) => report(visit, error), waits)
    } finally {
      room?.release()
      if (keyed !== null) watched.ended(keyed)
      giveBack(held, (error) => report(visit, error))
    }
  }
}

const begunOf = (
  { req: { headers }, state }: Koa.Context,
  route: string,
  { key, organization }: Caller,
): BegunRequest => {
  const { about, began } = state as RequestContext
  return { id: about.id, at: began, route, organization, key, traceparent: headers['traceparent'] }
}

const nothing = {}

const intakeOf = ({ req, res, state }: Koa.Context, clock: Clock, held: HeldBytes, caller: Caller | null): Intake => {
  const { limits, settings } = (state as RequestContext).routeGeneration
  // Bytes of callers without a key are bounded by the route alone.
  const charge = async (bytes: number) => (caller === null ? undefined : limits.bytes(caller, bytes))
  return bodyIntake(req, res, { clock, held, charge, leastRate: settings.bodies.leastRate })
}

/** Bytes of a body as its head tells; a body above the limit is refused unread and costs nothing. */
const lengthOf = ({ headers }: IncomingMessage, most: number): number => {
  const length = Number(headers['content-length'] ?? 0)
  return length > most ? 0 : length
}

/** A field without a value stands for an absent one. */
const queryOf = (query: Koa.Context['query']): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))
