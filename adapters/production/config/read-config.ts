import { readFile } from 'node:fs/promises'
import { makeFolder } from '../../../core/fsync.ts'
import { type Config, checkedConfig } from './config.ts'
import { configFromEnv } from './env-config.ts'
import type { Parsed } from './jsonc.ts'
import { faultsOf, spelledSecrets } from './faults.ts'
import { pluginNames } from './load-plugin.ts'
import { withVariables } from './variables.ts'

/** The folder of the embedded stores; made when it is missing. */
export const dataFolder = (env: NodeJS.ProcessEnv): string => {
  const data = env['SEALGATE_DATA'] || './data'
  try {
    makeFolder(data)
  } catch (cause) {
    throw new Error(`SEALGATE_DATA: the folder cannot be made (${(cause as NodeJS.ErrnoException).code})`, { cause })
  }
  return data
}

/** A configuration as it was read. */
export interface ReadConfiguration {
  readonly config: Config
  /** The same in the form of a file, with each `$NAME` in its place. */
  readonly written: object
  /** In Unix ms. */
  readonly readAt: number
}

/** Reads the configuration at the start. A fault is reported with its place. */
export const firstConfiguration = (env: NodeJS.ProcessEnv): Promise<ReadConfiguration> =>
  configuration(env).catch((cause) => {
    throw new Error(`${env['SEALGATE_CONFIG'] || 'environment'}: ${(cause as Error).message}`, { cause })
  })

/** What a file or the environment says, with what variables of the gateway itself put in its place. */
export const withOverrides = (said: { server?: object; log?: object }, env: NodeJS.ProcessEnv): object => {
  const { SEALGATE_LOG: level, HOST, PORT } = env
  const server = { ...said.server, ...(HOST && { host: HOST }), ...(PORT && { port: Number(PORT) }) }
  return { ...said, server, log: { ...said.log, ...(level && { level }) } }
}

/** Reads the file in `SEALGATE_CONFIG`, or the environment. */
export const configuration = async (env: NodeJS.ProcessEnv): Promise<ReadConfiguration> => {
  const { SEALGATE_CONFIG: file } = env
  const readAt = Date.now()
  const said = file ? ((await readConfig(file)).value as object) : configFromEnv(env, pluginNames('tools'))
  const written = withOverrides(said, env)
  const ready = withVariables(written, env)
  const faults = [...spelledSecrets(written), ...faultsOf(ready)]
  if (faults.length > 0) throw new Error(faults.map(({ words }) => words).join('; '))
  return { config: checkedConfig(ready, env), written, readAt }
}

/** The object in a file. Comments and trailing commas are allowed. */
export const readConfig = async (file: string): Promise<Parsed> => {
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw new Error(`can't be read (${cause.code})`, { cause })
  })
  const parsed = await parsedOf(text)
  const { value } = parsed
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return parsed
  throw new Error('is not an object')
}

/** The fault names line and column, but no text of the file, which may hold secrets. */
const parsedOf = async (text: string): Promise<Parsed> => {
  const { NotJson, parseJsonc } = await import('./jsonc.ts')
  try {
    return parseJsonc(text)
  } catch (cause) {
    if (!(cause instanceof NotJson)) throw cause
    const { line, column } = cause.place
    throw new Error(`is not JSON: ${cause.message} (line ${line}, column ${column})`, { cause })
  }
}
