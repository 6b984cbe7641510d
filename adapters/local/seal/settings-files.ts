import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { parseJsonc } from '../../production/config/jsonc.ts'

/** The start of a program: its arguments, variables and folders. */
export interface ProgramStart {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly cwd: string
  /** The folder with settings for all users of the machine, on systems other than macOS. */
  readonly etc: string
}

/**
 * The object in a settings file, with or without comments. A missing file has no settings. Throws for a malformed file,
 * which the program may understand otherwise.
 */
export const settingsIn = async (path: string): Promise<JsonObject> => {
  const text = await readFile(path, 'utf8').catch(() => null)
  return text === null || text.trim() === '' ? {} : fieldsOf(text, path)
}

/** The object in a text that stands in `where`. */
export const fieldsOf = (text: string, where: string): JsonObject => {
  try {
    return fieldsIn(parseJsonc(text).value)
  } catch (cause) {
    throw new Error(`${where} is not JSON, so nothing tells whether the program would use the proxy`, { cause })
  }
}

/** Empty for anything but an object. */
export const fieldsIn = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {}

/** Undefined as soon as one name of the path is missing. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((found, name) => (found as JsonObject | null | undefined)?.[name], value)

/** Where a program reads settings for all users of the machine. */
export const machineFolder = ({ etc }: ProgramStart, linux: string, mac: string): string =>
  process.platform === 'darwin' ? join('/Library/Application Support', mac) : join(etc, linux)

/** The files of a folder; a missing folder has none. */
export const filesOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(() => [])).map((name) => join(folder, name))

/** The value of a flag, in either spelling: `--flag value` or `--flag=value`. */
export const flagged = (args: readonly string[], flag: string): string | undefined => {
  const found = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  return found < 0 ? undefined : args[found] === flag ? (args[found + 1] ?? '') : args[found]!.slice(flag.length + 1)
}

/** The first of these flags among the arguments. */
export const foundFlag = (args: readonly string[], flags: readonly string[]): string | undefined =>
  flags.find((flag) => flagged(args, flag) !== undefined)

/** Names the place of the setting and never its value, which may be a key. */
export const overrides = (program: string, what: string, where: string): Error =>
  new Error(`${program} would not use the proxy: ${where} sets ${what}; take it out, or start the program by itself`)
