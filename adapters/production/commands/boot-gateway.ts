import { type Gateway, createGateway } from '../../../core/gateway.ts'
import type { LentEnclave } from '../enclave/connect-enclave.ts'
import { type Config, settingsOf } from '../config/config.ts'
import { configuration, dataFolder, firstConfiguration } from '../config/read-config.ts'
import { type RunningStand, production, renewed } from '../index.ts'
import type { WorkerLink, WorkerConfig } from '../workers/worker.ts'

export interface Booted {
  readonly gateway: Gateway
  readonly config: Config
  /** The folder of the embedded stores. */
  readonly data: string
  renew(workerConfig: WorkerConfig): Promise<void>
}

/** The gateway that the environment describes, or as the one who leads the team has told it. */
export const bootGateway = async (
  env: NodeJS.ProcessEnv,
  surfaces: readonly string[] | null = null,
  workerLink: WorkerLink | null = null,
): Promise<Booted> => {
  const { config: read, socket } = workerLink?.told ?? { config: await firstConfiguration(env), socket: null }
  const narrowed = (config: Config): Config => (surfaces === null ? config : { ...config, surfaces: [...surfaces] })
  const config = narrowed(read)
  const lentAt = (socket: string | null): LentEnclave | null =>
    socket === null || workerLink === null ? null : { socket, back: () => workerLink.back(socket) }
  const data = dataFolder(env)
  const lent = lentAt(socket)
  const parts = await production(config, data, lent)
  let stands: RunningStand = { config, lent, parts }

  const renew = async ({ config: read, socket }: WorkerConfig): Promise<void> => {
    const config = narrowed(read)
    const lent = lentAt(socket)
    const parts = await renewed(config, lent, stands)
    await gateway.renew({ settings: settingsOf(config), ...parts })
    stands = { config, lent, parts }
  }
  const again = workerLink?.reload ?? (async () => renew({ config: await configuration(env), socket: null }))
  const siblings = workerLink && { siblings: workerLink.siblings }
  const gateway: Gateway = createGateway({ ...parts, ...siblings }, settingsOf(config), again)
  return { gateway, config, data, renew }
}
