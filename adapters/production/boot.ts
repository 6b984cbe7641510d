import { mkdir, readFile } from 'node:fs/promises'
import { type Gateway, createGateway } from '../../core/gateway.ts'
import type { Renewable } from '../../core/generation.ts'
import type { Again } from '../../core/reload.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { type Config, checkedConfig, settingsOf } from './config.ts'
import { names } from './discover.ts'
import { production, renewed } from './index.ts'
import { fromSurroundings } from './surroundings.ts'

export interface Booted {
  readonly gateway: Gateway
  readonly config: Config
}

/** The configuration from the file that `SEALGATE_CONFIG` names, or from the environment, and the gateway that it describes. */
export const boot = async (env: NodeJS.ProcessEnv, surfaces?: readonly string[]): Promise<Booted> => {
  const config = await configuration(env).catch((cause) => {
    throw new Error(`${env['SEALGATE_CONFIG'] || 'environment'}: ${(cause as Error).message}`, { cause })
  })
  const data = env['SEALGATE_DATA'] || './data'
  await mkdir(data, { recursive: true, mode: 0o700 })
  const told = (config: Config) =>
    ({ ...settingsOf(config), ...(surfaces && { surfaces: surfaces as SettingsInput['surfaces'] }) }) as SettingsInput
  const adapters = await production(config, data)
  let stands: { readonly config: Config; readonly parts: Renewable } = { config, parts: adapters }

  const again: Again = async (renew) => {
    const config = await configuration(env)
    const parts = await renewed(config, stands.config, stands.parts)
    await renew({ settings: told(config), ...parts })
    stands = { config, parts }
  }
  return { gateway: createGateway(adapters, told(config), again), config }
}

const configuration = async (env: NodeJS.ProcessEnv): Promise<Config> => {
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
