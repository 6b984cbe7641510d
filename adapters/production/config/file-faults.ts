import { type Config, checkedConfig } from './config.ts'
import { type Fault, faultsOf, spelledSecrets } from './faults.ts'
import type { Parsed } from './jsonc.ts'
import { pluginFaults } from './plugin-faults.ts'
import { unsetVariablesIn, withVariables } from './variables.ts'

/** The line that names a fault and its place. `file` is how the reader knows the file; `parsed` is null for none. */
export const faultLine = (file: string, { path, words }: Fault, parsed: Parsed | null): string => {
  if (parsed === null) return `${file}: ${words}`
  const { line, column } = parsed.place(path)
  return `${file}:${line}:${column} ${words}`
}

/** The faults of a configuration, and its part that plugins can be asked about; null where they would miss something. */
interface Looked {
  readonly faults: readonly Fault[]
  readonly sound: Config | null
}

const look = (said: unknown, env: NodeJS.ProcessEnv): Looked => {
  const unset = unsetVariablesIn(said, env)
  // An unset variable counts as valid here; it is reported on its own below.
  const standing = { ...env, ...Object.fromEntries(unset.map(({ name }) => [name, 'http://unset.invalid'])) }
  const ready = withVariables(said, standing)
  const shape = [...spelledSecrets(said), ...faultsOf(ready)]
  const missing = unset.map(({ path, name }) => ({ path, words: `${path.join('.')}: $${name} is not set` }))
  const sound = soundPartOf(ready, shape)
  return { faults: [...missing, ...shape], sound: sound === null ? null : checkedConfig(sound, standing) }
}

/** Faults of the shape and unset variables. No plugin is asked. */
export const shapeFaults = (said: unknown, env: NodeJS.ProcessEnv): readonly Fault[] => look(said, env).faults

/** All faults. The plugins that the configuration names are loaded. */
export const allFaults = async (said: unknown, env: NodeJS.ProcessEnv): Promise<readonly Fault[]> => {
  const { faults, sound } = look(said, env)
  return [...faults, ...(sound === null ? [] : await pluginFaults(sound))]
}

/** Sections that plugins read. */
const pluginSections = new Set<unknown>(['providers', 'models', 'enclave', 'storage', 'tools', 'readers', 'guards'])

/** A configuration without its faulty sections; null where a plugin would miss one of them. */
const soundPartOf = (config: unknown, shape: readonly Fault[]): unknown => {
  const faulty = new Set<unknown>(shape.map(({ path }) => path[0]))
  if (typeof config !== 'object' || config === null || [...faulty].some((it) => pluginSections.has(it))) return null
  const rest = Object.fromEntries(Object.entries(config).filter(([section]) => !faulty.has(section)))
  return faultsOf(rest).length === 0 ? rest : null
}
