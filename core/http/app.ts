import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { Container } from '../container.ts'
import { Keyring } from '../access/keyring.ts'
import { Aborted, NotFound, TooMany } from '../errors.ts'
import { uuid7 } from '../ids.ts'
import type { Generation } from '../generation.ts'
import { Clock, Log, Random } from '../ports/host.ts'
import { RateLimiter } from '../ports/rate-limiter.ts'
import { Settings } from '../settings.ts'
import { admitting } from './access.ts'
import { errorEnvelope } from './envelope.ts'
import { known, retryHeaders } from './fault.ts'
import { counting, crowding } from './limits.ts'
import { Metrics } from './metrics.ts'
import { named } from './openapi.ts'
import { send } from './render.ts'
import type { AnyRoute } from './route.ts'
import { serving } from './serving.ts'
import { slots } from './slots.ts'
import { type Era, type Visit, labelOf } from './visit.ts'

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
export const app = (routes: readonly AnyRoute[], container: Container, lost: (path: string) => string): App => {
  const { clock, random, log, limiter, settings, keyring, metrics } = container.supply({
    clock: Clock,
    random: Random,
    log: Log,
    limiter: RateLimiter,
    settings: Settings,
    keyring: Keyring,
    metrics: Metrics,
  })
  const { env } = settings
  const admit = admitting(keyring, settings)
  const take = slots(limiter, clock, random)
  let active = 0
  let draining = false

  const eraOf = (generation: Generation): Era => {
    const { settings } = generation
    const given = routes.map(({ needs, places }) => ({
      supplied: generation.supply(needs),
      most: typeof places?.most === 'function' ? places.most(settings) : places?.most,
    }))
    const pace = { clock, ...settings.timeouts }
    return { generation, settings, pace, count: counting(limiter, settings), crowd: crowding(take, settings), given }
  }
  let era: Era

  const report = (visit: Visit, thrown: unknown): void => {
    const error = known(thrown)
    if (error instanceof Aborted) return
    metrics.fault(error.name)
    log.error(
      'fault',
      { request: visit.about.id, route: visit.route && labelOf(visit.route), status: error.status },
      error.cause ?? error,
    )
  }

  const left = (visit: Visit, response: ServerResponse): void => {
    active--
    visit.era.generation.end()
    const status = response.writableFinished ? response.statusCode : 499
    const ms = clock.now() - visit.began
    const route = visit.route === null ? 'none' : labelOf(visit.route)
    metrics.ended(route, status, ms)
    log.info('request', { request: visit.about.id, route, status, ms, key: visit.key })
  }

  const koa = new Koa({ env })
  koa.on('error', (error) => log.error('http', {}, error))

  koa.use(async (ctx, next) => {
    const id = uuid7(clock, random)
    const headers = { 'x-request-id': id }
    const visit: Visit = { era, about: { env, id }, began: clock.now(), headers, route: null, key: null }
    ctx.state = visit
    active++
    era.generation.begin()
    metrics.began()
    unqueued(ctx.req, ctx.res)
    ctx.res.once('close', () => {
      // A body that was refused half-read would hold up the next request of its connection.
      if (!ctx.req.complete) ctx.req.resume()
      left(visit, ctx.res)
    })
    if (draining) visit.headers['connection'] = 'close'
    try {
      await next()
      if (visit.route === null) throw new NotFound(lost(ctx.path))
    } catch (thrown) {
      const error = known(thrown)
      if (error.status >= 500) report(visit, thrown)
      if (ctx.res.headersSent || ctx.res.destroyed) return void ctx.res.destroy()
      const { status, body } = (visit.route?.errors ?? errorEnvelope)(visit.about, error)
      Object.assign(visit.headers, retryHeaders(error), error instanceof TooMany && error.headers)
      await send(ctx, status, JSON.stringify(body), visit.era.pace)
    }
  })

  const router = new Router()
  // Paths without parameters, by name: the router tries every pattern and composes its steps anew for each request.
  const plain = new Map<string, (ctx: Koa.Context) => Promise<void>>()
  for (const [at, route] of routes.entries()) {
    const handle = serving({ admit, take, report }, route, at)
    const path = pathOf(route.path, settings)
    router.register(path, [route.method], handle)
    if (!path.includes(':')) plain.set(`${route.method} ${path}`, handle)
  }
  const routed = router.routes()
  koa.use((ctx, next) => {
    const handle = plain.get(`${ctx.method} ${ctx.path}`)
    return handle === undefined ? routed(ctx as never, next) : handle(ctx)
  })

  return {
    listener: koa.callback(),
    active: () => active,
    drain: () => {
      draining = true
    },
    prepared(generation) {
      const next = eraOf(generation)
      return () => void (era = next)
    },
  }
}

/** An answer that waits behind another on its connection has none yet, and is never told when that goes. */
const unqueued = (request: IncomingMessage, response: ServerResponse): void => {
  if (response.socket !== null) return
  const gone = () => {
    response.destroy()
    response.emit('close')
  }
  request.socket.once('close', gone)
  response.once('socket', () => request.socket.off('close', gone))
}

const pathOf = (path: string, settings: Settings): string => named(path, settings).replace(/\{(\w+)\}/g, ':$1')
