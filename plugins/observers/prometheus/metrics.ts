import { AggregatorRegistry, Gauge, Registry } from 'prom-client'
import { one } from '../../../core/container.ts'
import { plugin } from '../../../core/plugin.ts'
import { Log } from '../../../core/ports/platform.ts'
import { Siblings } from '../../../core/ports/cluster.ts'
import { Observer } from '../../../core/ports/observer.ts'
import { countsIn, timesIn } from './rows.ts'

/** Labels are route patterns, statuses, class names and configured providers: never anything that a caller wrote. */
export interface Metrics {
  /** Others may register their own here. */
  readonly registry: Registry
  /** All of it, with what the siblings measured added, in the text form that Prometheus reads. */
  told(): Promise<string>
  /** Measures requests and backends. */
  readonly observer: Observer
}

export const Metrics = one<Metrics>('Metrics')

/** Seconds. */
const buckets = [0.005, 0.02, 0.1, 0.5, 2, 5, 10, 60, 300]

/** Histograms for Prometheus. Each process measures its own requests, and `told` adds up the siblings. */
export const metrics = plugin({
  port: Metrics,
  name: 'metrics',
  needs: { siblings: Siblings },
  create: ({ siblings }): Metrics => {
    const registry = new Registry()
    const requests = timesIn(
      registry,
      'sealgate_request_seconds',
      'Time from the head of a request to the last byte of its answer.',
      ['route', 'status'],
      buckets,
    )
    const backends = timesIn(
      registry,
      'sealgate_backend_seconds',
      'Time until a backend answered, or began to, or was known not to.',
      ['provider', 'outcome'],
      buckets,
    )
    let active = 0
    new Gauge({
      name: 'sealgate_requests_active',
      help: 'Requests under way.',
      registers: [registry],
      collect() {
        this.set(active)
      },
    })
    const counter = (name: string, help: string, ...names: readonly string[]) => countsIn(registry, name, help, names)
    const faults = counter('sealgate_faults_total', 'Faults by kind.', 'kind')
    const ways = counter(
      'sealgate_straight_total',
      'Chats that were answered straight, and those that went the long way, by the first reason.',
      ...['way', 'why'],
    )
    const limited = counter('sealgate_limited_total', 'Requests that were refused with 429, by the limit.', 'limit')
    const failovers = counter('sealgate_failovers_total', 'Backends that were asked after another one.', 'provider')
    const rescues = counter('sealgate_rescues_total', 'Backends that went on with a broken stream.', 'provider')
    return {
      registry,
      async told() {
        // Siblings may keep what this process has when they are asked; a later reading would show more, and fall later.
        const own = await registry.getMetricsAsJSON()
        const others = await siblings.measured()
        if (others.length === 0) return registry.metrics()
        return AggregatorRegistry.aggregate([own, ...others] as object[][]).metrics()
      },
      observer: {
        came: () => void active++,
        left(route, status, ms) {
          active--
          requests(ms / 1000, route, status)
        },
        went: (way, why) => ways(1, way, why),
        failed: (kind) => faults(1, kind),
        limited: (limit) => limited(1, limit),
        saw(provider, outcome, ms, _status, { cause }) {
          backends(ms / 1000, provider, outcome)
          if (cause === 'next') failovers(1, provider)
          if (cause === 'rescue') rescues(1, provider)
        },
      },
    }
  },
})

/** What is measured of requests and of backends. */
export const requestMetrics = plugin({
  port: Observer,
  name: 'metrics',
  needs: { metrics: Metrics },
  create: ({ metrics }): Observer => metrics.observer,
})

/** What an operator looks for when a backend fails, and another one may have answered in its place. */
export const loggingObserver = plugin({
  port: Observer,
  name: 'log',
  needs: { log: Log },
  create: ({ log }): Observer => ({
    saw(provider, outcome, ms, status, { model, request = null }) {
      if (outcome !== 'failed' && outcome !== 'broke') return
      log.warn('backend.failed', { request, provider, model, outcome, ms, status })
    },
  }),
})
