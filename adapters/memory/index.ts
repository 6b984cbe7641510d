import type { WholeAdapters } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import { catalog } from '../../plugins/shared/models/catalog.ts'
import { meter } from '../../plugins/usage/meter.ts'
import { drill } from '../drill/drill.ts'
import blobStore from './blob-store.ts'
import cache from './cache.ts'
import { enclaveWithin } from './enclave.ts'
import { errorLines, networkFetch } from './network.ts'
import { clock, fetch, log, random } from './platform.ts'
import metadataStore from './metadata-store.ts'
import { parts } from './parts.ts'
import rateLimiter from './rate-limiter.ts'
import { sections } from './sections.ts'
import { surfaces } from './surfaces.ts'
import { tools } from './tools.ts'

export type { ShippedSettings } from './sections.ts'

export interface MemoryOptions {
  /** Connects to the backends in `upstreams` over the network, and prints errors to standard error. */
  readonly network?: boolean
}

/**
 * Keeps everything in this process and uses no network unless `network` is true. An embedder overrides parts by object
 * spread.
 */
export const memory = ({ network = false }: MemoryOptions = {}): WholeAdapters => ({
  clock: use(clock),
  random: use(random),
  fetch: use(network ? networkFetch : fetch),
  log: use(network ? errorLines : log),
  cache: use(cache),
  rateLimiter: use(rateLimiter),
  catalog: use(catalog),
  meter: use(meter),
  enclave: enclaveWithin(),
  blobStore: use(blobStore),
  metadataStore: use(metadataStore),
  upstreams: [use(rehearsal, { decision: ['rehearsal-decision'], transcription: ['rehearsal-transcription'] })],
  tools,
  surfaces,
  sections,
  parts: [...parts, use(drill)],
})
