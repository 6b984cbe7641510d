import { readdir } from 'node:fs/promises'
import type { Fitting, Port } from '../../../core/container.ts'
import { type AnyPlugin, isPlugin, use } from '../../../core/plugin.ts'

export type Family = 'tools' | 'readers' | 'providers' | 'storage' | 'evidence'

const folder = (family: Family) => new URL(`../../../plugins/${family}/`, import.meta.url)
const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/** A plain name is a file of ours; anything with a slash is a package or a path of the operator's. Names never come from a request. */
export const load = async (family: Family, name: string): Promise<AnyPlugin> => {
  const from = name.includes('/') ? foreign(name) : await own(family, name)
  const found: unknown = ((await import(from)) as { default?: unknown }).default
  if (!isPlugin(found)) throw new Error(`${name} does not export a plugin by default`)
  return found
}

const own = async (family: Family, name: string): Promise<string> => {
  const all = await names(family)
  if (!all.includes(name)) throw new Error(`there is no ${name} in ${family}, only ${all.join(', ')}`)
  return new URL(name + ending, folder(family)).href
}

const foreign = (name: string): string =>
  name.startsWith('.') || name.startsWith('/')
    ? new URL(name, `file://${process.cwd()}/`).href
    : import.meta.resolve(name)

/** Every name in a family, in order. Dots are refused so that `.d.ts` and maps are not taken for plugins. */
export const names = async (family: Family): Promise<readonly string[]> =>
  (await readdir(folder(family)))
    .filter((file) => /^[^.]+\.[jt]s$/.test(file))
    .map((file) => file.slice(0, -3))
    .sort()

export interface Choice {
  readonly use: string
  readonly [setting: string]: unknown
}

/** A port of the same name that is another one comes from another copy of this package. */
const misfit = (name: string, fits: Port<unknown>, wanted: Port<unknown>): string =>
  fits.name === wanted.name
    ? `${name} fits ${fits.name} of another installed copy of sealgate; it must import the running copy`
    : `${name} fits ${fits.name}, not ${wanted.name}`

/** A plugin chosen by the configuration at `path`, its settings checked and seen to fit the port. */
export const chosen = async <T>(
  port: Port<T>,
  family: Family,
  path: string,
  { use: name, ...settings }: Choice,
  as = name,
): Promise<Fitting<T>> => {
  try {
    const fitting = use(await load(family, name), settings, as) as Fitting<unknown>
    if (fitting.port.key !== port.key) throw new Error(misfit(name, fitting.port, port))
    return fitting as Fitting<T>
  } catch (cause) {
    throw new Error(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
