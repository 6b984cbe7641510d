import type { Adapters } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import blobStore from './blob-store.ts'
import cache from './cache.ts'
import enclave from './enclave.ts'
import { errorLines, networkFetch } from './network.ts'
import { clock, fetch, log, random } from './platform.ts'
import metadataStore from './metadata-store.ts'
import rateLimiter from './rate-limiter.ts'
import { tools } from './tools.ts'

export interface MemoryOptions {
  /** Backends that are given as `upstreams` are reached over the network, and what goes wrong is told on standard error. */
  readonly network?: boolean
}

/** Everything in this process, and nothing on the network unless it is asked for: override what you like by object spread. */
export const memory = ({ network = false }: MemoryOptions = {}): Adapters => ({
  clock: use(clock),
  random: use(random),
  fetch: use(network ? networkFetch : fetch),
  log: use(network ? errorLines : log),
  cache: use(cache),
  rateLimiter: use(rateLimiter),
  enclave: use(enclave),
  blobStore: use(blobStore),
  metadataStore: use(metadataStore),
  upstreams: [use(rehearsal)],
  tools,
})
