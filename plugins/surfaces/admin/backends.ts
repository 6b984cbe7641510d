import { Gauge } from 'prom-client'
import { unlessAborted } from '../../../core/abort.ts'
import { withDeadline } from '../../shared/stop-with.ts'
import { one } from '../../../core/container.ts'
import { NotFound } from '../../../core/errors.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { CurrentGeneration } from '../../../core/generations/current.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { Started } from '../../../core/ports/started.ts'
import { Cache } from '../../../core/ports/cache.ts'
import { Siblings } from '../../../core/ports/cluster.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { Metrics } from '../../observers/prometheus/metrics.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import { Inference } from '../../../core/inference/inference.ts'
import type { BreakerState } from '../../../core/inference/routing/breaker.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import type { Candidate } from '../../../core/inference/models/catalog-entry.ts'
import { keepModels, listedAt } from '../../shared/models/provider-lists.ts'
import { statusOf } from '../../../core/inference/routing/attempt.ts'
import type { BackendState, SeenBackend } from './merged.ts'
import { BackendRecords, type FaultKind, faultOf } from './records.ts'

const merging = lazy(() => import('./merged.ts'))

/** An answer to the question for a backend's list. */
export interface Asked {
  /** Ms until the answer, or until the fault was known. */
  readonly ms: number
  /** Null where the backend did not answer. */
  readonly models: number | null
  /** Null where it did. */
  readonly fault: FaultKind | null
}

/** An order to every process: calls rest for so many ms, or are let in again where there is no rest. */
export interface RestOrder {
  readonly backend: string
  readonly rest: number | null
}

/** The backends of this side of the enclave's wall, and what operators do with them. Acts throw NotFound for an unknown name. */
export interface Backends {
  /** As all processes see them; `processes` is their number. */
  states(signal: AbortSignal): Promise<{ readonly processes: number; readonly backends: readonly BackendState[] }>
  /** Reads its list of models, which is kept. */
  ask(name: string, signal: AbortSignal): Promise<Asked>
  /** Gives the number of processes that keep to it. */
  order(order: RestOrder, signal: AbortSignal): Promise<number>
  /** As this process sees them. */
  seen(signal: AbortSignal): Promise<readonly SeenBackend[]>
  /** In this process alone. */
  keepTo(order: RestOrder, signal: AbortSignal): Promise<void>
}

export const Backends = one<Backends>('Backends')

/** Ms after which a backend that does not list its models is taken to be away. */
const patienceMs = 5_000

/** Acts reach sibling processes through `answerOfBackends`; a process alone counts as one. */
export const backends = plugin({
  port: Backends,
  name: 'backends',
  renewed: true,
  needs: {
    upstreams: Upstream,
    catalog: Catalog,
    inference: Inference,
    records: BackendRecords,
    cache: Cache,
    clock: Clock,
    siblings: Siblings,
  },
  create: ({ upstreams, catalog, inference: { breakers }, records, cache, clock, siblings }): Backends => {
    const found = (name: string): Upstream => {
      const known = upstreams.find((upstream) => upstream.name === name)
      if (known === undefined) throw new NotFound('No such backend')
      return known
    }
    /** Each backend's model once, however many of the models name it. */
    const candidates = async (signal: AbortSignal): Promise<readonly Candidate[]> => {
      const all = (await catalog.list(signal)).flatMap(({ candidates }) => candidates)
      return [...new Map(all.map((candidate) => [candidate.id, candidate])).values()]
    }
    const openOf = (name: string, all: readonly Candidate[], now: number): SeenBackend['breakers'] =>
      all.flatMap(({ id, provider, model }) => {
        const breaker = provider === name ? breakers.known(id) : null
        const state = breaker?.state(now) ?? 'closed'
        return breaker === null || state === 'closed' ? [] : [{ model, state, rest: breaker.rest(now) }]
      })

    const seen = async (signal: AbortSignal): Promise<readonly SeenBackend[]> => {
      const all = await candidates(signal)
      const now = clock.now()
      return Promise.all(
        upstreams.map(async ({ name }) => ({
          name,
          ...records.of(name),
          breakers: openOf(name, all, now),
          listed: await listedAt(cache, name),
        })),
      )
    }

    const keepTo = async ({ backend, rest }: RestOrder, signal: AbortSignal): Promise<void> => {
      const now = clock.now()
      for (const { id, provider } of await candidates(signal)) {
        if (provider !== backend) continue
        if (rest === null) breakers.known(id)?.wake()
        else breakers.of(id).hold(now, rest)
      }
    }

    return {
      seen,
      keepTo,
      async states(signal) {
        const { mergedState } = await merging()
        const own = await seen(signal)
        const others = ((await siblings.ask?.('backends.seen', null)) ?? []) as readonly (readonly SeenBackend[])[]
        const all = [own, ...others].flat()
        const names = own.map(({ name }) => name)
        return {
          processes: 1 + others.length,
          backends: names.map((name) =>
            mergedState(
              name,
              all.filter((seen) => seen.name === name),
            ),
          ),
        }
      },
      async ask(name, signal) {
        const upstream = found(name)
        const began = clock.now()
        const within = withDeadline(clock, patienceMs, signal, () => new Error('No list of models in time'))
        try {
          const models = await unlessAborted(upstream.models(within.signal), within.signal)
          await keepModels(cache, clock, name, models)
          return { ms: clock.now() - began, models: models.length, fault: null }
        } catch (fault) {
          signal.throwIfAborted()
          const kind = faultOf({ outcome: 'failed', status: statusOf(fault) })
          return { ms: clock.now() - began, models: null, fault: kind }
        } finally {
          within.off()
        }
      },
      async order(order, signal) {
        found(order.backend)
        await keepTo(order, signal)
        return 1 + ((await siblings.ask?.('backends.order', order)) ?? []).length
      },
    }
  },
})

/** Breakers by their states, as metrics tell them. */
const levels: Readonly<Record<BreakerState, number>> = { closed: 0, half_open: 1, open: 2 }

/** Other processes learn what this one sees of its backends, and have it keep to their orders. */
export const backendAnswers = plugin({
  port: Started,
  name: 'backends',
  needs: { siblings: Siblings, current: CurrentGeneration, lifecycle: Lifecycle, metrics: Metrics, clock: Clock },
  create({ siblings, current, lifecycle: { closing }, metrics: { registry }, clock }): Started {
    const openOf = (): ReadonlyMap<string, number> => {
      const { upstreams, inference } = current.supply({ upstreams: Upstream, inference: Inference })
      const open = new Map(upstreams.map(({ name }) => [name, 0]))
      for (const id of inference.breakers.ids()) {
        const [name = ''] = id.split('/', 1)
        const isOpen = inference.breakers.known(id)?.state(clock.now()) !== 'closed'
        open.set(name, (open.get(name) ?? 0) + Number(isOpen))
      }
      return open
    }
    new Gauge({
      name: 'sealgate_breakers_open',
      help: 'Models of a backend that get no calls, or a single one, because calls failed.',
      labelNames: ['provider'],
      aggregator: 'max',
      registers: [registry],
      collect() {
        this.reset()
        for (const [provider, open] of openOf()) this.set({ provider }, open)
      },
    })
    new Gauge({
      name: 'sealgate_breaker_state',
      help: 'What calls of a backend and its model meet: 0 they go, 1 a single one tries, 2 none goes.',
      labelNames: ['provider', 'model'],
      aggregator: 'max',
      registers: [registry],
      collect() {
        this.reset()
        const { breakers } = current.supply({ inference: Inference }).inference
        for (const id of breakers.ids()) {
          const [provider = '', ...model] = id.split('/')
          const state = breakers.known(id)?.state(clock.now()) ?? 'closed'
          this.set({ provider, model: model.join('/') }, levels[state])
        }
      },
    })
    const own = () => current.supply({ backends: Backends }).backends
    siblings.answer?.('backends.seen', () => own().seen(closing))
    siblings.answer?.('backends.order', (order) => own().keepTo(order as RestOrder, closing))
    return {}
  },
})
