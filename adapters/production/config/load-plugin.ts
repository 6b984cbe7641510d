import { readdirSync } from 'node:fs'
import type { Fitting, Port } from '../../../core/container.ts'
import { type AnyPlugin, isPlugin, use } from '../../../core/plugin.ts'

/** The folders of `plugins`. */
export type Family =
  'tools' | 'readers' | 'providers' | 'storage' | 'evidence' | 'backend-evidence' | 'guards' | 'surfaces'

const folder = (family: Family) => new URL(`../../../plugins/${family}/`, import.meta.url)
const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/**
 * A plain name is one of our files; a name with a slash is an operator's package or path. A request never supplies the
 * name.
 */
export const loadPlugin = async (family: Family, name: string): Promise<AnyPlugin> => {
  const from = name.includes('/') ? foreign(name) : own(family, name)
  const found: unknown = ((await import(from)) as { default?: unknown }).default
  if (!isPlugin(found)) throw new Error(`${name} does not export a plugin by default`)
  return found
}

/** The ending is that of this file: `.ts` in the sources, `.js` in the compiled package. */
const own = (family: Family, name: string): string => {
  const all = pluginNames(family)
  if (!all.includes(name)) throw new Error(`there is no ${name} in ${family}, only ${all.join(', ')}`)
  return new URL(name + ending, folder(family)).href
}

/** Paths begin with a dot or a slash and count from the working folder; other names are packages. */
const foreign = (name: string): string =>
  name.startsWith('.') || name.startsWith('/')
    ? new URL(name, `file://${process.cwd()}/`).href
    : import.meta.resolve(name)

/**
 * Every name in a family, in order. Names with dots are skipped, so that `.d.ts` files and maps do not count as
 * plugins.
 */
export const pluginNames = (family: Family): readonly string[] =>
  readdirSync(folder(family))
    .filter((file) => /^[^.]+\.[jt]s$/.test(file))
    .map((file) => file.slice(0, -3))
    .sort()

/** The name of a plugin, with the plugin's own settings beside it. */
export interface Choice {
  readonly use: string
  readonly [setting: string]: unknown
}

/** A different port of the same name comes from another copy of this package. */
const misfit = (name: string, fits: Port<unknown>, wanted: Port<unknown>): string =>
  fits.name === wanted.name
    ? `${name} fits ${fits.name} of another installed copy of sealgate; it must import the running copy`
    : `${name} fits ${fits.name}, not ${wanted.name}`

/** Loads the plugin that the configuration chooses at `path`. Checks its settings and its port. */
export const chosenPlugin = async <T>(
  port: Port<T>,
  family: Family,
  path: string,
  { use: name, ...settings }: Choice,
  as = name,
): Promise<Fitting<T>> => {
  try {
    const fitting = use(await loadPlugin(family, name), settings, as) as Fitting<unknown>
    if (fitting.port.key !== port.key) throw new Error(misfit(name, fitting.port, port))
    return fitting as Fitting<T>
  } catch (cause) {
    throw new Error(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
