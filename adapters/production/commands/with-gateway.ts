import { Unavailable } from '../../../core/errors.ts'
import type { Gateway } from '../../../core/gateway.ts'
import { boot } from '../boot.ts'
import type { Config } from '../config/config.ts'
import { complaint } from './error-text.ts'

/** Which store holds rows, as the configuration calls it. */
const rowsIn = ({ storage }: Config): string => `storage.metadata (${storage.metadata?.use ?? 'sqlite'})`

/** Names the store of rows where it is what keeps the work from being done. */
export const namingStore = async <T>(config: Config, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    throw new Error(`${rowsIn(config)}: ${complaint(error)}`, { cause: error })
  }
}

/** The installation that the environment describes, without a port, for as long as the work takes. */
export const withGateway = async (
  env: NodeJS.ProcessEnv,
  work: (gateway: Gateway, config: Config) => Promise<void>,
): Promise<void> => {
  const { gateway, config } = await boot({ ...env, SEALGATE_LOG: 'silent' }, [])
  try {
    await namingStore(config, () => work(gateway, config))
  } finally {
    await gateway.close()
  }
}

/** Throws where more was said than a command takes. */
export const noMore = (positionals: readonly string[], most: number, usage: string): void => {
  const stray = positionals[most]
  if (stray !== undefined) throw new Error(`${stray} is one argument too many\n${usage}`)
}
