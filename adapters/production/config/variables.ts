import { existsSync } from 'node:fs'

/** The variable in a value of the configuration: `NAME` of `$NAME`. */
export const nameIn = (value: unknown): string | null =>
  typeof value === 'string' && /^\$[A-Za-z_]\w*$/.test(value) ? value.slice(1) : null

/** All variables that a configuration names, sorted, each once. */
export const variablesIn = (configuration: unknown): readonly string[] => {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    const name = nameIn(value)
    if (name !== null) names.add(name)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit)
  }
  visit(configuration)
  return [...names].sort()
}

/** The value of a variable without its last line breaks, which `$(cat file)` leaves out, too; empty where there is none. */
export const variable = (env: NodeJS.ProcessEnv, name: string): string =>
  (env[name] ?? '').replace(/(?<![\r\n])[\r\n]+$/, '')

/** A variable that names a file or a folder. A place that exists under a name with line breaks at its end keeps that name. */
export const placeIn = (env: NodeJS.ProcessEnv, name: string): string => {
  const place = variable(env, name)
  const whole = env[name] ?? ''
  return place !== whole && existsSync(whole) ? whole : place
}

/** Replaces each `$NAME` with the environment variable. Throws when a variable is missing. */
export const withVariables = (setting: unknown, env: NodeJS.ProcessEnv, path = ''): unknown => {
  const name = nameIn(setting)
  if (name !== null) {
    const value = variable(env, name)
    if (value === '') throw new Error(`${path}: $${name} is not set`)
    return value
  }
  const below = (key: string | number) => (path === '' ? String(key) : `${path}.${key}`)
  if (Array.isArray(setting)) return setting.map((each, index) => withVariables(each, env, below(index)))
  if (typeof setting !== 'object' || setting === null) return setting
  return Object.fromEntries(Object.entries(setting).map(([key, each]) => [key, withVariables(each, env, below(key))]))
}

/** The configuration with `$NAME` at the places where the file has it. `written` is the file's content. */
export const withoutVariables = (config: unknown, written: unknown): unknown => {
  if (nameIn(written) !== null) return written
  if (typeof config !== 'object' || config === null || typeof written !== 'object' || written === null) return config
  const at = (key: string) => (Object.hasOwn(written, key) ? (written as Record<string, unknown>)[key] : undefined)
  if (Array.isArray(config)) return config.map((each, index) => withoutVariables(each, at(String(index))))
  return Object.fromEntries(Object.entries(config).map(([key, each]) => [key, withoutVariables(each, at(key))]))
}

/** The unset variables of a configuration, with their places. */
export const unsetVariablesIn = (
  value: unknown,
  env: NodeJS.ProcessEnv,
  path: readonly string[] = [],
): readonly { readonly path: readonly string[]; readonly name: string }[] => {
  const name = nameIn(value)
  if (name !== null) return variable(env, name) === '' ? [{ path, name }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => unsetVariablesIn(each, env, [...path, key]))
}
