import type { Test } from 'tap'
import cache from '../../adapters/memory/cache.ts'
import { clock, log, random } from '../../adapters/memory/platform.ts'
import { memory } from '../../adapters/memory/index.ts'
import { fetch as doors } from '../../adapters/production/platform.ts'
import type { Fitting } from '../../core/container.ts'
import { plugin, use } from '../../core/plugin.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import type { Guard } from '../../core/ports/guard.ts'
import type { Upstream } from '../../core/ports/upstream.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { buildEnclave } from '../../plugins/sealed/enclave/assemble.ts'
import dev from '../../plugins/evidence/dev.ts'
import { running, unhurried, type Running } from '../environments.ts'
import { own, upstreamsAt, type Behind } from './doors.ts'
import type { Asked, Recorded, Take } from './recorded.ts'
import { backend } from '../contracts/stage.ts'

/** An enclave of these backends in this process. */
export const enclaveOf = (
  upstreams: readonly Fitting<Upstream>[],
  settings: SettingsInput,
  guards: readonly Fitting<Guard>[] = [],
) => {
  const parts = {
    ...{ clock: use(clock), random: use(random), fetch: use(doors), log: use(log), cache: use(cache) },
    ...{ prover: use(dev), upstreams, tools: [], readers: [], guards },
  }
  const create = () => buildEnclave(parts, structuredClone(settings), {}, new Uint8Array(32))
  return use(plugin({ port: Enclave, name: 'of-the-test', create }))
}

/** A gateway whose models are in its enclave alone, each before a backend of one dialect. `more` are settings of both. */
export const sealedDoors = async (
  t: Test,
  play: (request: Asked) => Take,
  names: Readonly<Record<string, Behind>>,
  more: SettingsInput = {},
  guards: readonly Fitting<Guard>[] = [],
): Promise<Running & { readonly backend: Recorded }> => {
  const recorded = await backend(t, play)
  const models = Object.fromEntries(
    Object.entries(names).map(([name, provider]) => [
      name,
      { standard: false, confidential: true, upstreams: [{ provider, model: own[provider] }] },
    ]),
  )
  const settings = { routing: { retries: 0 }, ...unhurried, ...more, models: { ...models, ...more.models } }
  const enclave = enclaveOf(upstreamsAt(recorded.url), settings, guards)
  return { ...(await running(t, { ...memory(), enclave }, structuredClone(settings))), backend: recorded }
}
