import * as v from 'valibot'
import { Container, type Fitting } from '../../container.ts'
import { inference } from '../../inference/inference.ts'
import { catalog } from '../../inference/models/catalog.ts'
import { plugin, use } from '../../plugin.ts'
import type { Cache } from '../../ports/cache.ts'
import type { Enclave } from '../../ports/enclave.ts'
import type { Guard } from '../../ports/guard.ts'
import type { Clock, Fetch, Log, Random } from '../../ports/platform.ts'
import type { Prover } from '../../ports/attester.ts'
import type { Reader } from '../../ports/reader.ts'
import type { Tool } from '../../ports/tool.ts'
import type { Upstream } from '../../ports/upstream.ts'
import { Settings, type SettingsInput, SettingsShape } from '../../settings.ts'
import { type InsideSettings, InsideShape } from '../../enclave-settings.ts'
import { sealedLength } from '../wire/file.ts'
import { enclave } from './enclave.ts'

/** The parts of the enclave: its own providers, tools and doors, and no part of the gateway. */
export interface EnclaveParts {
  readonly clock: Fitting<Clock>
  readonly random: Fitting<Random>
  readonly fetch: Fitting<Fetch>
  readonly log: Fitting<Log>
  readonly cache: Fitting<Cache>
  readonly prover: Fitting<Prover>
  readonly upstreams: readonly Fitting<Upstream>[]
  readonly tools: readonly Fitting<Tool>[]
  readonly readers: readonly Fitting<Reader>[]
  /** Guards of sealed chats, in their order; none when absent. */
  readonly guards?: readonly Fitting<Guard>[]
}

/**
 * Builds a complete enclave. Without named models, all models of its providers are served: the providers serve only the
 * enclave.
 */
export const buildEnclave = (
  enclaveParts: EnclaveParts,
  settings: SettingsInput,
  own: InsideSettings,
  releaseDigest: Uint8Array,
): Enclave => {
  const { timeouts, ...rest } = v.parse(SettingsShape, settings)
  // A sealed stream may be silent for as long as callers are promised.
  const checked = { ...rest, timeouts: { ...timeouts, idle: timeouts.sealedIdle } }
  const container = new Container()
  const fittings: readonly Fitting<unknown>[] = Object.values(enclaveParts).flat()
  for (const fitting of fittings) container.fit(fitting)
  container.fit(use(plugin({ port: Settings, name: 'settings', create: () => checked })))
  container.fit(use(catalog, { inside: true }))
  container.fit(use(inference))
  // The limit covers the sealed length: the content and the overhead of every chunk.
  const file = sealedLength(checked.bodies.file)
  const it = enclave(container, { ...v.parse(InsideShape, own), file, decision: timeouts.decision, releaseDigest })
  return { ...it, dispose: () => container.dispose() }
}
