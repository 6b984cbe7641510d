import { type Gateway, createGateway } from '../../../core/gateway.ts'
import { use } from '../../../core/plugin.ts'
import type { LentEnclave } from '../enclave/connect-enclave.ts'
import { type Config, settingsOf } from '../config/config.ts'
import { type ReadConfiguration, configuration, dataFolder, placingFaults } from '../config/read-config.ts'
import { ownConfiguration } from '../own-configuration.ts'
import { type RunningStand, production, renewed } from '../index.ts'
import type { WorkerLink, WorkerConfig } from '../workers/worker.ts'

/** A gateway that can serve, with what the command around it needs. */
export interface Booted {
  readonly gateway: Gateway
  readonly config: Config
  /** The folder of the embedded stores. */
  readonly data: string
  /** Called at a reload. Rejects when the gateway does not take the configuration. */
  renew(workerConfig: WorkerConfig): Promise<void>
}

/** The gateway that the environment describes, or as the one who leads the team has told it. */
export const bootGateway = async (
  env: NodeJS.ProcessEnv,
  surfaces: readonly string[] | null = null,
  workerLink: WorkerLink | null = null,
): Promise<Booted> => {
  const { socket, ...first } = workerLink?.told ?? { ...(await configuration(env)), socket: null }
  const narrowed = <T extends object>(value: T): T =>
    surfaces === null ? value : { ...value, surfaces: [...surfaces] }
  const narrowedRead = ({ config, written, readAt }: ReadConfiguration): ReadConfiguration => ({
    config: narrowed(config),
    written: narrowed(written),
    readAt,
  })
  let read = narrowedRead(first)
  const { config } = read
  const lentAt = (socket: string | null): LentEnclave | null =>
    socket === null || workerLink === null ? null : { socket, back: () => workerLink.back(socket) }
  const data = dataFolder(env)
  const lent = lentAt(socket)
  const adapters = await placingFaults(env, () => production(config, data, lent))
  let stands: RunningStand = { config, lent, parts: adapters }

  const renew = async ({ socket, ...told }: WorkerConfig): Promise<void> => {
    const next = narrowedRead(told)
    const { config } = next
    const lent = lentAt(socket)
    const parts = await placingFaults(
      env,
      async () => {
        const parts = await renewed(config, lent, stands)
        await gateway.renew({ settings: settingsOf(config), ...parts })
        return parts
      },
      true,
    )
    stands = { config, lent, parts }
    read = next
  }
  const again =
    workerLink?.reload ?? (async () => renew({ ...(await configuration(env, stands.config)), socket: null }))
  const siblings = workerLink && { siblings: workerLink.siblings }
  const shown = use(ownConfiguration({ env, inEffect: () => read, narrowed }))
  const gateway: Gateway = await placingFaults(env, async () =>
    createGateway({ ...adapters, parts: [...adapters.parts, shown], ...siblings }, settingsOf(config), again),
  )
  return { gateway, config, data, renew }
}
