import { type Config, ConfigShape, checkedConfig } from './config.ts'
import { type Fault, FaultyConfiguration, dotted, shapeFaultsOf, spelledSecrets, unusableNames } from './faults.ts'
import type { Parsed } from './jsonc.ts'
import { blamed } from './overrides.ts'
import { pluginFaults } from './plugin-faults.ts'
import { senseFaults } from './sense-faults.ts'
import { unsetVariablesIn, withVariables } from './variables.ts'

/** The line that names a fault and its place. `file` is how the reader knows the file; `parsed` is null for none. */
export const faultLine = (file: string, { path, words, variable }: Fault, parsed: Parsed | null): string => {
  if (variable !== undefined) return `environment: ${words}`
  if (parsed === null) return `${file}: ${words}`
  const { line, column } = parsed.place(path)
  return `${file}:${line}:${column} ${words}`
}

/** The faults of a configuration, and its part that plugins can be asked about; null where they would miss something. */
interface Looked {
  readonly faults: readonly Fault[]
  readonly sound: Config | null
  /** Whether a fault is another than that its variable is unset. */
  isSet(fault: Fault): boolean
}

const look = (value: unknown, env: NodeJS.ProcessEnv): Looked => {
  const unset = unsetVariablesIn(value, env)
  // An unset variable counts as valid here; it is reported on its own below.
  const standing = { ...env, ...Object.fromEntries(unset.map(({ name }) => [name, 'http://unset.invalid'])) }
  const ready = withVariables(value, standing)
  const missing = unset.map(({ path, name }) => ({ path, words: `${dotted(path)}: $${name} is not set` }))
  const places = new Set(missing.map(({ path }) => dotted(path)))
  const isSet = ({ path }: Fault) => !places.has(dotted(path))
  const shape = [...spelledSecrets(value), ...unusableNames(value), ...faultsOf(ready)]
  const sound = soundPartOf(ready, shape)
  return {
    faults: [...missing, ...shape.filter(isSet).map((fault) => blamed(fault, value, env))],
    sound: sound === null ? null : checkedConfig(sound, standing),
    isSet,
  }
}

/** Faults of the shape and unset variables. No plugin is asked. */
export const shapeFaults = (value: unknown, env: NodeJS.ProcessEnv): readonly Fault[] => look(value, env).faults

/** All faults. Plugins are loaded, and those of the operator's own are made; `running` has some of them already. */
export const allFaults = async (
  value: unknown,
  env: NodeJS.ProcessEnv,
  running: Config | null = null,
): Promise<readonly Fault[]> => {
  const { faults, sound, isSet } = look(value, env)
  if (sound === null) return faults
  const [plugins, sense] = await Promise.all([pluginFaults(sound, running), senseFaults(sound, value, env)])
  return [...faults, ...[...plugins, ...sense].filter(isSet)]
}

/** All faults in the shape of a configuration. */
const faultsOf = (config: unknown): readonly Fault[] => shapeFaultsOf(ConfigShape, config)

/** Sections that plugins read. */
const pluginSections = new Set<unknown>(['providers', 'models', 'enclave', 'storage', 'tools', 'readers', 'guards'])

/** A configuration without its faulty sections; null where a plugin would miss one of them. */
const soundPartOf = (config: unknown, shape: readonly Fault[]): unknown => {
  const faulty = new Set<unknown>(shape.map(({ path }) => path[0]))
  if (typeof config !== 'object' || config === null || [...faulty].some((section) => pluginSections.has(section)))
    return null
  const rest = Object.fromEntries(Object.entries(config).filter(([section]) => !faulty.has(section)))
  return faultsOf(rest).length === 0 ? rest : null
}

/** What made a start fail, as faults of the configuration. */
export const faultsOfStart = (error: unknown): readonly Fault[] => {
  if (error instanceof FaultyConfiguration) return error.faults
  const words = (error instanceof Error ? error.message : String(error)).replace(/^settings: /, '')
  const [path = ''] = /^[\w-]+(?:\.[\w-]+)*(?=[ :])/.exec(words) ?? []
  return [{ path: path.split('.'), words }]
}
