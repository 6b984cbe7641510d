import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { Container } from '../container.ts'
import type { Caller } from '../access/caller.ts'
import { ConsoleSessions } from '../access/console-sessions.ts'
import { Keyring } from '../access/keyring.ts'
import { Logins } from '../access/logins.ts'
import { Aborted, BadRequest, type GatewayError, HttpAlone, NotFound, TooMany, Unauthorized } from '../errors.ts'
import { uuid7 } from '../uuid7.ts'
import type { Generation } from '../generations/generation.ts'
import { follow } from '../live/following.ts'
import { Live } from '../live/live.ts'
import type { Trace } from '../live/trace.ts'
import { Clock, Log, Random } from '../ports/platform.ts'
import { RateLimiter } from '../ports/rate-limiter.ts'
import { Settings } from '../settings.ts'
import { admitting } from './access.ts'
import { bodyBudget } from './body-budget.ts'
import { callerAddress } from './caller-address.ts'
import { inTurn } from './in-turn.ts'
import { keylessAllowance } from './keyless.ts'
import { leaveUnread } from './unread-body.ts'
import { errorEnvelope } from './envelope.ts'
import { type Wait, challenge, knownError, retryHeaders } from './http-errors.ts'
import { crossOrigin, preflight } from './cross-origin.ts'
import { countRequests, holdPlaces } from './limits.ts'
import { type Middleware, isAnswered } from './middleware.ts'
import { Metrics } from './metrics.ts'
import { namedPath } from './named-path.ts'
import { send } from './render.ts'
import type { AnyRoute } from './route.ts'
import { serveRoute } from './pipeline.ts'
import { renewedPlaces } from './concurrency.ts'
import { overHttp, webSocketRoutes } from './upgrade.ts'
import { type RouteGeneration, type RequestContext, contextOf, isListened, labelOf } from './context.ts'

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
  readonly metrics: Metrics
  readonly live: Live
  readonly settings: Settings
  /** Counts a request that came without a key. */
  readonly keyless: (request: IncomingMessage, settings: Settings) => void
  readonly waits: (refusal: Wait) => Record<string, string>
  readonly webSocketRoute: ReturnType<typeof webSocketRoutes>
  readonly lost: (path: string, methods: string) => string
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
    sessions: ConsoleSessions,
    metrics: Metrics,
    live: Live,
  })

type Supplies = ReturnType<typeof suppliesOf>

/** Where routes meet the HTTP library; it serves once a generation was turned to. `lost` may say more of a path that no route has. */
export const app = (
  routes: readonly AnyRoute[],
  container: Container,
  lost: Entrance['lost'],
  around: readonly Middleware[] = [],
): App => {
  const supplied = suppliesOf(container)
  const { clock, random, log, metrics, live, settings, limiter } = supplied
  const take = renewedPlaces(limiter, clock, random)
  let routeGeneration: RouteGeneration
  const router = new Router({ sensitive: true, strict: true })
  const entrance: Entrance = {
    ...{ clock, random, log, metrics, live, settings, lost },
    keyless: keylessBy(supplied),
    waits: (refusal) => retryHeaders(refusal, random.fraction()),
    webSocketRoute: webSocketRoutes(routes, settings),
    methodsOf: (path) => [...new Set(router.match(path, 'NONE').path.flatMap(({ methods }) => methods))].join(', '),
    current: () => routeGeneration,
    ...{ active: 0, draining: false },
  }
  const koa = new Koa({ env: settings.env })
  koa.on('error', (error) => log.error('http', {}, error))
  koa.use((ctx, next) => enter(entrance, ctx, next))
  for (const each of around) koa.use(each)
  koa.use(routed(router, handlersOf(routes, router, supplied, take, entrance)))

  return {
    listener: inTurn(koa.callback()),
    active: () => entrance.active,
    drain: () => {
      entrance.draining = true
    },
    prepared(generation) {
      const next = routeGenerationOf(routes, generation, supplied, take)
      return () => void (routeGeneration = next)
    },
  }
}

const keylessBy = ({ clock, settings }: Supplies): Entrance['keyless'] => {
  const allow = keylessAllowance(clock)
  const addressOf = callerAddress(settings.trustedProxies)
  return (request, { limits }) => allow(addressOf(request) ?? 'unknown', limits.keyless.requestsPerSecond)
}

const routeGenerationOf = (
  routes: readonly AnyRoute[],
  generation: Generation,
  { clock, limiter }: Supplies,
  take: ReturnType<typeof renewedPlaces>,
): RouteGeneration => {
  const { settings } = generation
  const given = routes.map(({ needs, places }) => ({
    supplied: generation.supply(needs),
    most: typeof places?.most === 'function' ? places.most(settings) : places?.most,
  }))
  const pace = { clock, ...settings.timeouts, ownChunks: settings.connections.chunks === 'own' }
  const { logins } = generation.supply({ logins: Logins })
  const [count, crowd] = [countRequests(limiter, settings), holdPlaces(take, settings)]
  return { generation, settings, logins, pace, count, crowd, given }
}

/** Counts beside all other requests of an address. */
const attemptsBy = (clock: Clock, { trustedProxies }: Settings) => {
  const addressOf = callerAddress(trustedProxies)
  return (perSecond: number) => {
    const allow = keylessAllowance(clock)
    return (request: IncomingMessage) => allow(addressOf(request) ?? 'unknown', perSecond)
  }
}

/** Holds the bytes of all callers without a key; no key and no organisation is called so. */
const strangers = { key: '', organization: '' } as const

type Handle = (ctx: Koa.Context) => Promise<void>

/** Puts the routes into the router. Paths without parameters are given back by name. */
const handlersOf = (
  routes: readonly AnyRoute[],
  router: Router,
  { keyring, sessions, settings, clock }: Supplies,
  take: ReturnType<typeof renewedPlaces>,
  entrance: Entrance,
): ReadonlyMap<string, Handle> => {
  const inMemory = bodyBudget()
  const gate = {
    ...{ take, clock, live: entrance.live, keyless: entrance.keyless, waits: entrance.waits },
    admit: admitting(keyring, sessions, settings),
    attempts: attemptsBy(clock, settings),
    hold: (caller: Caller | null, { bodies }: Settings) => inMemory(caller ?? strangers, bodies.inMemory),
    report: (context: RequestContext, thrown: unknown) => report(entrance, context, thrown),
  }
  const plain = new Map<string, Handle>()
  for (const [at, route] of routes.entries()) {
    const handle = serveRoute(gate, route, at)
    const path = pathOf(route.path, settings)
    router.register(path, [route.method], handle)
    if (!/(?<!\\):/.test(path)) plain.set(`${route.method} ${path}`, handle)
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

/** The first and the last step of each request: its id, its record in the log, and the answer to its errors. */
const enter = async (entrance: Entrance, ctx: Koa.Context, next: Koa.Next): Promise<void> => {
  const { clock, random, metrics, settings, live } = entrance
  const id = uuid7(clock, random)
  const context = contextOf(entrance.current(), { env: settings.env, id }, clock.now(), { 'x-request-id': id })
  ctx.state = context
  entrance.active++
  context.routeGeneration.generation.begin()
  metrics.began()
  ctx.res.once('close', () => {
    leaveUnread(ctx.req, clock)
    left(entrance, context, ctx.res)
  })
  if (entrance.draining) context.headers['connection'] = 'close'
  try {
    if (!namesHost(ctx.req)) throw new BadRequest('A request of HTTP/1.1 names its host')
    if (!asksFirst(entrance, ctx, context)) await (live.isHeard() ? follow(context, next) : next())
    if (context.route !== null) return
    if (!isAnswered(ctx)) refuseLost(entrance, ctx, context)
    if (!ctx.headerSent) for (const [name, value] of Object.entries(context.headers)) ctx.set(name, String(value))
  } catch (thrown) {
    await answerFault(entrance, ctx, context, thrown)
  }
}

/** A path that no route has. */
const refuseLost = (entrance: Entrance, ctx: Koa.Context, context: RequestContext): never => {
  entrance.keyless(ctx.req, entrance.settings)
  const allowed = entrance.methodsOf(ctx.path)
  if (allowed !== '') context.headers['allow'] = allowed
  context.route = entrance.webSocketRoute(ctx.req, ctx.path)
  if (context.route !== null) {
    Object.assign(context.headers, overHttp)
    throw new HttpAlone()
  }
  throw new NotFound(entrance.lost(ctx.path, allowed))
}

const answerFault = async (entrance: Entrance, ctx: Koa.Context, context: RequestContext, thrown: unknown) => {
  const error = refusedKey(entrance, ctx.req, knownError(thrown))
  if (error.status >= 500) report(entrance, context, thrown)
  if (ctx.res.headersSent || ctx.res.destroyed) return void ctx.res.destroy()
  const { route, routeGeneration, about, headers } = context
  const { status, body } = (route?.errors ?? errorEnvelope)(about, error)
  Object.assign(
    headers,
    entrance.waits(error),
    challenge(error, route?.challenge?.(routeGeneration.settings)),
    error instanceof TooMany && error.headers,
  )
  await send(ctx, status, JSON.stringify(body), routeGeneration.pace)
}

const report = ({ metrics, log }: Entrance, { about, route }: RequestContext, thrown: unknown): void => {
  const error = knownError(thrown)
  if (error instanceof Aborted) return
  metrics.fault(error.name)
  const facts = { request: about.id, route: route && labelOf(route), status: error.status }
  log.error('fault', facts, error.cause ?? error)
}

const left = (entrance: Entrance, context: RequestContext, response: ServerResponse): void => {
  const { clock, metrics, live, log } = entrance
  entrance.active--
  context.routeGeneration.generation.end()
  const status = response.writableFinished ? response.statusCode : 499
  const ms = clock.now() - context.began
  const route = context.route === null ? 'none' : labelOf(context.route)
  metrics.ended(route, status, ms)
  const trace = context.trace ?? (live.isHeard() ? traceOfStranger(live, context) : null)
  trace?.ended(status, ms)
  log.info('request', { request: context.about.id, route, status, ms, key: context.key })
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
  const allowed = crossOrigin(ctx.req, ctx.path, origins)
  Object.assign(headers, allowed)
  const answer = origins.length === 0 ? null : preflight(ctx.req, allowed, entrance.methodsOf(ctx.path))
  if (answer === null) return false
  entrance.keyless(ctx.req, entrance.settings)
  Object.assign(headers, answer)
  ctx.status = 204
  return true
}

/** The trace of a request whose key was refused. */
const traceOfStranger = (live: Live, { about, began: at, route, key }: RequestContext): Trace | null =>
  route === null || key !== null || !isListened(route)
    ? null
    : live.begin({ id: about.id, at, route: labelOf(route), organization: null, key })

const pathOf = (path: string, settings: Settings): string =>
  namedPath(path, settings)
    .replaceAll(':', '\\:')
    .replace(/\{(\w+)\}/g, ':$1')

/** HTTP/1.0 knows no such header. */
const namesHost = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion !== '1.1' || headers.host !== undefined
