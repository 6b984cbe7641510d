import { type Gateway, createGateway } from '../../core/gateway.ts'
import type { SettingsInput } from '../../core/settings.ts'
import type { Lent } from './enclave/connect-enclave.ts'
import { type Config, settingsOf } from './config/config.ts'
import { configuration, dataFolder, firstConfiguration } from './config/read-config.ts'
import { type Stand, production, renewed } from './index.ts'
import type { Team, Told } from './workers/worker.ts'

export interface Booted {
  readonly gateway: Gateway
  readonly config: Config
  /** The folder of the embedded stores. */
  readonly data: string
  renew(told: Told): Promise<void>
}

/** The gateway that the environment describes, or as the one who leads the team has told it. */
export const boot = async (
  env: NodeJS.ProcessEnv,
  surfaces: readonly string[] | null = null,
  team: Team | null = null,
): Promise<Booted> => {
  const { config, socket } = team?.told ?? { config: await firstConfiguration(env), socket: null }
  const lentAt = (socket: string | null): Lent | null =>
    socket === null || team === null ? null : { socket, back: () => team.back(socket) }
  const data = dataFolder(env)
  const told = (config: Config) =>
    ({ ...settingsOf(config), ...(surfaces && { surfaces: surfaces as SettingsInput['surfaces'] }) }) as SettingsInput
  const lent = lentAt(socket)
  const parts = await production(config, data, lent)
  let stands: Stand = { config, lent, parts }

  const renew = async ({ config, socket }: Told): Promise<void> => {
    const lent = lentAt(socket)
    const parts = await renewed(config, lent, stands)
    await gateway.renew({ settings: told(config), ...parts })
    stands = { config, lent, parts }
  }
  const again = team?.reload ?? (async () => renew({ config: await configuration(env), socket: null }))
  const siblings = team && { siblings: team.siblings }
  const gateway: Gateway = createGateway({ ...parts, ...siblings }, told(config), again)
  return { gateway, config, data, renew }
}
