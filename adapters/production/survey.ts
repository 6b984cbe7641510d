import { setMaxListeners } from 'node:events'
import { unlessAborted } from '../../core/abort.ts'
import { keys } from '../../core/access/key-row.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import { MetadataStore } from '../../core/ports/metadata-store.ts'
import { type Model, Upstream } from '../../core/ports/upstream.ts'
import type { Container } from '../../core/container.ts'
import { statusOf } from '../../core/inference/routing/attempt.ts'
import { Log } from '../../core/ports/platform.ts'
import { Settings } from '../../core/settings.ts'

/** A backend, asked just now. */
export interface Surveyed {
  readonly name: string
  /** What it lists; null when it can't be asked. */
  readonly models: readonly Model[] | null
  /** Why it can't be asked; null when it can. */
  readonly fault: unknown
  /** True when it asks no model. */
  readonly pretends: boolean
}

/** What a gateway stands on at this moment. */
export interface Survey {
  readonly backends: readonly Surveyed[]
  /** The names that callers send, with their types; sorted where the backends' own lists are served. */
  readonly models: readonly { readonly name: string; readonly type: Model['type'] }[]
  /** The kind of evidence that the enclave gives; null when it gives none. */
  readonly evidence: string | null
  readonly enclaveFault: unknown
  /** Why rows and blobs can't be read; null where they can. */
  readonly stores: { readonly metadata: unknown; readonly blobs: unknown }
}

/**
 * Asks every backend for its list and the enclave for its keys. Silence until the signal fires is the fault of the silent
 * one. A backend that refuses its key is logged.
 */
export const survey = async (supply: Container['supply'], signal: AbortSignal): Promise<Survey> => {
  // Every backend listens, which Node takes for a leak from the eleventh on.
  setMaxListeners(0, signal)
  const { upstreams, enclave, settings, rows, blobs, log } = supply({
    log: Log,
    upstreams: Upstream,
    enclave: Enclave,
    settings: Settings,
    rows: MetadataStore,
    blobs: BlobStore,
  })
  const [backends, keyset, metadata, content] = await Promise.all([
    Promise.all(upstreams.map((upstream) => look(upstream, signal))),
    settled(() => enclave.keys(), signal),
    settled(() => rows.get(keys, 'survey'), signal),
    settled(() => blobs.get('survey', null, signal), signal),
  ])
  for (const { name, fault } of backends) {
    const status = statusOf(fault)
    if (status !== null && refusals.has(status)) log.error('provider.refused', { provider: name, status }, fault)
  }
  return {
    backends,
    models: namedIn(settings) ?? listedBy(backends),
    evidence: keyset.value?.evidence.type ?? null,
    enclaveFault: keyset.fault,
    stores: { metadata: metadata.fault, blobs: content.fault },
  }
}

/** Statuses by which a backend refuses its key. */
const refusals: ReadonlySet<number> = new Set([401, 402, 403])

const look = async (upstream: Upstream, signal: AbortSignal): Promise<Surveyed> => {
  const { value, fault } = await settled(() => upstream.models(signal), signal)
  return { name: upstream.name, models: value, fault, pretends: upstream.pretends ?? false }
}

const settled = async <T>(ask: () => Promise<T>, signal: AbortSignal) => {
  try {
    return { value: await unlessAborted(ask(), signal), fault: null }
  } catch (fault) {
    return { value: null, fault }
  }
}

const namedIn = ({ models }: Settings): Survey['models'] | null => {
  const named = Object.entries(models)
  return named.length === 0 ? null : named.map(([name, { type }]) => ({ name, type }))
}

const listedBy = (backends: readonly Surveyed[]): Survey['models'] => {
  const found = new Map(backends.flatMap(({ models }) => models ?? []).map(({ id, type }) => [id, type]))
  return [...found].map(([name, type]) => ({ name, type })).sort((one, other) => (one.name < other.name ? -1 : 1))
}
