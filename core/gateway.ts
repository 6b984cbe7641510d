import type { RequestListener, Server } from 'node:http'
import { Audit, audit } from './access/audit.ts'
import { ConsoleSessions, consoleSessions } from './access/console-sessions.ts'
import { issuerKeys } from './access/issuer-keys.ts'
import { keepsakes } from './access/keepsakes.ts'
import { Keyring, keyring } from './access/keyring.ts'
import { Container, type Fitting } from './container.ts'
import { Sweep, sweep } from './files/sweep.ts'
import { GatewayError } from './errors.ts'
import type { Renewable } from './generations/generation.ts'
import { checkedSettings, generations } from './generations/generations.ts'
import { type App, app } from './http/app.ts'
import { describeInterface } from './http/api-docs.ts'
import type { FetchRequest } from './http/fetch.ts'
import { Metrics, withoutSiblings, metrics, loggingObserver, measuringObserver } from './http/metrics.ts'
import type { Reference } from './http/reference.ts'
import { usageMetrics } from './http/usage-metrics.ts'
import type { PriceCheck } from './inference/metering/prices-check.ts'
import { Backends, answerOfBackends } from './inference/backends/backends.ts'
import { backendRecords, recordingObserver, recordingUsage } from './inference/backends/records.ts'
import { budgetWebhook } from './inference/metering/budget-webhook.ts'
import { Catalog } from './inference/models/catalog.ts'
import type { CalibrationQuestion } from './inference/decisions/uncalibrated.ts'
import { proofMetrics } from './http/proof-metrics.ts'
import { ledger } from './inference/metering/ledger.ts'
import { withoutJournal } from './inference/metering/without-journal.ts'
import { type UsageRow, usages } from './inference/metering/usage-rows.ts'
import { type UsageQuestion, type UsageSum, UsageSums, usageSums } from './inference/metering/usage-sums.ts'
import type { Middleware } from './http/middleware.ts'
import { withoutPrefix } from './http/prefix.ts'
import { serverFor } from './http/server.ts'
import { streams } from './http/stream-slot.ts'
import { lazy } from './lazy.ts'
import { withoutConfiguration, withoutDrill } from './left-out-adapters.ts'
import { Lifecycle } from './lifecycle.ts'
import { live } from './live/live.ts'
import { CurrentTrace, currentTrace } from './live/following.ts'
import { type AnyPlugin, plugin, use } from './plugin.ts'
import type { BlobStore } from './ports/blob-store.ts'
import { Clock, type Fetch, Log, Random } from './ports/platform.ts'
import type { Cache } from './ports/cache.ts'
import type { Configuration } from './ports/configuration.ts'
import type { Drill } from './ports/drill.ts'
import type { UsageJournal } from './ports/usage-journal.ts'
import { MetadataStore, type Query, type Row } from './ports/metadata-store.ts'
import type { RateLimiter } from './ports/rate-limiter.ts'
import { Siblings } from './ports/cluster.ts'
import { Surface } from './ports/surface.ts'
import type { Tool } from './ports/tool.ts'
import { type Again, type Renew, Reload, reloading } from './generations/reload.ts'
import { notFoundHint } from './routes/not-found-hint.ts'
import { doorsOf } from './routes/all.ts'
import { refuseClashes, refuseOpenRoutes } from './routes/doors.ts'
import { type Served, servedOf } from './routes/served.ts'
import { Settings, type SettingsInput } from './settings.ts'
import type { Survey } from './survey.ts'

const web = lazy(() => import('./http/fetch.ts'))
const pricing = lazy(() => import('./inference/metering/prices-check.ts'))
const calibrating = lazy(() => import('./inference/decisions/uncalibrated.ts'))
const surveying = lazy(() => import('./survey.ts'))

/** A filling for every port: the compiler refuses an environment that forgot one. */
export interface Adapters extends Renewable {
  readonly clock: Fitting<Clock>
  readonly random: Fitting<Random>
  readonly fetch: Fitting<Fetch>
  readonly log: Fitting<Log>
  readonly cache: Fitting<Cache>
  readonly blobStore: Fitting<BlobStore>
  readonly metadataStore: Fitting<MetadataStore>
  readonly rateLimiter: Fitting<RateLimiter>
  /** Doors beyond the interface's own chapters; none when absent. The setting `surfaces` says which of them are served. */
  readonly surfaces?: readonly Fitting<Surface>[]
  /** Koa middleware around every route; none when absent. */
  readonly middleware?: readonly Middleware[]
  /** What the second argument of `createGateway` takes, where that is absent. */
  readonly settings?: SettingsInput
  /** None when absent. */
  readonly siblings?: Fitting<Siblings>
  /** Keeps counts of killed processes; when absent, they are lost with the last second. */
  readonly usageJournal?: Fitting<UsageJournal>
  /** Plays faults of backends for operators; when absent, `POST /admin/drill` says that this deployment is not set up for it. */
  readonly drill?: Fitting<Drill>
  /** Shows operators the configuration; when absent, `GET /admin/configuration` says that this deployment is not set up for it. */
  readonly configuration?: Fitting<Configuration>
}

/** Adapters of every kind of plugin. */
export type WholeAdapters = Adapters & { readonly surfaces: readonly Fitting<Surface>[] }

/** A started gateway: its parts stay the same objects through every reload of the configuration. */
export interface Gateway {
  /** Names of the chapters and surfaces that are served. */
  readonly surfaces: readonly string[]
  /** For `http.createServer`, or behind any framework that hands over Node's own request and response. */
  readonly listener: RequestListener
  /** The same without Node's server: for frameworks of the web's own requests, and for tests that need no port. */
  readonly fetch: FetchRequest
  /** A server of our own around it, not yet listening: what Node itself refuses is answered in the envelope too. */
  server(): Server
  readonly keys: Keyring
  /** Makes links that open the console once. */
  readonly consoleSessions: Pick<ConsoleSessions, 'link'>
  readonly audit: Audit
  readonly sweep: Sweep
  /** What `again` does, with its row in the audit. */
  readonly reload: Reload
  readonly renew: Renew
  /** Of every served model and its backends, whether the price is known. */
  prices(signal: AbortSignal): Promise<PriceCheck>
  /** A model's probabilities for one question, before its calibration and on nobody's bill. */
  opinion(inquiry: CalibrationQuestion, signal: AbortSignal): Promise<readonly number[]>
  readonly metrics: Metrics
  /** What keys used, as the store has it. */
  usage(query: Query<UsageRow>): Promise<{ readonly rows: readonly Row<UsageRow>[]; readonly total: number }>
  /** Sums of what keys used. Throws Overdue where the rows are too many for its time. */
  usageSums(question: UsageQuestion): Promise<readonly UsageSum[]>
  /** What it stands on, asked now: backends with their models or their faults, and the enclave's kind of evidence. */
  survey(signal: AbortSignal): Promise<Survey>
  /** Readiness is 503 until the function that this gives is called. */
  hold(): () => void
  /** Readiness turns; resolves when nothing is under way any more, or after `ms`, and says how many requests were left. */
  drain(ms: number): Promise<number>
  /** Closes what the adapters opened. Drain first. */
  close(): Promise<void>
}

/** Makes a gateway. `again` reads the gateway's configuration anew when a caller asks for a reload. */
export const createGateway = (
  adapters: Adapters,
  settings: SettingsInput = adapters.settings ?? {},
  again: Again | null = null,
): Gateway => {
  const checked = checkedSettings(settings)
  const base = new Container()
  try {
    return assembled(base, adapters, checked, again)
  } catch (error) {
    void base.dispose().catch(() => undefined)
    throw error
  }
}

const traces = plugin({ port: CurrentTrace, name: 'live', create: () => currentTrace })

/** The parts of the gateway itself, which stay through every reload. */
const ownParts: readonly AnyPlugin[] = [
  keyring,
  consoleSessions,
  issuerKeys,
  keepsakes,
  audit,
  metrics,
  measuringObserver,
  loggingObserver,
  usageMetrics,
  budgetWebhook,
  proofMetrics,
  streams,
  live,
  traces,
  backendRecords,
  recordingObserver,
  recordingUsage,
  ledger,
  usageSums,
  sweep,
]

const fitParts = (
  base: Container,
  lasting: readonly Fitting<unknown>[],
  settings: Settings,
  lifecycle: Lifecycle,
  again: Again | null,
): void => {
  const reloads = plugin({
    port: Reload,
    name: 'reload',
    needs: { audit: Audit, log: Log },
    create: ({ audit, log }) => reloading(again, audit, log),
  })
  for (const fitting of lasting) base.fit(fitting)
  base.fit(use(plugin({ port: Settings, name: 'settings', create: () => settings })))
  base.fit(use(plugin({ port: Lifecycle, name: 'lifecycle', create: () => lifecycle })))
  for (const part of ownParts) base.fit(use(part))
  base.fit(use(reloads))
}

const assembled = (base: Container, adapters: Adapters, settings: Settings, again: Again | null): Gateway => {
  const {
    upstreams,
    enclave,
    tools,
    guards = [],
    surfaces = [],
    middleware = [],
    settings: _,
    ...lasting
  } = {
    siblings: use(withoutSiblings),
    usageJournal: use(withoutJournal),
    drill: use(withoutDrill),
    configuration: use(withoutConfiguration),
    ...adapters,
  }
  const { lifecycle, ...stages } = stagesOf()
  fitParts(base, Object.values(lasting), settings, lifecycle, again)
  const { names, routes, documented } = interfaceOf(base, surfaces, settings)
  const served = app([...routes, ...documented], base, notFoundHint(routes, settings), middleware)
  const eras = generations(base, { upstreams, enclave, tools, guards }, settings, served.prepared)
  const { siblings } = base.supply({ siblings: Siblings })
  answerOfBackends(siblings, () => eras.supply({ backends: Backends }).backends, lifecycle.closing)
  const shown = base.supply({
    ...{ keys: Keyring, consoleSessions: ConsoleSessions, audit: Audit },
    ...{ sweep: Sweep, reload: Reload, metrics: Metrics },
  })
  const listener = withoutPrefix(settings.prefix, served.listener)
  const fetching = lazy(async () => (await web()).fetchOf(listener))
  const { clock, random, log, rows } = base.supply({ clock: Clock, random: Random, log: Log, rows: MetadataStore })

  return {
    ...shown,
    surfaces: names,
    renew: eras.renew,
    async prices(signal) {
      const { supply, settings } = eras.current()
      const { catalog } = supply({ catalog: Catalog })
      return (await pricing()).pricesOf(await catalog.list(signal), settings)
    },
    async opinion(inquiry, signal) {
      const { calibrationNeeds, uncalibrated } = await calibrating()
      return uncalibrated(eras.current().supply(calibrationNeeds), inquiry, signal)
    },
    usage: (query) => rows.list(usages, query),
    usageSums: (question) => base.supply({ sums: UsageSums }).sums.ask(question),
    survey: async (signal) => (await surveying()).survey(eras.supply, log, signal),
    listener,
    fetch: async (request, options) => (await fetching())(request, options),
    server: () => serverFor(listener, settings, clock, random),
    hold: () => holding(lifecycle),
    drain: (ms) => drained(stages.drain, served, clock, ms),
    async close() {
      stages.close()
      await eras.dispose().finally(() => base.dispose())
    },
  }
}

/** The routes of the chapters and surfaces that are asked for. Throws when two have one path, or a route has no access. */
const interfaceOf = (base: Container, given: readonly Fitting<Surface>[], settings: Settings) => {
  const served = surfacesOf(base, given, settings)
  const doors = doorsOf(served)
  const routes = doors.flatMap(({ routes }) => routes)
  const documented = describeInterface(routes, settings, referenceWith(served))
  refuseOpenRoutes(doors)
  refuseClashes([...doors, { name: 'docs', routes: documented }], settings)
  return { names: served.names, routes, documented }
}

/** Makes the surfaces that are given. They stay through every reload. */
const surfacesOf = (base: Container, fittings: readonly Fitting<Surface>[], { surfaces: asked }: Settings): Served => {
  for (const fitting of fittings) base.fit(fitting)
  const { surfaces } = base.supply({ surfaces: Surface })
  return servedOf(
    asked,
    surfaces.map((surface, at) => ({ label: fittings[at]?.name ?? surface.name, surface })),
  )
}

/** The reference is loaded with the first look at it. */
const referenceWith =
  ({ surfaces }: Served) =>
  async (tools: readonly Tool[]): Promise<Reference> => {
    const [{ referenceOf }, ...chapters] = await Promise.all([
      import('./routes/reference/all.ts'),
      ...[...surfaces.values()].map((it) => it.chapter()),
    ])
    return referenceOf(tools, chapters)
  }

/** The life of a gateway, and what leads it to its end. */
const stagesOf = () => {
  const [draining, closing] = [new AbortController(), new AbortController()]
  const lifecycle: Lifecycle = { draining: draining.signal, held: 0, closing: closing.signal }
  return {
    lifecycle,
    drain: () => draining.abort(new GatewayError()),
    close: () => closing.abort(new GatewayError()),
  }
}

const holding = (lifecycle: Lifecycle): (() => void) => {
  let held = true
  lifecycle.held++
  return () => {
    if (held) lifecycle.held--
    held = false
  }
}

const drained = async (begin: () => void, served: App, clock: Clock, ms: number): Promise<number> => {
  begin()
  served.drain()
  for (const until = clock.now() + ms; served.active() > 0 && clock.now() < until;) await clock.sleep(20)
  return served.active()
}
