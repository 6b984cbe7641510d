import { readFile } from 'node:fs/promises'
import { makeFolder } from '../../core/fsync.ts'
import { type Gateway, createGateway } from '../../core/gateway.ts'
import type { SettingsInput } from '../../core/settings.ts'
import type { Lent } from './enclave/connect-enclave.ts'
import { type Config, checkedConfig, settingsOf } from './config/config.ts'
import { names } from './config/load-plugin.ts'
import { type Stand, production, renewed } from './index.ts'
import { fromSurroundings } from './config/env-config.ts'
import type { Team, Told } from './workers/worker.ts'

export interface Booted {
  readonly gateway: Gateway
  readonly config: Config
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
  return { gateway, config, renew }
}

/** The folder of the embedded stores, made when it isn't there. */
const dataFolder = (env: NodeJS.ProcessEnv): string => {
  const data = env['SEALGATE_DATA'] || './data'
  try {
    makeFolder(data)
  } catch (cause) {
    throw new Error(`SEALGATE_DATA: the folder cannot be made (${(cause as NodeJS.ErrnoException).code})`, { cause })
  }
  return data
}

/** The first fault is thrown with its place in the configuration. */
export const firstConfiguration = (env: NodeJS.ProcessEnv): Promise<Config> =>
  configuration(env).catch((cause) => {
    throw new Error(`${env['SEALGATE_CONFIG'] || 'environment'}: ${(cause as Error).message}`, { cause })
  })

/** From the file that `SEALGATE_CONFIG` names, or from the environment. */
export const configuration = async (env: NodeJS.ProcessEnv): Promise<Config> => {
  const { SEALGATE_CONFIG: file, SEALGATE_LOG: level, HOST, PORT } = env
  const said: { server?: object; log?: object } = file ? await read(file) : fromSurroundings(env, await names('tools'))
  const server = { ...said.server, ...(HOST && { host: HOST }), ...(PORT && { port: Number(PORT) }) }
  return checkedConfig({ ...said, server, log: { ...said.log, ...(level && { level }) } }, env)
}

const read = async (file: string): Promise<object> => {
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw new Error(`can't be read (${cause.code})`, { cause })
  })
  try {
    const config: unknown = JSON.parse(text)
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return config
  } catch (cause) {
    throw new Error('is not JSON', { cause })
  }
  throw new Error('is not an object')
}
