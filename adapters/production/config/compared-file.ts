import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { lazy } from '../../../core/plugin.ts'
import type {
  ConfigurationComparison,
  ConfigurationTrial,
  EffectiveConfiguration,
  TriedParts,
  ConfigurationChange,
} from '../../../plugins/surfaces/admin/configuration.ts'
import { ConfigShape, checkedConfig, type Config } from './config.ts'
import { configFromEnv } from './env-config.ts'
import type { Fault } from './faults.ts'
import { faultLine, shapeFaults } from './file-faults.ts'
import type { Parsed } from './jsonc.ts'
import { pluginNames, loadPlugin } from './load-plugin.ts'
import { withOverrides } from './overrides.ts'
import { type ReadConfiguration, readConfig } from './read-config.ts'
import { type Leaf, shownSettings, type PluginShapes } from './shown-settings.ts'
import { isDeepStrictEqual } from 'node:util'
import { isFixed } from './fixed-paths.ts'
import { fetch } from '../platform.ts'
import { type Shape, bareShape } from './config-shape.ts'
import { namedPlugins } from './plugin-faults.ts'

/** A check makes every part, which nothing else here does. */
const everything = lazy(() => import('./every-fault.ts'))
const calling = lazy(() => import('./test-call.ts'))

/** Where the configuration of a gateway comes from, and what of it is in effect. */
export interface ConfigurationSource {
  readonly env: NodeJS.ProcessEnv
  readonly inEffect: () => Pick<ReadConfiguration, 'written' | 'readAt'>
  /** Puts what the command line says in the place of what the file says. */
  readonly narrowed: <T extends object>(value: T) => T
}

/** The largest file that a gateway reads while it serves. */
const mostBytes = 8 * 1024 * 1024

/** The name of the file; null where the environment is the configuration. */
const fileNameIn = ({ SEALGATE_CONFIG: file }: NodeJS.ProcessEnv): string | null => (file ? basename(file) : null)

/** The settings of what is written, as the process takes them. `$schema` configures nothing. */
const leavesOf = async (written: object, env: NodeJS.ProcessEnv): Promise<readonly Leaf[]> => {
  const config = checkedConfig(written, env)
  const { $schema: _, sealing, ...settings } = config
  const shown = sealing ? settings : { ...settings, enclave: null }
  return shownSettings(ConfigShape, shown, written, await pluginShapesOf(config))
}

const kept = new WeakMap<object, Promise<readonly Leaf[]>>()

/** The settings in effect, which are the same until the next reload. */
const leavesInEffect = ({ env, inEffect }: ConfigurationSource): Promise<readonly Leaf[]> => {
  const { written } = inEffect()
  const leaves = kept.get(written) ?? leavesOf(written, env)
  kept.set(written, leaves)
  return leaves
}

export const shownInEffect = async (source: ConfigurationSource): Promise<EffectiveConfiguration> => {
  const { env, inEffect } = source
  const { readAt } = inEffect()
  const leaves = await leavesInEffect(source)
  return { file: fileNameIn(env), readAt, settings: leaves.map(({ path, shown }) => ({ path, ...shown })) }
}

interface ReadFile {
  readonly parsed: Parsed | null
  readonly file: object
}

/** The file as it stands now. A pipe or a device gives its content once, at the start. Throws with a sentence. */
const readAgain = async (env: NodeJS.ProcessEnv): Promise<ReadFile> => {
  const { SEALGATE_CONFIG: file } = env
  if (!file) return { parsed: null, file: configFromEnv(env, pluginNames('tools')) }
  const about = await stat(file).catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`can't be read (${cause.code})`, { cause })
  })
  if (!about.isFile()) throw new Error('is no file that can be read again')
  if (about.size > mostBytes) throw new Error(`has more than ${mostBytes} bytes; sealgate check reads it`)
  const parsed = await readConfig(file)
  return { parsed, file: parsed.value as object }
}

/** Works on the file as it stands now, or tells in a sentence why it can't be read. */
const withFile = async <T>(env: NodeJS.ProcessEnv, work: (reading: ReadFile) => Promise<T>): Promise<T | string> => {
  const name = fileNameIn(env) ?? 'environment'
  const read = await readAgain(env).catch((error: Error) => `${name}: ${error.message}`)
  return typeof read === 'string' ? read : work(read)
}

const linesOf = (env: NodeJS.ProcessEnv, parsed: Parsed | null, faults: readonly Fault[]): readonly string[] =>
  faults.map((fault) => faultLine(fileNameIn(env) ?? 'environment', fault, parsed))

/** How a file differs from what is in effect; null where the file has faults. */
const comparison = async (
  source: ConfigurationSource,
  file: object,
  faults: readonly string[],
  /** The variables of the file. */
  env = source.env,
): Promise<ConfigurationComparison> => {
  if (faults.length > 0) return { faults, changes: null }
  const before = await leavesInEffect(source)
  const after = await leavesOf(source.narrowed(withOverrides(file, source.env)), env)
  return { faults, changes: configurationChanges(before, after) }
}

const unread = (compared: ConfigurationComparison | string): ConfigurationComparison =>
  typeof compared === 'string' ? { faults: [compared], changes: null } : compared

/** How the file differs from what is in effect. */
export const comparedFile = async (source: ConfigurationSource): Promise<ConfigurationComparison> => {
  const { env } = source
  const compared = await withFile(env, async ({ parsed, file }) => {
    const faults = linesOf(env, parsed, shapeFaults(file, env))
    return comparison(source, file, faults)
  })
  return unread(compared)
}

/** The file with tried parts in it, and the values of their variables. */
const withParts = (file: object, { models, providers, guards }: TriedParts): object => {
  const own = file as Readonly<Record<'models' | 'providers' | 'guards', Readonly<Record<string, object>> | undefined>>
  const chains = Object.entries(models).map(([model, chain]) => [model, { ...own.models?.[model], ...chain }])
  const isTried = (parts: object): boolean => Object.keys(parts).length > 0
  return {
    ...file,
    ...(isTried(models) && { models: { ...own.models, ...Object.fromEntries(chains) } }),
    ...(isTried(providers) && { providers: { ...own.providers, ...providers } }),
    ...(isTried(guards) && { guards: { ...own.guards, ...guards } }),
  }
}

/** All faults of the file with these parts in it, how it would differ from what is in effect, and a test call. */
export const triedFile = async (source: ConfigurationSource, parts: TriedParts): Promise<ConfigurationTrial> => {
  const { everyFault } = await everything()
  const env = { ...source.env, ...parts.secrets }
  const tried = await withFile(source.env, async ({ file }) => {
    const whole = withParts(file, parts)
    // The places of faults are those of no file.
    const faults = linesOf(source.env, null, await everyFault(whole, env))
    const compared = await comparison(source, whole, faults, env)
    if (parts.call === null || faults.length > 0) return { ...compared, call: null }
    const { testCall } = await calling()
    return { ...compared, call: await testCall(checkedConfig(whole, env), parts, parts.call) }
  })
  return typeof tried === 'string' ? { ...unread(tried), call: null } : tried
}

/** All faults of the file, in the sentences of `sealgate check`. */
export const checkedFile = async ({ env }: ConfigurationSource): Promise<readonly string[]> => {
  const { everyFault } = await everything()
  const faults = await withFile(env, async ({ parsed, file }) => linesOf(env, parsed, await everyFault(file, env)))
  return typeof faults === 'string' ? [faults] : faults
}

const byPath = (leaves: readonly Leaf[]): ReadonlyMap<string, Leaf> =>
  new Map(leaves.map((leaf) => [JSON.stringify(leaf.path), leaf]))

/** A default that is written down changes nothing; another variable is another source, even with the same value. */
const isSame = (one: Leaf, other: Leaf): boolean =>
  one.shown.variable === other.shown.variable && isDeepStrictEqual(one.value, other.value)

/** What another configuration has differently from the one in effect, in the order of the one in effect. */
const configurationChanges = (inEffect: readonly Leaf[], next: readonly Leaf[]): readonly ConfigurationChange[] => {
  const [before, after] = [byPath(inEffect), byPath(next)]
  const both = new Map([...before, ...after])
  return [...both].flatMap(([at, { path }]): readonly ConfigurationChange[] => {
    const [old, young] = [before.get(at) ?? null, after.get(at) ?? null]
    if (old !== null && young !== null && isSame(old, young)) return []
    const change = old === null ? 'added' : young === null ? 'removed' : 'changed'
    return [{ path, change, before: old?.shown ?? null, after: young?.shown ?? null, restart: isFixed(path) }]
  })
}

const keyOf = (path: readonly string[]): string => JSON.stringify(path)

/**
 * The shapes of the settings of this package's own plugins, by their places. A plugin of the operator's own is not loaded,
 * and its settings have no shape here.
 */
const pluginShapesOf = async (config: Config): Promise<PluginShapes> => {
  const shapes = new Map<string, Shape>()
  for (const { family, path, choice } of namedPlugins(config)) {
    if (choice.use.includes('/')) continue
    const found = await loadPlugin(family, choice.use).catch(() => null)
    if (found?.settings !== undefined) shapes.set(keyOf(path), found.settings as Shape)
  }
  const door = fetch.settings as unknown as Shape
  const outside = door.entries?.['outside']
  if (outside !== undefined) shapes.set(keyOf(['outside']), bareShape(outside))
  return (path) => shapes.get(keyOf(path)) ?? null
}
