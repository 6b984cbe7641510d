import type { Adapters } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import blobStore from './blob-store.ts'
import cache from './cache.ts'
import enclave from './enclave.ts'
import { clock, fetch, log, random } from './platform.ts'
import metadataStore from './metadata-store.ts'
import rateLimiter from './rate-limiter.ts'
import { tools } from './tools.ts'

/** Everything in this process, nothing on the network: override what you like by object spread. */
export const memory = (): Adapters => ({
  clock: use(clock),
  random: use(random),
  fetch: use(fetch),
  log: use(log),
  cache: use(cache),
  rateLimiter: use(rateLimiter),
  enclave: use(enclave),
  blobStore: use(blobStore),
  metadataStore: use(metadataStore),
  upstreams: [use(rehearsal)],
  tools,
})
