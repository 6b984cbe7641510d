import { Unavailable } from '../../../core/errors.ts'
import type { Gateway } from '../../../core/gateway.ts'
import type { Config } from '../config/config.ts'

/** The store of rows, by its name in the configuration. */
const rowsIn = ({ storage }: Config): string => `storage.metadata (${storage.metadata?.use ?? 'sqlite'})`

/** Names the store of rows in the error when this store fails. */
export const namingStore = async <T>(config: Config, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    const { errorText } = await import('../../local/error-text.ts')
    throw new Error(`${rowsIn(config)}: ${errorText(error)}`, { cause: error })
  }
}

/** Runs the work with the configured installation, without a port, and closes the installation afterwards. */
export const withGateway = async (
  env: NodeJS.ProcessEnv,
  work: (gateway: Gateway, config: Config) => Promise<void>,
): Promise<void> => {
  // The faults of the arguments come before the gateway is loaded.
  const { bootGateway } = await import('./boot-gateway.ts')
  const { gateway, config } = await bootGateway({ ...env, SEALGATE_LOG: 'silent' }, [])
  try {
    await namingStore(config, () => work(gateway, config))
  } finally {
    await gateway.close()
  }
}

/** Throws when a command gets more arguments than it takes. */
export const refuseMoreArguments = (positionals: readonly string[], most: number, usage: string): void => {
  const stray = positionals[most]
  if (stray !== undefined) throw new Error(`${stray} is one argument too many\n${usage}`)
}
