import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { Container } from '../container.ts'
import { Keyring } from '../access/keyring.ts'
import {
  Aborted,
  BadRequest,
  type GatewayError,
  NotFound,
  TooMany,
  Unauthorized,
  UpstreamFailed,
  WrongMethod,
} from '../errors.ts'
import { uuid7 } from '../uuid7.ts'
import type { Generation } from '../generations/generation.ts'
import { Credentials } from '../ports/credentials.ts'
import { Observer, type Trace } from '../ports/observer.ts'
import { loopTime } from '../dialects/loop-time.ts'
import { Clock, Log, Random } from '../ports/platform.ts'
import { RateLimiter } from '../ports/rate-limiter.ts'
import { Settings } from '../settings.ts'
import { admitting, recalling } from './access.ts'
import { Beats } from './beats.ts'
import { jsonBoundsOf, limitOf } from './body.ts'
import { bodyBudget } from './body-budget.ts'
import { callerAddress } from './caller-address.ts'
import { inTurn } from './in-turn.ts'
import { keyWatch } from './key-watch.ts'
import { keylessAllowance } from './keyless.ts'
import { following } from './following.ts'
import { type Observed, observed } from '../ports/observed.ts'
import { joined, leaveUnread } from './unwanted-bytes.ts'
import { errorEnvelope } from './reply.ts'
import { type Wait, challenge, knownError, retryHeaders } from './http-errors.ts'
import { crossOrigin, preflight } from './cross-origin.ts'
import { callerLimits } from './limits.ts'
import { type Middleware, isAnswered } from './middleware.ts'
import { namedPath, type AnyRoute } from './route.ts'
import { send } from './render.ts'
import type { Interface, Lost } from './interface.ts'
import { serveRoute } from './pipeline.ts'
import { renewedPlaces } from './concurrency.ts'
import { type RouteGeneration, type RequestContext, contextOf, isListened } from './context.ts'

/** The routes behind Node's listener, with what a start, a reload and an end need of them. */
export interface App {
  readonly listener: RequestListener
  /** Requests that are under way. */
  active(): number
  /** Answers from now on ask the client to come back on another connection. */
  drain(): void
  /** Makes all that the routes need of another generation, or throws; what it gives back lets every request from then on begin with it. */
  prepared(generation: Generation): () => void
}

/** What every request meets before and behind its route. */
interface Entrance {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observed: Observed
  readonly following: ReturnType<typeof following>
  readonly settings: Settings
  /** Counts a request that came without a key. */
  readonly keyless: (request: IncomingMessage, settings: Settings) => void
  readonly waits: (refusal: Wait) => Record<string, string>
  readonly lost: Lost
  readonly isClosed: Interface['isClosed']
  /** The methods that a path takes, as the header `allow` lists them; empty for a path that no route has. */
  readonly methodsOf: (path: string) => string
  /** With what a request begins now. */
  readonly current: () => RouteGeneration
  active: number
  draining: boolean
}

const suppliesOf = (container: Container) =>
  container.supply({
    clock: Clock,
    random: Random,
    log: Log,
    limiter: RateLimiter,
    settings: Settings,
    keyring: Keyring,
    observers: Observer,
  })

type Supplies = ReturnType<typeof suppliesOf>

/** Where routes meet the HTTP library; it serves once a generation was turned to. */
export const app = (
  { routes, lost, isClosed }: Pick<Interface, 'routes' | 'lost' | 'isClosed'>,
  container: Container,
  around: readonly Middleware[] = [],
): App => {
  const supplied = suppliesOf(container)
  const { clock, random, log, observers, settings, limiter } = supplied
  const take = renewedPlaces(limiter, clock, random)
  const keyless = attemptsBy(supplied)()
  let routeGeneration: RouteGeneration
  const router = new Router({ sensitive: true, strict: true })
  const entrance: Entrance = {
    ...{ clock, random, log, settings, lost, isClosed, observed: observed(observers, log), following: following() },
    keyless: (request, { limits }) => keyless(request, limits.keyless.requestsPerSecond),
    waits: (refusal) => retryHeaders(refusal, random.fraction()),
    methodsOf: (path) => [...new Set(router.match(path, 'NONE').path.flatMap(({ methods }) => methods))].join(', '),
    current: () => routeGeneration,
    ...{ active: 0, draining: false },
  }
  const koa = new Koa({ env: settings.env })
  koa.on('error', (error) => log.error('http', {}, error))
  const toRoute = routed(router, handlersOf(routes, router, supplied, take, entrance))
  koa.use((ctx, next) => enter(entrance, ctx, next))
  for (const each of around) koa.use(each)
  koa.use(toRoute)
  const listener = around.length > 0 ? koa.callback() : direct(koa, entrance, toRoute)

  return {
    listener: joined(inTurn(listener, clock), clock),
    active: () => entrance.active,
    drain: () => {
      entrance.draining = true
    },
    prepared(generation) {
      const next = routeGenerationOf(routes, generation, supplied, take)
      return () => {
        routeGeneration = next
        entrance.observed.renewed()
      }
    },
  }
}

const routeGenerationOf = (
  routes: readonly AnyRoute[],
  generation: Generation,
  { clock, limiter }: Supplies,
  take: ReturnType<typeof renewedPlaces>,
): RouteGeneration => {
  const { settings } = generation
  const given = routes.map(({ needs, places, body }) => ({
    supplied: generation.supply(needs),
    most: typeof places?.most === 'function' ? places.most(settings) : places?.most,
    bodyBytes: body === undefined ? 0 : limitOf(body, settings),
  }))
  const pace = { clock, ...settings.timeouts, ownChunks: settings.connections.chunks === 'own' }
  const { credentials } = generation.supply({ credentials: Credentials })
  const limits = callerLimits(limiter, take, settings)
  return { generation, settings, credentials, pace, limits, jsonBounds: jsonBoundsOf(settings), given }
}

/** Makes counters of an address's requests, each of which counts by itself. */
const attemptsBy = ({ clock, settings }: Pick<Supplies, 'clock' | 'settings'>) => {
  const addressOf = callerAddress(settings.trustedProxies)
  return () => {
    const allow = keylessAllowance(clock)
    return (request: IncomingMessage, perSecond: number | null) => allow(addressOf(request) ?? 'unknown', perSecond)
  }
}

type Handle = (ctx: Koa.Context) => Promise<void>

/** Puts the routes into the router. Paths without parameters are given back by name. */
const handlersOf = (
  routes: readonly AnyRoute[],
  router: Router,
  { keyring, settings, clock }: Supplies,
  take: ReturnType<typeof renewedPlaces>,
  entrance: Entrance,
): ReadonlyMap<string, Handle> => {
  const gate = {
    ...{ take, clock, observed: entrance.observed, keyless: entrance.keyless, waits: entrance.waits },
    admit: admitting(keyring, settings),
    recall: recalling(keyring, settings),
    beats: new Beats(clock),
    attempts: attemptsBy({ clock, settings }),
    hold: bodyBudget(),
    watched: keyWatch(
      (id) => keyring.get(id, null),
      () => entrance.current().credentials,
      clock,
      (error) => entrance.log.error('keys', {}, error),
    ),
    pace: loopTime(clock),
    report: (context: RequestContext, thrown: unknown) => report(entrance, context, thrown),
  }
  const plain = new Map<string, Handle>()
  for (const [at, route] of routes.entries()) {
    const handle = serveRoute(gate, route, at)
    const path = pathOf(route.path, settings)
    router.register(path, [route.method], handle)
    if (!/(?<!\\):|\*/.test(path)) plain.set(`${route.method} ${path}`, handle)
  }
  return plain
}

/** Paths without parameters go by name: the router tries every pattern and composes its steps anew for each request. */
const routed = (router: Router, plain: ReadonlyMap<string, Handle>): Koa.Middleware => {
  const byPattern = router.routes()
  return (ctx, next) => {
    const handle = plain.get(`${ctx.method} ${ctx.path}`)
    return handle === undefined ? byPattern(ctx as never, next) : handle(ctx)
  }
}

/** The way to the routes without a middleware between: Koa makes the context, and has no steps of its own to put together. */
const direct =
  (koa: Koa, entrance: Entrance, toRoute: Koa.Middleware): RequestListener =>
  (request, response) => {
    const ctx = koa.createContext(request, response)
    response.statusCode = 404
    const end = () => void (ctx.respond !== false && !response.headersSent && response.end())
    enter(entrance, ctx, () => toRoute(ctx, nothingElse)).then(end, (fault: Error) => ctx.onerror(fault))
  }

const nothingElse = async (): Promise<void> => {}

/** The first and the last step of each request: its id, its record in the log, and the answer to its errors. */
const enter = async (entrance: Entrance, ctx: Koa.Context, next: Koa.Next): Promise<void> => {
  const { clock, random, observed, settings } = entrance
  const id = uuid7(clock, random)
  const context = contextOf(entrance.current(), { env: settings.env, id }, clock.now(), observed.isWatching(), {
    'x-request-id': id,
  })
  ctx.state = context
  entrance.active++
  context.routeGeneration.generation.begin()
  observed.came()
  ctx.res.on('close', () => {
    leaveUnread(ctx.req, clock)
    left(entrance, context, ctx.res)
  })
  if (entrance.draining) context.headers['connection'] = 'close'
  try {
    if (!namesHost(ctx.req)) throw new BadRequest('A request of HTTP/1.1 names its host')
    if (!asksFirst(entrance, ctx, context)) await followed(entrance, context, next)
    if (context.route !== null) return
    if (!isAnswered(ctx)) refuseLost(entrance, ctx, context)
    if (!ctx.headerSent) for (const [name, value] of Object.entries(context.headers)) ctx.set(name, String(value))
  } catch (thrown) {
    await answerFault(entrance, ctx, context, thrown)
  }
}

/** A request that is watched can be found by all that works for it. */
const followed = ({ following }: Entrance, context: RequestContext, next: Koa.Next): Promise<void> => {
  if (context.isWatched) return following.run(context, next)
  if (following.follows) following.rest()
  return next()
}

/** A path that no route has. */
const refuseLost = (entrance: Entrance, ctx: Koa.Context, context: RequestContext): never => {
  entrance.keyless(ctx.req, entrance.settings)
  const allowed = entrance.methodsOf(ctx.path)
  if (allowed !== '') context.headers['allow'] = allowed
  if (allowed !== '') throw new WrongMethod(`This path takes ${allowed}`)
  throw new NotFound(entrance.lost.sentence(ctx.path))
}

const answerFault = async (entrance: Entrance, ctx: Koa.Context, context: RequestContext, thrown: unknown) => {
  const error = refusedKey(entrance, ctx.req, knownError(thrown))
  if (error.status >= 500) report(entrance, context, thrown)
  if (error instanceof TooMany) entrance.observed.limited(error.limit)
  if (ctx.res.headersSent || ctx.res.destroyed) return void ctx.res.destroy()
  const { route, routeGeneration, about, headers } = context
  // A path that can't be parsed has no form of its own; `ctx.path` would throw.
  const form = route === null ? entrance.lost.form(ctx.url) : (route.errors ?? errorEnvelope)
  const { status, body } = form(about, error, ctx.headers)
  Object.assign(
    headers,
    entrance.waits(error),
    challenge(error, route?.challenge?.(routeGeneration.settings)),
    error instanceof TooMany && error.headers,
  )
  await send(ctx, status, JSON.stringify(body), routeGeneration.pace)
}

const report = ({ observed, log }: Entrance, { about, route, label }: RequestContext, thrown: unknown): void => {
  const error = knownError(thrown)
  if (error instanceof Aborted) return
  observed.failed(error.name)
  const attempted = error instanceof UpstreamFailed ? error.attempted : null
  const facts = { request: about.id, route: route && label, status: error.status, ...attempted }
  log.error('fault', facts, error.cause ?? error)
}

const left = (entrance: Entrance, context: RequestContext, response: ServerResponse): void => {
  const { clock, observed, log } = entrance
  context.closed?.(response.writableFinished)
  entrance.active--
  if (context.ownStatus === null) context.routeGeneration.generation.end()
  const status = context.ownStatus ?? (response.writableFinished ? response.statusCode : 499)
  const ms = clock.now() - context.began
  const route = context.label
  const trace = context.trace ?? (context.isWatched ? traceOfStranger(observed, context, response.req) : null)
  observed.left(route, status, ms, response.req.headers['traceparent'])
  trace?.ended(status, ms)
  const { record, caller } = context
  const { model, backend, tokens } = record
  const facts: Record<string, string | number | null> = { request: record.id, route, status, ms }
  facts['key'] = caller?.key ?? null
  if (caller?.team !== undefined) facts['team'] = caller.team
  if (model !== null) {
    facts['model'] = model
    facts['backend'] = backend
    facts['tokens'] = tokens
  }
  log.info('request', facts)
}

/** Guessing keys is bounded as the routes without a key are. */
const refusedKey = ({ keyless, settings }: Entrance, request: IncomingMessage, error: GatewayError): GatewayError => {
  if (!(error instanceof Unauthorized)) return error
  try {
    keyless(request, settings)
    return error
  } catch (tooMany) {
    return knownError(tooMany)
  }
}

/** Tells a page of another origin what it may do; true where its browser asked for that alone. */
const asksFirst = (entrance: Entrance, ctx: Koa.Context, { routeGeneration, headers }: RequestContext): boolean => {
  const { origins } = routeGeneration.settings.cors
  if (origins.length === 0) return false
  const allowed = crossOrigin(ctx.req, entrance.isClosed(ctx.path) ? [] : origins)
  Object.assign(headers, allowed)
  const answer = preflight(ctx.req, allowed, entrance.methodsOf(ctx.path))
  if (answer === null) return false
  entrance.keyless(ctx.req, entrance.settings)
  Object.assign(headers, answer)
  ctx.status = 204
  return true
}

/** The trace of a request whose key was refused. */
const traceOfStranger = (
  observed: Observed,
  { about, began: at, route, label, caller }: RequestContext,
  { headers: { traceparent } }: IncomingMessage,
): Trace | null =>
  route === null || caller !== null || !isListened(route)
    ? null
    : observed.begin({ id: about.id, at, route: label, organization: null, key: null, traceparent })

/** The name of a model may have slashes, which Google's clients leave as they are. */
const pathOf = (path: string, settings: Settings): string =>
  namedPath(path, settings)
    .replaceAll(':', '\\:')
    .replace('{model}', '*model')
    .replace(/\{(\w+)\}/g, ':$1')

/** HTTP/1.0 knows no such header. */
const namesHost = ({ httpVersionMinor, headers }: IncomingMessage): boolean =>
  httpVersionMinor === 0 || headers.host !== undefined

/** Begins to drain, and waits until nothing is under way any more or the time is over. Gives the number of requests that are left. */
export const drained = async (begin: () => void, served: App, clock: Clock, ms: number): Promise<number> => {
  begin()
  served.drain()
  for (const until = clock.now() + ms; served.active() > 0 && clock.now() < until;) await clock.sleep(20)
  return served.active()
}
