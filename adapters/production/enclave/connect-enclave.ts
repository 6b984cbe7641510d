import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { use } from '../../../core/plugin.ts'
import { Prover } from '../../../core/ports/attester.ts'
import { splitEnclaveSettings, refuseDev } from '../config/enclave-parts.ts'
import type { Config } from '../config/config.ts'
import { guardsOf } from '../config/guards.ts'
import { chosenPlugin } from '../config/load-plugin.ts'
import { chosenUpstream } from '../config/upstreams.ts'
import { connectedEnclaves, lentEnclave, startedEnclave } from './enclave.ts'

/** A lent enclave process. `back` returns it when this process no longer needs it. */
export interface LentEnclave {
  readonly socket: string
  back(): void
}

/**
 * Connects to the configured enclave processes, to the lent one, or to a new one with its part of the configuration.
 */
export const connectEnclave = async (config: Config, loan: LentEnclave | null) => {
  const { connect, tls } = config.enclave
  const { beside: proof } = splitEnclaveSettings(config.enclave)
  if (connect === undefined) {
    if (loan !== null) return use(lentEnclave, { ...loan, ...proof })
    return use(startedEnclave, { config: await enclaveConfig(config), ...proof })
  }
  if (tls === undefined) return use(connectedEnclaves, { connect, ...proof })
  const [ca, cert, key] = await Promise.all([readFile(tls.ca), readFile(tls.cert), readFile(tls.key)])
  return use(connectedEnclaves, { connect, tls: { ca, cert, key }, ...proof })
}

/** True when the running enclave process fits the new configuration, too. */
export const isSameEnclave = (one: Config, other: Config): boolean =>
  isDeepStrictEqual(concerning(one), concerning(other))

/**
 * The parts of the configuration that matter inside: confidential models, and the gateway's providers only when the
 * enclave has none of its own.
 */
const concerning = (config: Config) => {
  const { providers, models, ...rest } = enclaveSettingsOf(config)
  const named = Object.entries(models)
  return {
    ...rest,
    providers: config.enclave.providers ?? providers,
    lists: named.length === 0,
    models: named.filter(([, { confidential }]) => confidential),
  }
}

/** The configuration of our own enclave process. Throws the faults that would end this process at its start. */
export const enclaveConfig = async (config: Config) => {
  await willStart(config)
  return enclaveSettingsOf(config)
}

const enclaveSettingsOf = ({
  providers,
  models,
  timeouts,
  routing,
  outside,
  env,
  enclave,
  tools,
  readers,
  bodies,
}: Config) => ({
  providers,
  models,
  timeouts,
  routing,
  outside,
  env,
  enclave: splitEnclaveSettings(enclave).inside,
  bodies,
  ...(tools && { tools }),
  ...(readers && { readers }),
})

/** Loads what the enclave process would load, so that the gateway's own start shows the fault. */
const willStart = async (config: Config): Promise<void> => {
  const { enclave, providers: outside, models } = config
  const { providers, evidence, guards } = enclave
  refuseDev(config)
  const inside = Object.entries(providers ?? {})
  await Promise.all(inside.map(([name, choice]) => chosenUpstream(`enclave.providers.${name}`, name, choice)))
  if (evidence) await chosenPlugin(Prover, 'evidence', 'enclave.evidence', evidence)
  await guardsOf(guards, 'enclave.guards')
  const names = Object.keys(providers ?? outside)
  const known = new Set([...names, ...Object.keys(outside)])
  for (const [name, { confidential, upstreams }] of Object.entries(models)) {
    if (confidential && !upstreams.some(({ provider }) => names.includes(provider)))
      throw new Error(`models.${name}.upstreams: none of its providers is configured for the enclave`)
    const at = upstreams.findIndex(({ provider }) => !known.has(provider))
    if (at >= 0) throw new Error(`models.${name}.upstreams.${at}.provider is not a provider`)
  }
}
