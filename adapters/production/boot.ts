import { mkdir, readFile } from 'node:fs/promises'
import { type Gateway, createGateway } from '../../core/gateway.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { type Config, checkedConfig, settingsOf } from './config.ts'
import { names } from './discover.ts'
import { production } from './index.ts'
import { fromSurroundings } from './surroundings.ts'

export interface Booted {
  readonly gateway: Gateway
  readonly config: Config
}

/** The configuration from the file that `SEALGATE_CONFIG` names, or from the environment, and the gateway that it describes. */
export const boot = async (env: NodeJS.ProcessEnv, surfaces?: readonly string[]): Promise<Booted> => {
  const config = await configuration(env)
  const data = env['SEALGATE_DATA'] || './data'
  await mkdir(data, { recursive: true, mode: 0o700 })
  const settings = { ...settingsOf(config), ...(surfaces && { surfaces: surfaces as SettingsInput['surfaces'] }) }
  return { gateway: createGateway(await production(config, data), settings as SettingsInput), config }
}

const configuration = async (env: NodeJS.ProcessEnv): Promise<Config> => {
  const { SEALGATE_CONFIG: file, SEALGATE_LOG: level, HOST, PORT } = env
  const said: { server?: object; log?: object } = file ? await read(file) : fromSurroundings(env, await names('tools'))
  const server = { ...said.server, ...(HOST && { host: HOST }), ...(PORT && { port: Number(PORT) }) }
  try {
    return checkedConfig({ ...said, server, log: { ...said.log, ...(level && { level }) } }, env)
  } catch (cause) {
    throw new Error(`${file ?? 'environment'}: ${(cause as Error).message}`, { cause })
  }
}

const read = async (file: string): Promise<object> => {
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw new Error(`${file}: can't be read (${cause.code})`, { cause })
  })
  try {
    const config: unknown = JSON.parse(text)
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return config
  } catch (cause) {
    throw new Error(`${file}: is not JSON`, { cause })
  }
  throw new Error(`${file}: is not an object`)
}
