import * as v from 'valibot'
import { Container, type Fitting } from '../../../core/container.ts'
import { inference } from '../../../core/inference/inference.ts'
import { catalog } from '../../shared/models/catalog.ts'
import { plugin, use } from '../../../core/plugin.ts'
import type { Cache } from '../../../core/ports/cache.ts'
import type { Enclave } from '../../../core/ports/enclave.ts'
import type { Guard } from '../../../core/ports/guard.ts'
import type { Clock, Fetch, Log, Random } from '../../../core/ports/platform.ts'
import type { Prover } from '../../../core/ports/attester.ts'
import type { Reader } from '../../../core/ports/reader.ts'
import type { Tool } from '../../../core/ports/tool.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'
import { Settings, type SettingsInput, SettingsShape, modelsWith, sorted } from '../../../core/settings.ts'
import { type InsideSettings, InsideShape } from '../enclave-settings.ts'
import { sealedLength } from '../wire/file.ts'
import { decisionSettings } from '../../shared/decisions/settings.ts'
import { priceSettings } from '../../shared/prices.ts'
import { rulesSettings } from '../../shared/rules/settings.ts'
import { enclave } from './enclave.ts'

/** What has rows or members among the models of a configuration. */
const sections = [rulesSettings, decisionSettings, priceSettings]

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
  // Settings of the gateway's plugins concern no enclave.
  const shape = v.object({ ...SettingsShape.entries, models: modelsWith(sections) })
  const { timeouts, ...rest } = sorted(v.parse(shape, settings) as Settings, sections)
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
  const made = enclave(container, { ...v.parse(InsideShape, own), file, decision: timeouts.decision, releaseDigest })
  return { ...made, dispose: () => container.dispose() }
}
