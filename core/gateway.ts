import type { RequestListener, Server } from 'node:http'
import * as v from 'valibot'
import { Keyring, keyring } from './access/keyring.ts'
import { Container, type Fitting } from './container.ts'
import { cabinet } from './files/cabinet.ts'
import { indexing } from './files/indexing.ts'
import { Sweep, sweep } from './files/sweep.ts'
import { app } from './http/app.ts'
import { documents } from './http/documents.ts'
import { metrics } from './http/metrics.ts'
import { inference } from './inference/attempt.ts'
import { catalog } from './inference/catalog.ts'
import { meter } from './inference/meter.ts'
import { serverFor } from './http/server.ts'
import { streams } from './http/streams.ts'
import { Lifecycle } from './lifecycle.ts'
import { flaw, plugin, use } from './plugin.ts'
import type { BlobStore } from './ports/blob-store.ts'
import type { Cache } from './ports/cache.ts'
import type { Enclave } from './ports/enclave.ts'
import { Clock, type Fetch, type Log, Random } from './ports/host.ts'
import type { MetadataStore } from './ports/metadata-store.ts'
import type { RateLimiter } from './ports/rate-limiter.ts'
import type { Tool } from './ports/tool.ts'
import type { Upstream } from './ports/upstream.ts'
import { lost } from './routes/lost.ts'
import { table } from './routes/table.ts'
import { Settings, type SettingsInput, SettingsShape } from './settings.ts'

/** A filling for every port: the compiler refuses an environment that forgot one. */
export interface Adapters {
  readonly clock: Fitting<Clock>
  readonly random: Fitting<Random>
  readonly fetch: Fitting<Fetch>
  readonly log: Fitting<Log>
  readonly cache: Fitting<Cache>
  readonly upstreams: readonly Fitting<Upstream>[]
  readonly enclave: Fitting<Enclave>
  readonly blobStore: Fitting<BlobStore>
  readonly metadataStore: Fitting<MetadataStore>
  readonly rateLimiter: Fitting<RateLimiter>
  readonly tools: readonly Fitting<Tool<any>>[]
}

export interface Gateway {
  /** For `http.createServer`, or behind any framework that hands over Node's own request and response. */
  readonly listener: RequestListener
  /** A server of our own around it, not yet listening: what Node itself refuses is answered in the envelope too. */
  server(): Server
  readonly keys: Keyring
  readonly sweep: Sweep
  /** Readiness turns; resolves when nothing is under way any more, or after `ms`, and says how many requests were left. */
  drain(ms: number): Promise<number>
  /** Closes what the adapters opened. Drain first. */
  close(): Promise<void>
}

export const createGateway = (adapters: Adapters, settings: SettingsInput = {}): Gateway => {
  const checked = v.safeParse(SettingsShape, settings)
  if (!checked.success) throw new Error(`settings: ${flaw(checked.issues[0])}`)
  const lifecycle: Lifecycle = { draining: false }

  const container = new Container()
  const fittings: readonly Fitting<any>[] = Object.values(adapters).flat()
  for (const fitting of fittings) container.fit(fitting)
  container.fit(use(plugin({ port: Settings, name: 'settings', create: () => checked.output })))
  container.fit(use(plugin({ port: Lifecycle, name: 'lifecycle', create: () => lifecycle })))
  const parts = [keyring, metrics, streams, catalog, inference, meter, cabinet, indexing, sweep]
  for (const part of parts) container.fit(use<any, any, any>(part))

  try {
    return assembled(container, checked.output, lifecycle)
  } catch (error) {
    void container.dispose().catch(() => undefined)
    throw error
  }
}

const assembled = (container: Container, settings: Settings, lifecycle: Lifecycle): Gateway => {
  const routes = table(settings.surfaces)
  const served = app([...routes, ...documents(routes, settings)], container, (path) => lost(path, settings))
  const { keys, clock, random, sweep } = container.supply({ keys: Keyring, clock: Clock, random: Random, sweep: Sweep })

  return {
    listener: served.listener,
    server: () => serverFor(served.listener, settings.env, clock, random),
    keys,
    sweep,
    async drain(ms) {
      lifecycle.draining = true
      served.drain()
      for (const until = clock.now() + ms; served.active() > 0 && clock.now() < until;) await clock.sleep(20)
      return served.active()
    },
    close: () => container.dispose(),
  }
}
