import type { Fitting } from './container.ts'
import type { Renewable } from './generations/generation.ts'
import type { Middleware } from './http/middleware.ts'
import type { Meter } from './inference/metering/meter.ts'
import type { Catalog } from './inference/models/catalog.ts'
import type { BlobStore } from './ports/blob-store.ts'
import type { Cache } from './ports/cache.ts'
import type { Siblings } from './ports/cluster.ts'
import type { MetadataStore } from './ports/metadata-store.ts'
import type { Clock, Fetch, Log, Random } from './ports/platform.ts'
import type { RateLimiter } from './ports/rate-limiter.ts'
import type { Section } from './ports/section.ts'
import type { Surface } from './ports/surface.ts'
import type { SettingsInput } from './settings.ts'

export type { EnclaveAround } from './generations/generation.ts'

/** A filling for every port of the core: the compiler refuses an environment that forgot one. */
export interface Adapters extends Renewable {
  readonly clock: Fitting<Clock>
  readonly random: Fitting<Random>
  readonly fetch: Fitting<Fetch>
  readonly log: Fitting<Log>
  readonly cache: Fitting<Cache>
  readonly blobStore: Fitting<BlobStore>
  readonly metadataStore: Fitting<MetadataStore>
  readonly rateLimiter: Fitting<RateLimiter>
  /** The models of all backends; made anew by a reload. */
  readonly catalog: Fitting<Catalog>
  /** What calls may use, and what they used; made anew by a reload. */
  readonly meter: Fitting<Meter>
  /** What the gateway can do beyond the core, in its order: the last part of a port of one fills the port. None when absent. */
  readonly parts?: readonly Fitting<unknown>[]
  /** Doors to callers; none when absent. The setting `surfaces` says which of them are served. */
  readonly surfaces?: readonly Fitting<Surface>[]
  /** Koa middleware around every route; none when absent. */
  readonly middleware?: readonly Middleware[]
  /** Settings of plugins that may be absent: the settings may have them all the same. None when absent. */
  readonly sections?: readonly Section[]
  /** What the second argument of `createGateway` takes, where that is absent. */
  readonly settings?: SettingsInput
  /** None when absent. */
  readonly siblings?: Fitting<Siblings>
}

/** Adapters with their surfaces and parts. */
export type WholeAdapters = Adapters & Required<Pick<Adapters, 'surfaces' | 'parts'>>
