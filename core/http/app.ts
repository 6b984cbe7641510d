import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { Container } from '../container.ts'
import type { Caller } from '../access/caller.ts'
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

export interface App {
  readonly listener: RequestListener
  /** Requests that are under way. */
  active(): number
  /** Answers from now on ask the client to come back on another connection. */
  drain(): void
  /** Makes all that the routes need of another generation, or throws; what it gives back lets every request from then on begin with it. */
  prepared(generation: Generation): () => void
}

/** Where routes meet the HTTP library; it serves once a generation was turned to. `lost` may say more of a path that no route has. */
export const app = (
  routes: readonly AnyRoute[],
  container: Container,
  lost: (path: string, methods: string) => string,
  around: readonly Middleware[] = [],
): App => {
  const { clock, random, log, limiter, settings, keyring, metrics, live } = container.supply({
    clock: Clock,
    random: Random,
    log: Log,
    limiter: RateLimiter,
    settings: Settings,
    keyring: Keyring,
    metrics: Metrics,
    live: Live,
  })
  const { env } = settings
  const admit = admitting(keyring, settings)
  const take = renewedPlaces(limiter, clock, random)
  const inMemory = bodyBudget()
  const hold = (caller: Caller, { bodies }: Settings) => inMemory(caller, bodies.inMemory)
  const allow = keylessAllowance(clock)
  const addressOf = callerAddress(settings.trustedProxies)
  const keyless = (request: IncomingMessage, { limits }: Settings) =>
    allow(addressOf(request) ?? 'unknown', limits.keyless.requestsPerSecond)
  const webSocketRoute = webSocketRoutes(routes, settings)
  const waits = (refusal: Wait) => retryHeaders(refusal, random.fraction())
  let active = 0
  let draining = false

  const eraOf = (generation: Generation): RouteGeneration => {
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
  let routeGeneration: RouteGeneration

  const report = (context: RequestContext, thrown: unknown): void => {
    const error = knownError(thrown)
    if (error instanceof Aborted) return
    metrics.fault(error.name)
    log.error(
      'fault',
      { request: context.about.id, route: context.route && labelOf(context.route), status: error.status },
      error.cause ?? error,
    )
  }

  const left = (context: RequestContext, response: ServerResponse): void => {
    active--
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
  const refusedKey = (request: IncomingMessage, error: GatewayError): GatewayError => {
    if (!(error instanceof Unauthorized)) return error
    try {
      keyless(request, settings)
      return error
    } catch (tooMany) {
      return knownError(tooMany)
    }
  }

  /** Tells a page of another origin what it may do; true where its browser asked for that alone. */
  const asksFirst = (ctx: Koa.Context, { routeGeneration, headers }: RequestContext): boolean => {
    const { origins } = routeGeneration.settings.cors
    const allowed = crossOrigin(ctx.req, ctx.path, origins)
    Object.assign(headers, allowed)
    const answer = origins.length === 0 ? null : preflight(ctx.req, allowed, methodsOf(ctx.path))
    if (answer === null) return false
    keyless(ctx.req, settings)
    Object.assign(headers, answer)
    ctx.status = 204
    return true
  }

  const koa = new Koa({ env })
  koa.on('error', (error) => log.error('http', {}, error))

  koa.use(async (ctx, next) => {
    const id = uuid7(clock, random)
    const headers = { 'x-request-id': id }
    const context = contextOf(routeGeneration, { env, id }, clock.now(), headers)
    ctx.state = context
    active++
    routeGeneration.generation.begin()
    metrics.began()
    ctx.res.once('close', () => {
      leaveUnread(ctx.req, clock)
      left(context, ctx.res)
    })
    if (draining) context.headers['connection'] = 'close'
    try {
      if (!namesHost(ctx.req)) throw new BadRequest('A request of HTTP/1.1 names its host')
      if (!asksFirst(ctx, context)) await (live.isHeard() ? follow(context, next) : next())
      if (context.route !== null) return
      if (!isAnswered(ctx)) {
        keyless(ctx.req, settings)
        const allowed = methodsOf(ctx.path)
        if (allowed !== '') context.headers['allow'] = allowed
        context.route = webSocketRoute(ctx.req, ctx.path)
        if (context.route !== null) {
          Object.assign(context.headers, overHttp)
          throw new HttpAlone()
        }
        throw new NotFound(lost(ctx.path, allowed))
      }
      if (!ctx.headerSent) for (const [name, value] of Object.entries(context.headers)) ctx.set(name, String(value))
    } catch (thrown) {
      const error = refusedKey(ctx.req, knownError(thrown))
      if (error.status >= 500) report(context, thrown)
      if (ctx.res.headersSent || ctx.res.destroyed) return void ctx.res.destroy()
      const { status, body } = (context.route?.errors ?? errorEnvelope)(context.about, error)
      Object.assign(
        context.headers,
        waits(error),
        challenge(error, context.route?.challenge?.(context.routeGeneration.settings)),
        error instanceof TooMany && error.headers,
      )
      await send(ctx, status, JSON.stringify(body), context.routeGeneration.pace)
    }
  })

  for (const each of around) koa.use(each)

  const router = new Router({ sensitive: true, strict: true })
  // Paths without parameters, by name: the router tries every pattern and composes its steps anew for each request.
  const plain = new Map<string, (ctx: Koa.Context) => Promise<void>>()
  for (const [at, route] of routes.entries()) {
    const handle = serveRoute({ admit, take, hold, keyless, clock, live, waits, report }, route, at)
    const path = pathOf(route.path, settings)
    router.register(path, [route.method], handle)
    if (!/(?<!\\):/.test(path)) plain.set(`${route.method} ${path}`, handle)
  }
  const routed = router.routes()

  /** The methods that a path takes, as the header `allow` lists them; empty for a path that no route has. */
  const methodsOf = (path: string): string =>
    [...new Set(router.match(path, 'NONE').path.flatMap(({ methods }) => methods))].join(', ')

  koa.use((ctx, next) => {
    const handle = plain.get(`${ctx.method} ${ctx.path}`)
    return handle === undefined ? routed(ctx as never, next) : handle(ctx)
  })

  return {
    listener: inTurn(koa.callback()),
    active: () => active,
    drain: () => {
      draining = true
    },
    prepared(generation) {
      const next = eraOf(generation)
      return () => void (routeGeneration = next)
    },
  }
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
