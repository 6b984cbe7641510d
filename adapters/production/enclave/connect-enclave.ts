import { isDeepStrictEqual } from 'node:util'
import { unlessAborted } from '../../../core/abort.ts'
import { use } from '../../../core/plugin.ts'
import { splitEnclaveSettings } from '../config/enclave-parts.ts'
import { type Config, plainModels } from '../config/config.ts'
import { enclaveClient } from './enclave-client.ts'
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
  if (!config.sealing) return use((await import('./without-enclave.ts')).withoutEnclave)
  const { connect, tls } = config.enclave
  const { beside: proof } = splitEnclaveSettings(config.enclave)
  if (connect === undefined) {
    if (loan !== null) return use(lentEnclave, { ...loan, ...proof })
    return use(startedEnclave, { config: enclaveConfig(config), ...proof })
  }
  return use(connectedEnclaves, { connect, tls: await certificatesOf(tls), ...proof })
}

const certificatesOf = async (tls: Config['enclave']['tls']) =>
  tls === undefined ? null : (await import('./certificates.ts')).certificatesIn(tls)

/** The fault of each configured enclave, in their order; null for an enclave that gives its keys. */
export const enclaveFaults = async (config: Config, signal: AbortSignal): Promise<readonly unknown[]> => {
  const { connect = [], tls } = config.enclave
  const certificates = await certificatesOf(tls)
  const faultOf = async (at: string): Promise<unknown> => {
    const line = enclaveClient(at, certificates)
    try {
      await unlessAborted(line.keys(), signal)
      return null
    } catch (fault) {
      return fault
    } finally {
      await line.dispose?.()
    }
  }
  return Promise.all(connect.map(faultOf))
}

/** True when the running enclave process fits the new configuration, too. */
export const isSameEnclave = (one: Config, other: Config): boolean =>
  isDeepStrictEqual(concerning(one), concerning(other))

/**
 * The parts of the configuration that matter inside: confidential models, names that rules have, and the gateway's
 * providers only when the enclave has none of its own.
 */
const concerning = (config: Config) => {
  const { providers, models: _, ...rest } = enclaveConfig(config)
  const plain = plainModels(config)
  const named = Object.entries(plain)
  return {
    ...rest,
    rules: Object.keys(config.models).filter((name) => !Object.hasOwn(plain, name)),
    providers: config.enclave.providers ?? providers,
    lists: named.length === 0,
    models: named.filter(([, { confidential }]) => confidential),
  }
}

/** The configuration of our own enclave process. */
export const enclaveConfig = ({
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
