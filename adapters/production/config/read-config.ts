import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { makeFolder } from '../../../plugins/storage/shared/fsync.ts'
import { isJsonObject } from '../../../core/dialects/json-object.ts'
import { RefusedConfiguration } from '../../../core/errors.ts'
import { type Config, checkedConfig } from './config.ts'
import { configFromEnv } from './env-config.ts'
import type { Parsed } from './jsonc.ts'
import { type Fault, FaultyConfiguration } from './faults.ts'
import { allFaults, faultLine, faultsOfStart } from './file-faults.ts'
import { pluginNames } from './load-plugin.ts'
import { withOverrides } from './overrides.ts'
import { placeIn } from './variables.ts'

/** The folder of the embedded stores; made when it is missing. */
export const dataFolder = (env: NodeJS.ProcessEnv): string => {
  const data = placeIn(env, 'SEALGATE_DATA') || './data'
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

/**
 * Reads the file in `SEALGATE_CONFIG`, or the environment. Throws with the place of each fault. `running` is the
 * configuration before a reload.
 */
export const configuration = async (
  env: NodeJS.ProcessEnv,
  running: Config | null = null,
): Promise<ReadConfiguration> => {
  const { SEALGATE_CONFIG: file } = env
  const readAt = Date.now()
  const parsed = file ? await namedFile(file, nameFor(env, running !== null)) : null
  const written = withOverrides((parsed?.value ?? configFromEnv(env, pluginNames('tools'))) as object, env)
  const config = await soundConfig(written, env, { file: nameFor(env, running !== null), parsed, running })
  return { config, written, readAt }
}

/** The configuration in a file or in an object. Throws with the place of each fault. */
export const configurationIn = async (source: string | object, env: NodeJS.ProcessEnv): Promise<Config> => {
  const parsed = typeof source === 'string' ? await namedFile(source) : null
  const file = typeof source === 'string' ? source : 'configuration'
  return soundConfig(parsed?.value ?? source, env, { file, parsed, running: null })
}

interface Origin {
  readonly file: string
  readonly parsed: Parsed | null
  readonly running: Config | null
}

const soundConfig = async (
  written: unknown,
  env: NodeJS.ProcessEnv,
  { file, parsed, running }: Origin,
): Promise<Config> => {
  const faults = await allFaults(written, env, running)
  if (faults.length > 0) throw new FaultyConfiguration(faults, faultLines(file, faults, parsed))
  return checkedConfig(written, env)
}

/** The caller of a reload learns the name of the file, and not where it lies. */
const nameFor = ({ SEALGATE_CONFIG: file }: NodeJS.ProcessEnv, isReload: boolean): string =>
  file ? (isReload ? basename(file) : file) : 'environment'

/** Does what may fail by the configuration, and names the place of a failure as `sealgate check` does. */
export const placingFaults = async <T>(
  env: NodeJS.ProcessEnv,
  work: () => Promise<T>,
  isReload = false,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const { SEALGATE_CONFIG: file } = env
    const parsed = file ? await readConfig(file).catch(() => null) : null
    const faults = faultsOfStart(error)
    throw new FaultyConfiguration(faults, faultLines(nameFor(env, isReload), faults, parsed), { cause: error })
  }
}

/** One line for each fault, and how many there are. */
export const faultLines = (file: string, faults: readonly Fault[], parsed: Parsed | null): string =>
  [
    ...faults.map((fault) => faultLine(file, fault, parsed)),
    `${faults.length} fault${faults.length === 1 ? '' : 's'}`,
  ].join('\n')

/** As `readConfig`, with the file's name in front of a fault. */
export const namedFile = (file: string, name = file): Promise<Parsed> =>
  readConfig(file).catch((error: Error) => {
    throw new RefusedConfiguration(`${name}: ${error.message}`, [], { cause: error })
  })

/** The object in a file. Comments and trailing commas are allowed. */
export const readConfig = async (file: string): Promise<Parsed> => {
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw new Error(`can't be read (${cause.code})`, { cause })
  })
  const parsed = await parsedOf(text)
  if (isJsonObject(parsed.value)) return parsed
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
