import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { one } from '../container.ts'
import { plugin } from '../plugin.ts'
import { Log } from '../ports/platform.ts'
import { Siblings } from '../ports/cluster.ts'
import { BackendObserver } from '../ports/backend-observer.ts'

/** Labels are route patterns, statuses, class names and configured providers: never anything that a caller wrote. */
export interface Metrics extends BackendObserver {
  /** Others may register their own here. */
  readonly registry: Registry
  /** All of it, with what the siblings measured added, in the text form that Prometheus reads. */
  told(): Promise<string>
  /** Called once for each request, always before its `ended`. */
  began(): void
  /** `status` is 499 where the client left before its answer was written. */
  ended(route: string, status: number, ms: number): void
  /** `kind` is the name of an error's class. */
  fault(kind: string): void
}

/** The port of the metrics. */
export const Metrics = one<Metrics>('Metrics')

/** A process without siblings. */
export const withoutSiblings = plugin({ port: Siblings, name: 'alone', create: () => ({ measured: async () => [] }) })

/** Seconds. */
const buckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300]

/** Histograms for Prometheus. Each process measures its own requests, and `told` adds up the siblings. */
export const metrics = plugin({
  port: Metrics,
  name: 'metrics',
  needs: { siblings: Siblings },
  create: ({ siblings }): Metrics => {
    const registry = new Registry()
    const registers = [registry]
    const times = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
      new Histogram({ name, help, labelNames, buckets, registers })
    const requests = times(
      'sealgate_request_seconds',
      'Time from the head of a request to the last byte of its answer.',
      ['route', 'status'],
    )
    const backends = times(
      'sealgate_backend_seconds',
      'Time until a backend answered, or began to, or was known not to.',
      ['provider', 'outcome'],
    )
    const active = new Gauge({ name: 'sealgate_requests_active', help: 'Requests under way.', registers })
    const faults = new Counter({
      name: 'sealgate_faults_total',
      help: 'Faults by kind.',
      labelNames: ['kind'],
      registers,
    })
    return {
      registry,
      async told() {
        const others = await siblings.measured()
        if (others.length === 0) return registry.metrics()
        const all = [await registry.getMetricsAsJSON(), ...others]
        return AggregatorRegistry.aggregate(all as object[][]).metrics()
      },
      began: () => active.inc(),
      ended(route, status, ms) {
        active.dec()
        requests.observe({ route, status }, ms / 1000)
      },
      fault: (kind) => faults.inc({ kind }),
      saw: (provider, outcome, ms) => backends.observe({ provider, outcome }, ms / 1000),
    }
  },
})

/** What is measured of backends. */
export const measuringObserver = plugin({
  port: BackendObserver,
  name: 'metrics',
  needs: { metrics: Metrics },
  create: ({ metrics }) => metrics,
})

/** What an operator looks for when a backend fails, and another one may have answered in its place. */
export const loggingObserver = plugin({
  port: BackendObserver,
  name: 'log',
  needs: { log: Log },
  create: ({ log }): BackendObserver => ({
    saw(provider, outcome, ms, status) {
      if (outcome === 'failed' || outcome === 'broke') log.warn('backend.failed', { provider, outcome, ms, status })
    },
  }),
})
