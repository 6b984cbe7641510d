import * as v from 'valibot'
import { readdirSync } from 'node:fs'
import type { Fitting, Port } from '../../../core/container.ts'
import { type AnyPlugin, WrongSettings, isPlugin, use } from '../../../core/plugin.ts'
import { didYouMean } from './did-you-mean.ts'
import { type Fault, FaultyConfiguration, dotted, shapeFaultsOf } from './faults.ts'

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
  const { default: given } = await moduleOf(family, name).catch((cause: unknown) => unloaded(name, cause))
  const found = isPlugin(given) ? given : (given as Module | null | undefined)?.default
  if (!isPlugin(found))
    throw new Error(`${name} does not export a plugin by default; write export default plugin({ … })`)
  return found
}

/** TypeScript's CommonJS has the default export inside of Node's own. */
type Module = { readonly default?: unknown }

const moduleOf = async (family: Family, name: string): Promise<Module> =>
  import(name.includes('/') ? foreign(name) : own(family, name))

/** The message of a syntax error names no file, and that of a missing module also names a file of this package. */
const unloaded = (name: string, cause: unknown): never => {
  if (!name.includes('/')) throw cause
  const [reason] = (cause instanceof Error ? cause.message : String(cause)).split(' imported from ')
  throw new Error(`${name} can't be loaded: ${reason}`, { cause })
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

/** A place in a configuration. */
export type Path = readonly string[]

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

/** A plain name that is nearly one of this package; empty when none is near. */
const hintOf = (family: Family, name: string): string => {
  const all = pluginNames(family)
  return name.includes('/') || all.includes(name) ? '' : didYouMean(name, all)
}

/** The faults that keep a chosen plugin from its place. */
const faultsIn = (path: Path, error: unknown, settings: object, found: AnyPlugin | null): readonly Fault[] => {
  if (error instanceof FaultyConfiguration) return error.faults
  if (error instanceof WrongSettings) return shapeFaultsOf(found?.settings ?? v.strictObject({}), settings, path)
  return [{ path, words: `${dotted(path)}: ${error instanceof Error ? error.message : String(error)}` }]
}

/** The same fitting, whose make names the place and the file of a part that can't be made. */
const placed = <T>(fitting: Fitting<T>, path: Path, name: string): Fitting<T> => ({
  ...fitting,
  make(supply) {
    try {
      return fitting.make(supply)
    } catch (cause) {
      const message = cause instanceof Error ? cause.message.replace(`${fitting.name}: `, '') : String(cause)
      throw new FaultyConfiguration([{ path, words: `${dotted(path)}: ${name}: ${message}` }], undefined, { cause })
    }
  },
})

/** Loads the plugin that the configuration chooses at `path`. Checks its settings and its port. */
export const chosenPlugin = async <T>(
  port: Port<T>,
  family: Family,
  path: Path,
  { use: name, ...settings }: Choice,
  as = name,
): Promise<Fitting<T>> => {
  let found: AnyPlugin | null = null
  try {
    found = await loadPlugin(family, name)
    const fitting = use(found, settings, as) as Fitting<unknown>
    if (fitting.port.key !== port.key) throw new Error(misfit(name, fitting.port, port))
    return placed(fitting as Fitting<T>, path, name)
  } catch (cause) {
    const faults = faultsIn(path, cause, settings, found)
    const [first, ...others] = faults
    const hinted = first === undefined ? [] : [{ ...first, words: first.words + hintOf(family, name) }]
    throw new FaultyConfiguration([...hinted, ...others], undefined, { cause })
  }
}
